//! A migration that is killed or fails in the middle, and many programs that meet an old database at once.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use rusqlite::Connection;
use shared::fault;
use tests::{TestEnv, binary, project_root};

/// More steps than a migration has.
const MAX_STEPS: u32 = 200;

fn stored(version: i64) -> Option<String> {
    let path = project_root().join(format!("tests/databases/v{version}.sql"));
    fs::read_to_string(path).ok()
}

/// Makes a place with the stored database of a version.
fn place(sql: &str) -> TestEnv {
    let env = TestEnv::without_repository();
    fs::create_dir_all(env.state()).unwrap();
    let raw = Connection::open(env.database()).unwrap();
    raw.execute_batch(sql).unwrap();
    env
}

fn current() -> i64 {
    let env = TestEnv::without_repository();
    drop(env.store());
    version(&env.database())
}

fn version(path: &Path) -> i64 {
    let raw = Connection::open(path).unwrap();
    raw.pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap()
}

/// Everything that is in a database: its tables as they were made, and how many rows each has.
fn contents(path: &Path) -> Vec<(String, String, i64)> {
    let raw = Connection::open(path).unwrap();
    let mut statement = raw
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .unwrap();
    let tables = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)));
    let tables: Vec<(String, String)> = tables.unwrap().collect::<Result<_, _>>().unwrap();
    let count = |table: &str| {
        let sql = format!("SELECT count(*) FROM {table}");
        raw.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    let all = tables.into_iter();
    all.map(|(name, sql)| (name.clone(), sql, count(&name)))
        .collect()
}

/// Runs a program that only opens it: a command would also put its rows in order.
fn opening(env: &TestEnv) -> std::process::Output {
    env.command(binary("open_database")).output().unwrap()
}

/// Breaks off the migration from each earlier version at each step.
fn break_off_everywhere(action: &str) {
    let current = current();
    let mut in_migrations = 0;
    for earlier in 1..current {
        let sql = stored(earlier).unwrap();
        let (before, after) = {
            let env = place(&sql);
            let before = contents(&env.database());
            assert!(opening(&env).status.success());
            (before, contents(&env.database()))
        };
        assert_ne!(before, after, "version {earlier}");
        for step in 1..MAX_STEPS {
            let mut env = place(&sql);
            let token = env.path("fault");
            fs::write(&token, "").unwrap();
            let fault = format!("open_database:{step}:{action}:{}", token.display());
            env.set(fault::VARIABLE, fault);
            let output = opening(&env);
            let Ok(fired) = fs::read_to_string(token.with_extension("fired")) else {
                assert!(output.status.success(), "{output:?}");
                break;
            };
            assert!(step + 1 < MAX_STEPS, "the steps have no end");
            if action == "kill" {
                assert_eq!(output.status.signal(), Some(9), "{fired}");
            }
            in_migrations += usize::from(fired.contains("table") || fired.contains("migration"));
            let found = (version(&env.database()), contents(&env.database()));
            let whole = found == (earlier, before.clone()) || found == (current, after.clone());
            assert!(whole, "version {earlier}, {action} at {fired}: {found:?}");
            // And whoever comes next makes it the new one.
            assert!(opening(&env).status.success(), "after {fired}");
            assert_eq!(contents(&env.database()), after, "after {fired}");
            assert_eq!(env.store().check().unwrap(), Vec::<String>::new());
        }
    }
    assert!(
        in_migrations > 50,
        "only {in_migrations} steps were reached"
    );
}

#[test]
fn a_migration_that_is_killed_leaves_the_old_or_the_new_database() {
    break_off_everywhere("kill");
}

#[test]
fn a_migration_without_space_leaves_the_old_or_the_new_database() {
    break_off_everywhere("full");
}

#[test]
fn programs_that_meet_an_old_database_at_once_all_end_well() {
    let current = current();
    for earlier in 1..current {
        let env = place(&stored(earlier).unwrap());
        let running: Vec<_> = (0..6)
            .map(|_| {
                let mut command = env.command(binary("open_database"));
                command.stdout(std::process::Stdio::piped());
                command.stderr(std::process::Stdio::piped());
                command.spawn().unwrap()
            })
            .collect();
        for one in running {
            let output = one.wait_with_output().unwrap();
            assert!(output.status.success(), "version {earlier}: {output:?}");
        }
        assert_eq!(version(&env.database()), current);
        assert_eq!(env.store().check().unwrap(), Vec::<String>::new());
    }
}
