//! Database migrations: which version a database has, and how it gets to ours.

use rusqlite::Connection;

use super::StoreError;

/// The whole current schema, readable on its own. It sets `user_version` itself.
pub(super) const SCHEMA: &str = include_str!("../../../schema.sql");

/// The version that `SCHEMA` has.
pub(super) const CURRENT: i64 = 6;

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
    let result = migrate(connection);
    connection.execute_batch(if result.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    result
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
    if found == 0 {
        connection.execute_batch(SCHEMA)?;
        return Ok(());
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
        let aside = aside(table);
        connection.execute_batch(&format!("ALTER TABLE \"{table}\" RENAME TO \"{aside}\""))?;
    }
    let mut missing = Vec::new();
    for (table, column, fill) in DERIVED {
        let has_it = columns(connection, &aside(table))?.contains(&(*column).to_owned());
        missing.extend((!has_it).then_some(fill));
    }
    connection.execute_batch(SCHEMA)?;
    let current = names(connection, "table")?;
    for table in &old {
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

fn names(connection: &Connection, kind: &str) -> Result<Vec<String>, StoreError> {
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

fn version(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Schemas of earlier versions, in the order in which they were released.
    const OLD: &[&str] = &[
        include_str!("old_schemas/version_1.sql"),
        include_str!("old_schemas/version_4.sql"),
        include_str!("old_schemas/version_5.sql"),
    ];

    fn description(connection: &Connection) -> Vec<(String, String)> {
        let mut statement = connection
            .prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
            .unwrap();
        statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap()
    }

    fn old(schema: &str) -> Connection {
        let old = Connection::open_in_memory().unwrap();
        old.pragma_update(None, "foreign_keys", "OFF").unwrap();
        old.execute_batch(schema).unwrap();
        old
    }

    #[test]
    fn an_old_database_migrates_to_exactly_the_fresh_one() {
        let fresh = Connection::open_in_memory().unwrap();
        bring_up_to_date(&fresh).unwrap();
        assert_eq!(version(&fresh).unwrap(), CURRENT);
        for schema in OLD {
            let old = old(schema);
            bring_up_to_date(&old).unwrap();
            assert_eq!(description(&old), description(&fresh));
            assert_eq!(version(&old).unwrap(), CURRENT);
        }
    }

    #[test]
    fn rows_of_an_old_database_and_foreign_tables_survive() {
        for schema in OLD {
            let old = old(schema);
            old.execute_batch(
                "CREATE TABLE notes_of_a_person (text TEXT);
                 INSERT INTO notes_of_a_person VALUES ('mine');
                 INSERT INTO instances (id, kind, status, origin, repository, worktree_path, base_branch,
                     prompt, require_review, max_reviews, launch_step, created_at, last_activity, status_since)
                 VALUES ('work-1-a1', 'coding', 'running', 'launched', '/r', '/w', 'main', 'p', 0, 3, 'ready', 't', 't', 't');
                 INSERT INTO messages (id, instance_id, sender, kind, body, state, created_at)
                 VALUES ('m-b', 'work-1-a1', 's', 'note', 'first', 'owed', 't'),
                        ('m-a', 'work-1-a1', 's', 'note', 'second', 'owed', 't');
                 INSERT INTO tasks (id, repository, title, description, priority, status, created_at, updated_at)
                 VALUES ('task-1', '/r', 't', 'd', 'low', 'done', 't', 't'), ('task-2', '/r', 't', 'd', 'low', 'open', 't', 't'),
                        ('task-3', '/r', 't', 'd', 'low', 'open', 't', 't');
                 INSERT INTO task_dependencies VALUES ('task-2', 'task-1'), ('task-3', 'task-1'), ('task-3', 'task-2');
                 INSERT INTO mcp_events (source, server, name, parameters, duration_ms, created_at)
                 VALUES ('tool', 's', 'n', '{}', 1.5, 't'), ('tool', 's', 'n', '{}', 2.5, 't');",
            )
            .unwrap();
            bring_up_to_date(&old).unwrap();
            let bodies: Vec<String> = old
                .prepare("SELECT body FROM messages ORDER BY created_at, rowid")
                .unwrap()
                .query_map([], |row| row.get(0))
                .unwrap()
                .collect::<Result<_, _>>()
                .unwrap();
            assert_eq!(bodies, ["first", "second"]);
            let count = |sql: &str| old.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
            assert_eq!(count("SELECT count(*) FROM instances"), 1);
            assert_eq!(count("SELECT count(*) FROM notes_of_a_person"), 1);
            assert_eq!(count("SELECT waits_for FROM tasks WHERE id = 'task-2'"), 0);
            assert_eq!(count("SELECT waits_for FROM tasks WHERE id = 'task-3'"), 1);
            assert_eq!(
                count("SELECT events FROM event_totals WHERE milliseconds = 4.0"),
                2
            );
            assert_eq!(count("SELECT count(*) FROM pragma_foreign_key_check"), 0);
        }
    }

    #[test]
    fn a_newer_database_is_left_alone() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .pragma_update(None, "user_version", CURRENT + 1)
            .unwrap();
        assert!(matches!(
            bring_up_to_date(&connection),
            Err(StoreError::TooNew { .. })
        ));
        assert!(description(&connection).is_empty());
    }
}
