//! Which version a database has, and how it gets to ours.

use rusqlite::Connection;

use super::StoreError;

/// The whole current schema, readable on its own. It sets `user_version` itself.
pub(super) const SCHEMA: &str = include_str!("../../../schema.sql");

/// Steps from each version to the next: entry 0 leads from version 1 to version 2. Only ever added to.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/dashboard.sql"),
    include_str!("migrations/tdd_runs.sql"),
    include_str!("migrations/tdd_phases.sql"),
];

/// The version that `SCHEMA` has.
pub(super) const CURRENT: i64 = 1 + MIGRATIONS.len().cast_signed() as i64;

pub(super) fn bring_up_to_date(connection: &Connection) -> Result<(), StoreError> {
    if version(connection)? == CURRENT {
        return Ok(());
    }
    // Two processes may come here at once: the second finds the work done.
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let result = migrate(connection, MIGRATIONS);
    connection.execute_batch(if result.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    result
}

fn migrate(connection: &Connection, migrations: &[&str]) -> Result<(), StoreError> {
    let found = version(connection)?;
    if found > CURRENT {
        return Err(StoreError::TooNew {
            found,
            supported: CURRENT,
        });
    }
    if found == 0 {
        connection.execute_batch(SCHEMA)?;
        return Ok(());
    }
    let done = usize::try_from(found - 1).unwrap_or(0);
    for migration in migrations.iter().skip(done) {
        connection.execute_batch(migration)?;
    }
    connection.pragma_update(None, "user_version", CURRENT)?;
    Ok(())
}

fn version(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The schema of version 1, as it was first released; later versions migrate from here.
    const VERSION_1: &str = include_str!("migrations/version_1.sql");

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

    #[test]
    fn an_old_database_migrates_to_exactly_the_fresh_one() {
        let fresh = Connection::open_in_memory().unwrap();
        bring_up_to_date(&fresh).unwrap();
        let old = Connection::open_in_memory().unwrap();
        old.execute_batch(VERSION_1).unwrap();
        bring_up_to_date(&old).unwrap();
        assert_eq!(description(&old), description(&fresh));
        assert_eq!(version(&old).unwrap(), CURRENT);
        assert_eq!(version(&fresh).unwrap(), CURRENT);
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
