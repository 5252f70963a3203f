//! A database that can't be used: the call fails with a code and a hint, the server stays, and when the
//! cause is gone the same server works.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use tests::{Answer, Client, Era, Server, TestEnv, binary};

/// A user that owns nothing, for running a server as when the tests run as root: root may write anywhere.
const NOBODY: u32 = 65_534;

fn act(client: &mut Client) -> Answer {
    client.call(
        "create_task",
        json!({"taskTitle": "One", "taskDescription": "Why", "priority": "low"}),
    )
}

fn refused(client: &mut Client, code: &str) {
    for _ in 0..2 {
        let answer = act(client);
        assert_eq!(answer.code(), code, "{answer:?}");
        assert!(!answer.value["hint"].as_str().unwrap().is_empty());
        assert!(answer.text.contains(answer.value["hint"].as_str().unwrap()));
    }
    let error = client.read("codex://tasks").unwrap_err();
    assert_eq!(error["data"]["code"], code, "{error}");
    // What needs no database goes on.
    client.request("tools/list", json!({})).unwrap();
}

fn works(client: &mut Client, env: &TestEnv) {
    let answer = act(client);
    assert!(!answer.is_error, "{answer:?}");
    assert_eq!(client.read("codex://tasks").unwrap()["total"], 1);
    assert_eq!(env.store().check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_file_that_is_no_database() {
    for era in Era::BOTH {
        let env = TestEnv::new();
        fs::create_dir(env.state()).unwrap();
        fs::write(env.database(), "This is not SQLite. ".repeat(500)).unwrap();
        let mut client = Client::start(&env, Server::Planning, era);
        refused(&mut client, "DATABASE_CORRUPT");
        fs::remove_file(env.database()).unwrap();
        works(&mut client, &env);
    }
}

#[test]
fn a_database_with_damaged_pages() {
    let env = TestEnv::new();
    drop(env.store());
    let mut bytes = fs::read(env.database()).unwrap();
    bytes[200..].fill(0xA5);
    fs::write(env.database(), bytes).unwrap();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    refused(&mut client, "DATABASE_CORRUPT");
}

#[test]
fn a_database_of_a_newer_version_is_left_as_it_is() {
    let env = TestEnv::new();
    drop(env.store());
    let raw = rusqlite::Connection::open(env.database()).unwrap();
    let known: i64 = raw
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    raw.pragma_update(None, "user_version", 9_999).unwrap();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    refused(&mut client, "DATABASE_NEWER");
    let version: i64 = raw
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(version, 9_999);
    raw.pragma_update(None, "user_version", known).unwrap();
    works(&mut client, &env);
}

#[test]
fn a_folder_in_place_of_the_file() {
    let env = TestEnv::new();
    fs::create_dir_all(env.database()).unwrap();
    let mut client = Client::start(&env, Server::Planning, Era::Modern);
    refused(&mut client, "DATABASE_UNAVAILABLE");
    fs::remove_dir(env.database()).unwrap();
    works(&mut client, &env);
}

#[test]
fn a_file_in_place_of_the_folder() {
    let env = TestEnv::new();
    fs::write(env.state(), "").unwrap();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    refused(&mut client, "DATABASE_UNAVAILABLE");
    fs::remove_file(env.state()).unwrap();
    works(&mut client, &env);
}

/// Gives the server to a user that may read the state but not write it.
fn start_without_write_permission(env: &TestEnv) -> Client {
    let mode =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(env.root(), 0o755);
    mode(&env.database(), 0o444);
    mode(&env.state(), 0o555);
    // The binary may be where only its owner can go.
    let binary = env.path("server");
    fs::copy(Server::Planning.path(), &binary).unwrap();
    let mut command = env.command(binary);
    if rustix::process::geteuid().is_root() {
        for entry in [&env.home(), env.repository()] {
            own(entry);
        }
        command.uid(NOBODY).gid(NOBODY);
    }
    let mut client = Client::spawn(command, Era::Legacy);
    client.greet();
    client
}

/// Hands a tree to `NOBODY`: git refuses a repository of somebody else.
fn own(path: &Path) {
    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            own(&entry.unwrap().path());
        }
    }
}

#[test]
fn a_database_that_may_only_be_read() {
    let env = TestEnv::new();
    drop(env.store());
    let mut client = start_without_write_permission(&env);
    refused(&mut client, "DATABASE_READ_ONLY");
    fs::set_permissions(env.state(), fs::Permissions::from_mode(0o777)).unwrap();
    fs::set_permissions(env.database(), fs::Permissions::from_mode(0o666)).unwrap();
    let answer = act(&mut client);
    assert!(!answer.is_error, "{answer:?}");

    // And again while the server has it open.
    let set = |state, database| {
        fs::set_permissions(env.state(), fs::Permissions::from_mode(state)).unwrap();
        for entry in fs::read_dir(env.state()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                fs::set_permissions(path, fs::Permissions::from_mode(database)).unwrap();
            }
        }
    };
    // A connection that can write goes on writing; one that is opened now can't.
    let copy = env.path("copy.db");
    let raw = rusqlite::Connection::open(env.database()).unwrap();
    raw.execute("VACUUM INTO ?1", [copy.to_str().unwrap()])
        .unwrap();
    drop(raw);
    for leftover in ["codex.db", "codex.db-wal", "codex.db-shm"] {
        fs::remove_file(env.state().join(leftover)).unwrap();
    }
    fs::copy(copy, env.database()).unwrap();
    set(0o555, 0o444);
    let answer = act(&mut client);
    assert_eq!(answer.code(), "DATABASE_READ_ONLY", "{answer:?}");
    set(0o777, 0o666);
    let answer = act(&mut client);
    assert!(!answer.is_error, "{answer:?}");
}

/// The state folder is a small file system of its own, in a mount namespace that goes with the server.
#[test]
fn a_full_disk() {
    let mut env = TestEnv::new();
    let disk = env.path("disk");
    fs::create_dir(&disk).unwrap();
    env.set("CODEX_STATE_DIR", disk.join("state").to_str().unwrap());
    let namespace = ["--user", "--map-root-user", "--mount"];
    let possible = env
        .command("unshare")
        .args(namespace)
        .args(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs"])
        .arg(&disk)
        .status()
        .is_ok_and(|status| status.success());
    if !possible {
        eprintln!("SKIPPED: this system lets nobody mount a small file system (unshare and tmpfs)");
        return;
    }
    let mut command = env.command("unshare");
    command
        .args(namespace)
        .args([
            "sh",
            "-c",
            r#"mount -t tmpfs -o size=1m tmpfs "$1" && exec "$2""#,
            "sh",
        ])
        .arg(&disk)
        .arg(Server::Planning.path());
    let mut client = Client::spawn(command, Era::Legacy);
    client.greet();
    // The disk as the server sees it.
    let inside = Path::new("/proc")
        .join(client.id().to_string())
        .join("root")
        .join(disk.strip_prefix("/").unwrap());

    let filler = inside.join("filler");
    let _ = fs::write(&filler, vec![0; 2 << 20]);
    refused(&mut client, "DISK_FULL");
    fs::remove_file(&filler).unwrap();
    assert!(!act(&mut client).is_error);
    assert_eq!(client.read("codex://tasks").unwrap()["total"], 1);

    // And again when the database is open already.
    let _ = fs::write(&filler, vec![0; 2 << 20]);
    let mut stored = 1;
    let failure = loop {
        let answer = act(&mut client);
        if answer.is_error {
            break answer;
        }
        stored += 1;
        assert!(stored < 10_000, "the disk does not fill up");
    };
    assert_eq!(failure.code(), "DISK_FULL", "{failure:?}");
    fs::remove_file(&filler).unwrap();
    // Nothing half-written: exactly what was acknowledged is there.
    assert_eq!(client.read("codex://tasks").unwrap()["total"], stored);
    assert!(!act(&mut client).is_error);
}

/// What a quota or a limit on file sizes does: writes fail with something other than "disk full".
#[test]
fn a_limit_on_file_sizes() {
    let env = TestEnv::new();
    let mut command = env.command("sh");
    // Without the trap the kernel would end the process instead of failing the write.
    command
        .args(["-c", r#"trap '' XFSZ; ulimit -f 8; exec "$1""#, "sh"])
        .arg(Server::Planning.path());
    let mut client = Client::spawn(command, Era::Legacy);
    client.greet();
    refused(&mut client, "DATABASE_UNAVAILABLE");
}

/// Longer than a server gave another process once; nothing else of it may wait meanwhile.
#[test]
fn another_process_that_holds_the_database() {
    const HELD: Duration = Duration::from_secs(6);
    let env = TestEnv::new();
    drop(env.store());
    let raw = rusqlite::Connection::open(env.database()).unwrap();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    assert!(!act(&mut client).is_error);
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let held = Instant::now();
    let call = client.begin(
        "tools/call",
        json!({"name": "create_task", "arguments":
            {"taskTitle": "Two", "taskDescription": "Why", "priority": "low"}}),
    );
    let mut slowest = Duration::ZERO;
    while held.elapsed() < HELD {
        let asked = Instant::now();
        client.request("ping", json!({})).unwrap();
        slowest = slowest.max(asked.elapsed());
        std::thread::sleep(Duration::from_millis(50));
    }
    raw.execute_batch("ROLLBACK").unwrap();
    let answer = client.answer_to(call).unwrap();
    assert_ne!(answer["isError"], json!(true), "{answer}");
    assert_eq!(client.read("codex://tasks").unwrap()["total"], 2);
    assert!(slowest < Duration::from_secs(2), "a ping took {slowest:?}");
}

fn stored(env: &TestEnv) -> usize {
    let page = env.store().read_now(|r| {
        let repository = env.repository();
        r.tasks(&repository.to_string_lossy(), 0, 1)
    });
    usize::try_from(page.unwrap().total).unwrap()
}

/// What is acknowledged is in the file that has the name.
#[test]
fn a_database_that_is_deleted_while_a_server_uses_it() {
    let env = TestEnv::new();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    assert!(!act(&mut client).is_error);
    fs::remove_file(env.database()).unwrap();
    let mut acknowledged = 0;
    for _ in 0..5 {
        let answer = act(&mut client);
        if !answer.is_error {
            acknowledged += 1;
        } else if answer.code() == "DATABASE_CORRUPT" {
            // The log was left: it may hold all that there was, and only a person puts it aside.
            let mut restore = env.command(binary("claude-codex"));
            let restored = restore.args(["restore", "--empty"]).output().unwrap();
            assert!(restored.status.success(), "{restored:?}");
        } else {
            assert_eq!(answer.code(), "INSTANCE_NOT_FOUND", "{answer:?}");
        }
    }
    assert!(acknowledged > 0);
    assert_eq!(stored(&env), acknowledged);
    assert_eq!(env.store().check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_backup_that_is_restored_while_a_server_uses_the_database() {
    let env = TestEnv::new();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    assert!(!act(&mut client).is_error);
    let copy = env.path("backup.db");
    let raw = rusqlite::Connection::open(env.database()).unwrap();
    raw.execute("VACUUM INTO ?1", [copy.to_str().unwrap()])
        .unwrap();
    drop(raw);
    for _ in 0..3 {
        assert!(!act(&mut client).is_error);
    }
    fs::rename(copy, env.database()).unwrap();
    let answer = act(&mut client);
    assert!(!answer.is_error, "{answer:?}");
    assert_eq!(stored(&env), 2);
    assert_eq!(client.read("codex://tasks").unwrap()["total"], 2);
    assert_eq!(env.store().check().unwrap(), Vec::<String>::new());
}

#[test]
fn an_address_in_place_of_the_path() {
    let mut env = TestEnv::new();
    env.set("CODEX_DB", "postgres://me:hunter2@localhost/codex");
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    let answer = act(&mut client);
    assert_eq!(answer.code(), "CONFIG_INVALID", "{answer:?}");
    assert!(answer.text.contains("CODEX_DB"), "{}", answer.text);
    assert!(!answer.text.contains("hunter2"), "{}", answer.text);
    assert!(!env.repository().join("postgres:").exists());
}
