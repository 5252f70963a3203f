//! Databases of every earlier version, as they are stored in `tests/databases`, opened with the present code.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::types::Value;

use super::schema::{CURRENT, SCHEMA, bring_up_to_date, version};
use super::*;

fn stored(version: i64) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/databases");
    folder.join(format!("v{version}.sql"))
}

/// Makes the stored database of a version.
fn old(folder: &Path, version: i64) -> PathBuf {
    let path = folder.join(format!("v{version}.db"));
    let sql = fs::read_to_string(stored(version)).unwrap_or_else(|error| {
        panic!(
            "{}: {error}. CURRENT went up: store a database of the version before, with rows in every table",
            stored(version).display()
        )
    });
    Connection::open(&path)
        .unwrap()
        .execute_batch(&sql)
        .unwrap();
    path
}

fn description(connection: &Connection) -> Vec<(String, String)> {
    let mut statement = connection
        .prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

fn fresh() -> Connection {
    let fresh = Connection::open_in_memory().unwrap();
    bring_up_to_date(&fresh).unwrap();
    fresh
}

type Row = BTreeMap<String, Value>;

/// Returns all rows of all tables, each value by its column, in the order in which they are.
fn rows(connection: &Connection) -> BTreeMap<String, Vec<Row>> {
    let mut tables = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        .unwrap();
    let names = tables.query_map([], |row| row.get(0)).unwrap();
    let names: Vec<String> = names.collect::<Result<_, _>>().unwrap();
    let all = names.into_iter().map(|table| {
        let mut statement = connection
            .prepare(&format!("SELECT * FROM {table}"))
            .unwrap();
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let rows = statement.query_map([], |row| {
            let value = |(number, column): (usize, &String)| Ok((column.clone(), row.get(number)?));
            columns.iter().enumerate().map(value).collect()
        });
        let rows = rows.unwrap().collect::<Result<_, _>>().unwrap();
        (table, rows)
    });
    all.collect()
}

/// Takes away what the older version could not know.
fn only_known(found: &Row, known: &Row) -> Row {
    let mut found = found.clone();
    found.retain(|column, _| known.contains_key(column));
    found
}

#[test]
fn every_earlier_version_is_brought_up_whole() {
    let folder = tempfile::tempdir().unwrap();
    for earlier in 1..CURRENT {
        let path = old(folder.path(), earlier);
        let raw = Connection::open(&path).unwrap();
        assert_eq!(version(&raw).unwrap(), earlier);
        let before = rows(&raw);
        for (table, rows) in &before {
            assert!(!rows.is_empty(), "v{earlier}.sql has no rows in {table}");
        }
        drop(raw);

        let store = Store::open(&path).unwrap();
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
        drop(store);
        let raw = Connection::open(&path).unwrap();
        assert_eq!(version(&raw).unwrap(), CURRENT);
        assert_eq!(
            description(&raw),
            description(&fresh()),
            "version {earlier}"
        );
        let after = rows(&raw);
        for (table, before) in &before {
            let after = &after[table];
            assert_eq!(after.len(), before.len(), "version {earlier}, {table}");
            for (after, before) in after.iter().zip(before) {
                assert_eq!(
                    &only_known(after, before),
                    before,
                    "version {earlier}, {table}"
                );
            }
        }
        let violations: i64 = raw
            .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(violations, 0, "version {earlier}");
    }
}

/// What is kept of other rows, so that nobody has to count them, is there for those of before.
#[test]
fn what_is_derived_is_filled_in() {
    let folder = tempfile::tempdir().unwrap();
    for earlier in 1..CURRENT {
        let path = old(folder.path(), earlier);
        drop(Store::open(&path).unwrap());
        let raw = Connection::open(&path).unwrap();
        let number = |sql: &str| raw.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(number("SELECT waits_for FROM tasks WHERE id = 'task-1'"), 0);
        assert_eq!(number("SELECT waits_for FROM tasks WHERE id = 'task-2'"), 1);
        assert_eq!(
            number("SELECT sum(events) FROM event_totals"),
            number("SELECT count(*) FROM mcp_events"),
            "version {earlier}"
        );
    }
}

/// What only other tables and English notes said before version 7 is in columns of its own afterwards.
#[test]
fn agents_of_tdd_runs_become_headless_and_kept_work_becomes_data() {
    use crate::model::{Kept, SessionMode};
    let folder = tempfile::tempdir().unwrap();
    for earlier in 5..7 {
        let path = old(folder.path(), earlier);
        let raw = Connection::open(&path).unwrap();
        raw.execute_batch(
            "PRAGMA foreign_keys = OFF;
             UPDATE tdd_runs SET id = 'work-42-a1';
             UPDATE tdd_responses SET run_id = 'work-42-a1';
             UPDATE instances SET note = 'its session is gone; kept the branch b: 1 of its commits are nowhere else'
             WHERE id = 'work-42-a1';
             UPDATE instances SET note = 'kept by policy: /w/a' WHERE id = 'plan-cache-a1';",
        )
        .unwrap();
        drop(raw);
        let store = Store::open(&path).unwrap();
        let instances = store.read_now(|r| r.instances(false)).unwrap();
        for instance in instances {
            let (mode, kept) = match instance.id.as_str() {
                "work-42-a1" => (SessionMode::Headless, Some(Kept::InReason)),
                "review-42-a1-r1" => (SessionMode::Headless, None),
                _ => (SessionMode::Interactive, None),
            };
            assert_eq!(
                (instance.session_mode, &instance.note.kept),
                (mode, &kept),
                "version {earlier}, {}",
                instance.id
            );
            assert_eq!(instance.note.sentence(), instance.note.reason);
        }
    }
}

/// Rows are not only there: the code that reads them understands them.
#[test]
fn what_was_brought_up_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    for earlier in 1..CURRENT {
        let store = Store::open(&old(folder.path(), earlier)).unwrap();
        let instances = store.read_now(|r| r.instances(false)).unwrap();
        assert_eq!(instances.len(), 3, "version {earlier}");
        let work = "work-42-a1".parse().unwrap();
        let messages = store.read_now(|r| r.messages(&work)).unwrap();
        let bodies: Vec<&str> = messages
            .iter()
            .map(|message| message.body.as_str())
            .collect();
        assert_eq!(
            bodies,
            [
                "[codex m-bbbbbbbb] Two things",
                "[codex m-aaaaaaaa] And be quick"
            ]
        );
        store.read_now(|r| r.latest_events(None, 10)).unwrap();
        store.read_now(|r| Ok(r.contradictions()?.len())).unwrap();
    }
}

/// Whoever has a database of this version has these tables: another shape is another version.
#[test]
fn the_schema_does_not_change_without_a_new_version() {
    if !stored(CURRENT).exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let stored = Connection::open(old(folder.path(), CURRENT)).unwrap();
    let now = Connection::open_in_memory().unwrap();
    now.execute_batch(SCHEMA).unwrap();
    let without_comments = |connection: &Connection| -> Vec<(String, String)> {
        let strip = |sql: String| {
            let lines = sql
                .lines()
                .map(|line| line.split("--").next().unwrap_or_default());
            let words: Vec<String> = lines
                .flat_map(str::split_whitespace)
                .map(str::to_owned)
                .collect();
            words.join(" ")
        };
        let all = description(connection).into_iter();
        all.map(|(name, sql)| (name, strip(sql))).collect()
    };
    assert_eq!(
        without_comments(&now),
        without_comments(&stored),
        "schema.sql has changed: raise its user_version and CURRENT, tests/databases/v{CURRENT}.sql is the version before"
    );
}

#[test]
fn tables_that_are_not_ours_survive() {
    let folder = tempfile::tempdir().unwrap();
    for earlier in 1..CURRENT {
        let path = old(folder.path(), earlier);
        let raw = Connection::open(&path).unwrap();
        raw.execute_batch(
            "CREATE TABLE notes_of_a_person (text TEXT);
             INSERT INTO notes_of_a_person VALUES ('mine');",
        )
        .unwrap();
        drop(Store::open(&path).unwrap());
        let notes: i64 = raw
            .query_row("SELECT count(*) FROM notes_of_a_person", [], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(notes, 1);
    }
}

#[test]
fn many_that_migrate_at_once_all_end_well() {
    let folder = tempfile::tempdir().unwrap();
    for earlier in 1..CURRENT {
        let path = old(folder.path(), earlier);
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let path = path.clone();
                std::thread::spawn(move || {
                    let store = Store::open(&path).unwrap();
                    store.read_now(|r| r.instances(false)).unwrap().len()
                })
            })
            .collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), 3, "version {earlier}");
        }
        let raw = Connection::open(&path).unwrap();
        assert_eq!(description(&raw), description(&fresh()));
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
