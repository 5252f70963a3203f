//! Database migrations: which version a database has, and how it gets to ours.

use rusqlite::{Connection, ffi};

use super::StoreError;
use crate::fault;

/// The whole current schema, readable on its own. It sets `user_version` itself.
pub(super) const SCHEMA: &str = include_str!("../../../schema.sql");

/// The version that `SCHEMA` has.
pub(super) const CURRENT: i64 = 8;

/// What is kept of other columns, so that an older database does not have it: a column, and what fills it.
const DERIVED: &[(&str, &str, &str)] = &[
    (
        "tasks",
        "waits_for",
        "UPDATE tasks SET waits_for = (
             SELECT count(*) FROM task_dependencies JOIN tasks AS other ON other.id = depends_on
             WHERE task_id = tasks.id AND other.status <> 'done')",
    ),
    (
        "event_totals",
        "events",
        "INSERT INTO event_totals
         SELECT source, server, name, error_code IS NOT NULL, count(*), sum(duration_ms)
         FROM mcp_events GROUP BY 1, 2, 3, 4",
    ),
    (
        "instances",
        "session_mode",
        "UPDATE instances SET session_mode = 'headless'
         WHERE id IN (SELECT id FROM tdd_runs) OR parent_instance_id IN (SELECT id FROM tdd_runs)",
    ),
    (
        "instances",
        "kept",
        "UPDATE instances SET kept = '{\"why\":\"in_reason\"}'
         WHERE (note LIKE 'kept %' OR note LIKE '%; kept %') AND note NOT LIKE '%kept by policy%'",
    ),
    (
        "pull_standings",
        "mergeable",
        "UPDATE pull_standings SET mergeable = CASE conflicts WHEN '[]' THEN 'clean' ELSE 'conflicting' END",
    ),
];

/// Creates the schema in an empty database, or moves an older one's rows into the current schema.
///
/// Must run before foreign keys are enforced: dropping an old table would cascade.
pub(super) fn bring_up_to_date(connection: &Connection) -> Result<(), StoreError> {
    if version(connection)? == CURRENT {
        return Ok(());
    }
    // Two processes may come here at once: the second finds the work done.
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let result = migrate(connection).and_then(|()| {
        step("commit of a migration")?;
        Ok(connection.execute_batch("COMMIT")?)
    });
    match result {
        Ok(()) => fault::after("commit of a migration"),
        // Where it failed because SQLite has taken it back already, there is nothing to take back.
        Err(_) if connection.is_autocommit() => {}
        Err(_) => connection.execute_batch("ROLLBACK")?,
    }
    result
}

/// Passes a step of a migration: a test ends or fails the program there.
fn step(what: &str) -> Result<(), StoreError> {
    fault::before(what)
        .map_err(|_| rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_FULL), None).into())
}

fn migrate(connection: &Connection) -> Result<(), StoreError> {
    let found = version(connection)?;
    if found > CURRENT {
        return Err(StoreError::TooNew {
            found,
            supported: CURRENT,
        });
    }
    if found == CURRENT {
        return Ok(());
    }
    let tables = names(connection, "table")?;
    if found == 0 && tables.is_empty() {
        connection.execute_batch(SCHEMA)?;
        return Ok(());
    }
    // Other programs count their versions too.
    if found <= 0 || !tables.iter().any(|table| table == "instances") {
        return Err(StoreError::Foreign);
    }
    copy_into_current(connection)
}

/// Moves every table aside, applies the schema, and copies the columns that both versions have.
///
/// So a migration needs no statements of its own as long as new columns have defaults and CHECKs
/// only widen, and what is derived from other rows is in [`DERIVED`]; `SQLite` can change neither in place.
fn copy_into_current(connection: &Connection) -> Result<(), StoreError> {
    let old = names(connection, "table")?;
    for index in names(connection, "index")? {
        connection.execute_batch(&format!("DROP INDEX \"{index}\""))?;
    }
    for table in &old {
        step("moving a table aside")?;
        let aside = aside(table);
        connection.execute_batch(&format!("ALTER TABLE \"{table}\" RENAME TO \"{aside}\""))?;
    }
    let mut missing = Vec::new();
    for (table, column, fill) in DERIVED {
        let has_it = columns(connection, &aside(table))?.contains(&(*column).to_owned());
        missing.extend((!has_it).then_some(fill));
    }
    step("making the current tables")?;
    connection.execute_batch(SCHEMA)?;
    let current = names(connection, "table")?;
    for table in &old {
        step("copying a table")?;
        let aside = aside(table);
        // A table that is none of ours goes back to where it was.
        if !current.contains(table) {
            connection.execute_batch(&format!("ALTER TABLE \"{aside}\" RENAME TO \"{table}\""))?;
            continue;
        }
        let kept = columns(connection, &aside)?;
        let common: Vec<String> = columns(connection, table)?
            .into_iter()
            .filter(|column| kept.contains(column))
            .map(|column| format!("\"{column}\""))
            .collect();
        let common = common.join(", ");
        connection.execute_batch(&format!(
            "INSERT INTO \"{table}\" ({common}) SELECT {common} FROM \"{aside}\";
             DROP TABLE \"{aside}\";"
        ))?;
    }
    for fill in missing {
        connection.execute_batch(fill)?;
    }
    Ok(())
}

fn aside(table: &str) -> String {
    format!("before_migration_{table}")
}

pub(super) fn names(connection: &Connection, kind: &str) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare(
        "SELECT name FROM sqlite_schema
         WHERE type = ?1 AND sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    )?;
    let names = statement.query_map([kind], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

fn columns(connection: &Connection, table: &str) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = statement.query_map([table], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

pub(super) fn version(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}
