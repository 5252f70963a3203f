//! Backup, restore and refusals as a person meets them, with the real command.

use std::fs;
use std::path::Path;
use std::process::Output;

use rusqlite::Connection;
use serde_json::{Value, json};
use shared::fault;
use shared::store::Depth;
use tests::{Client, Era, Server, TestEnv, binary};

/// More steps than restoring has.
const MAX_STEPS: u32 = 50;

fn codex(env: &TestEnv, arguments: &[&str]) -> Output {
    let mut command = env.command(binary("claude-codex"));
    command.args(arguments).arg("--json").output().unwrap()
}

fn document(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What a command that failed said, as JSON, wherever it said it.
fn failure(output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn add(client: &mut Client) {
    let answer = client.call(
        "create_task",
        json!({"taskTitle": "One", "taskDescription": "Why", "priority": "low"}),
    );
    assert!(!answer.is_error, "{answer:?}");
}

fn tasks(path: &Path) -> i64 {
    let raw = Connection::open(path).unwrap();
    raw.query_row("SELECT count(*) FROM tasks", [], |row| row.get(0))
        .unwrap()
}

#[test]
fn a_running_server_goes_on_in_the_restored_database() {
    let env = TestEnv::new();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    add(&mut client);
    let backup = document(&codex(&env, &["backup"]));
    assert_eq!(backup["rows"]["tasks"], 1, "{backup}");
    let file = backup["path"].as_str().unwrap();
    assert!(
        Path::new(file).starts_with(env.state().join("backups")),
        "{file}"
    );
    add(&mut client);
    let again = failure(&codex(&env, &["backup", file]));
    assert!(again.contains("exists already"), "{again}");
    let restored = document(&codex(&env, &["restore", file]));
    let aside = restored["setAside"].as_str().unwrap().to_owned();
    assert_eq!(tasks(Path::new(&aside)), 2);
    add(&mut client);
    assert_eq!(client.read("codex://tasks").unwrap()["total"], 2);
    assert_eq!(tasks(&env.database()), 2);
    assert_eq!(
        env.store().check_to(Depth::Whole).unwrap(),
        Vec::<String>::new()
    );
}

#[test]
fn a_restore_that_is_killed_leaves_the_old_or_the_new_database() {
    let mut tried = 0;
    for step in 1..MAX_STEPS {
        let mut env = TestEnv::new();
        let mut client = Client::start(&env, Server::Planning, Era::Legacy);
        add(&mut client);
        let backup = env.path("backup.db");
        document(&codex(&env, &["backup", backup.to_str().unwrap()]));
        add(&mut client);
        let token = env.path("fault");
        fs::write(&token, "").unwrap();
        env.set(
            fault::VARIABLE,
            format!("claude-codex:{step}:kill:{}", token.display()),
        );
        codex(&env, &["restore", backup.to_str().unwrap()]);
        let Ok(fired) = fs::read_to_string(token.with_extension("fired")) else {
            break;
        };
        let left = tasks(&env.database());
        assert!(left == 1 || left == 2, "killed at {fired}: {left}");
        add(&mut client);
        assert_eq!(tasks(&env.database()), left + 1, "killed at {fired}");
        assert_eq!(
            env.store().check_to(Depth::Whole).unwrap(),
            Vec::<String>::new()
        );
        document(&codex(&env, &["restore", backup.to_str().unwrap()]));
        assert_eq!(tasks(&env.database()), 1, "killed at {fired}");
        tried += 1;
    }
    assert!(tried > 4, "only {tried} steps");
}

#[test]
fn what_the_hint_on_a_damaged_database_says_works() {
    let garbage = "This is not SQLite. ".repeat(500);
    for contents in [garbage.as_str(), ""] {
        let env = TestEnv::new();
        fs::create_dir(env.state()).unwrap();
        fs::write(env.database(), contents).unwrap();
        let mut client = Client::start(&env, Server::Planning, Era::Legacy);
        let answer = client.call(
            "create_task",
            json!({"taskTitle": "One", "taskDescription": "Why", "priority": "low"}),
        );
        assert_eq!(answer.code(), "DATABASE_CORRUPT", "{answer:?}");
        for command in [&["list"][..], &["tasks"], &["backup"], &["pr", "list"]] {
            let said = failure(&codex(&env, command));
            assert!(said.contains("DATABASE_CORRUPT"), "{command:?}: {said}");
            assert!(
                said.contains("claude-codex restore --empty"),
                "{command:?}: {said}"
            );
        }
        let said = String::from_utf8(codex(&env, &["doctor"]).stdout).unwrap();
        assert!(said.contains(env.database().to_str().unwrap()), "{said}");
        assert_eq!(fs::read_to_string(env.database()).unwrap(), contents);
        let restored = document(&codex(&env, &["restore", "--empty"]));
        let aside = restored["setAside"].as_str().unwrap();
        assert_eq!(fs::read_to_string(aside).unwrap(), contents);
        document(&codex(&env, &["list"]));
        add(&mut client);
    }
}

#[test]
fn a_newer_database_is_refused_in_words() {
    let env = TestEnv::new();
    drop(env.store());
    let raw = Connection::open(env.database()).unwrap();
    raw.pragma_update(None, "user_version", 9_999).unwrap();
    for command in [&["list"][..], &["tasks"], &["doctor"]] {
        let said = failure(&codex(&env, command));
        for word in ["9999", "knows versions up to", "Update Claude Codex"] {
            assert!(said.contains(word), "{command:?}: {said}");
        }
    }
    // A copy of it can be made, and is refused as a backup.
    let copy = env.path("copy.db");
    document(&codex(&env, &["backup", copy.to_str().unwrap()]));
    let said = failure(&codex(&env, &["restore", copy.to_str().unwrap()]));
    assert!(said.contains("DATABASE_NEWER"), "{said}");
}
