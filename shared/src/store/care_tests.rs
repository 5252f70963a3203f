//! Backups, restoring, and what is refused at the database's name.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;

use super::file_names::beside;
use super::tests::{new_task, open_in};
use super::*;
use crate::model::{MessageState, Status};

fn add(store: &Store, title: &str) {
    let task = new_task(title);
    store.write_now(|w| w.insert_task(&task).map(drop)).unwrap();
}

fn count(store: &Store) -> usize {
    let page = store.read_now(|r| r.tasks("/repo", 0, 1)).unwrap();
    usize::try_from(page.total).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_backup_is_whole_private_and_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    add(&store, "one");
    let to = folder.path().join("backups/one.db");
    let copied = back_up(store.path(), &to, false).unwrap();
    assert_eq!(copied.rows["tasks"], 1);
    assert_eq!(copied.bytes, fs::metadata(&to).unwrap().len());
    assert_eq!(
        fs::metadata(&to).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(names(to.parent().unwrap()), ["one.db"]);

    add(&store, "two");
    let again = back_up(store.path(), &to, false);
    assert!(matches!(again, Err(StoreError::Exists { .. })), "{again:?}");
    assert_eq!(back_up(store.path(), &to, true).unwrap().rows["tasks"], 2);
    for part in ["", "-wal", "-shm", "-lock"] {
        let own = back_up(store.path(), &beside(store.path(), part), true);
        assert!(
            matches!(own, Err(StoreError::InUse { .. })),
            "{part}: {own:?}"
        );
    }
    assert_eq!(count(&store), 2);
}

#[test]
fn backups_while_others_write_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = open_in(folder.path()).path().to_owned();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (path, done) = (&path, &done);
            scope.spawn(move || {
                let store = Store::open(path).unwrap();
                let mut number = 0;
                while !done.load(Ordering::SeqCst) {
                    add(&store, &format!("{writer}-{number}"));
                    number += 1;
                }
            });
        }
        let mut last = 0;
        for round in 0..5 {
            let to = folder.path().join(format!("{round}.db"));
            let rows = back_up(&path, &to, false).unwrap().rows["tasks"];
            assert!(rows >= last, "{rows} after {last}");
            last = rows;
        }
        done.store(true, Ordering::SeqCst);
    });
}

#[test]
fn what_is_restored_is_used_at_once_and_what_was_there_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    add(&store, "one");
    let backup = folder.path().join("backup.db");
    back_up(store.path(), &backup, false).unwrap();
    add(&store, "two");
    store
        .write_now(|w| w.insert_instance(&super::tests::new_instance("work-later-a1"), None))
        .unwrap();
    let restored = restore(store.path(), Some(&backup)).unwrap();
    assert_eq!(restored.unknown_agents, ["work-later-a1"]);
    // The same handle, as a running server has it.
    assert_eq!(count(&store), 1);
    add(&store, "three");
    let aside = restored.set_aside.unwrap();
    assert_eq!(count(&Store::open(&aside).unwrap()), 2);
    assert_eq!(store.check_to(Depth::Whole).unwrap(), Vec::<String>::new());
    // And back again.
    restore(store.path(), Some(&aside)).unwrap();
    assert_eq!(count(&store), 2);
}

/// It may have arrived since: a transcript tells, and where there is none nothing does.
#[test]
fn what_was_owed_is_not_handed_over_blindly() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    for id in ["work-1-a1", "work-2-a1"] {
        store
            .write_now(|w| w.insert_instance(&super::tests::new_instance(id), None))
            .unwrap();
    }
    let raw = Connection::open(store.path()).unwrap();
    raw.execute_batch(
        "UPDATE instances SET status = 'feedback_received', claude_session_id = iif(id = 'work-1-a1', 's', NULL);
         INSERT INTO messages (id, instance_id, sender, kind, body, state, created_at)
         SELECT 'm-0000000' || substr(id, 6, 1), id, 's', 'feedback', 'b', 'owed', '2026-07-28T12:34:56.789Z' FROM instances;",
    )
    .unwrap();
    let backup = folder.path().join("backup.db");
    back_up(store.path(), &backup, false).unwrap();
    restore(store.path(), Some(&backup)).unwrap();
    for (id, state, status, attempts) in [
        ("work-1-a1", MessageState::Owed, Status::FeedbackReceived, 1),
        ("work-2-a1", MessageState::Unconfirmed, Status::Running, 1),
    ] {
        let id = id.parse().unwrap();
        let message = store.read_now(|r| r.messages(&id)).unwrap().remove(0);
        assert_eq!((message.state, message.attempts), (state, attempts));
        assert_eq!(store.read_now(|r| r.instance(&id)).unwrap().status, status);
    }
}

#[test]
fn a_launch_that_was_under_way_is_not_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    store
        .write_now(|w| w.insert_instance(&super::tests::new_instance("work-42-a1"), None))
        .unwrap();
    let raw = Connection::open(store.path()).unwrap();
    raw.execute_batch(
        "UPDATE instances SET launch_step = 'session', owner_pid = 1, owner_started = 'x'",
    )
    .unwrap();
    let backup = folder.path().join("backup.db");
    back_up(store.path(), &backup, false).unwrap();
    restore(store.path(), Some(&backup)).unwrap();
    let found = store
        .read_now(|r| r.instance(&"work-42-a1".parse().unwrap()))
        .unwrap();
    assert_eq!(found.launch_step, crate::model::LaunchStep::Ready);
    assert_eq!(found.owner, None);
}

#[test]
fn what_is_no_backup_is_refused_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    add(&store, "one");
    let file = |name: &str| folder.path().join(name);
    fs::write(file("text"), "no database").unwrap();
    fs::write(file("empty"), "").unwrap();
    fs::create_dir(file("folder")).unwrap();
    let other = Connection::open(file("other")).unwrap();
    other
        .execute_batch("CREATE TABLE t (a); PRAGMA user_version = 3;")
        .unwrap();
    back_up(store.path(), &file("damaged"), false).unwrap();
    let mut bytes = fs::read(file("damaged")).unwrap();
    bytes.truncate(bytes.len() / 2);
    fs::write(file("damaged"), bytes).unwrap();
    for name in ["text", "empty", "folder", "other", "damaged", "missing"] {
        let refused = restore(store.path(), Some(&file(name)));
        assert!(
            matches!(refused, Err(StoreError::BadBackup { .. })),
            "{name}: {refused:?}"
        );
    }
    back_up(store.path(), &file("newer"), false).unwrap();
    let newer = Connection::open(file("newer")).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    let refused = restore(store.path(), Some(&file("newer")));
    assert!(
        matches!(refused, Err(StoreError::TooNew { found: 99, .. })),
        "{refused:?}"
    );
    assert_eq!(count(&store), 1);
    assert!(
        !names(folder.path())
            .iter()
            .any(|name| name.contains("set-aside"))
    );
}

/// A database with rows, closed, and what was done to its file.
fn spoiled(spoil: impl FnOnce(&Path)) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    for number in 0..200 {
        add(&store, &format!("task {number}"));
    }
    let path = store.path().to_owned();
    drop(store);
    spoil(&path);
    (folder, path)
}

fn over(path: &Path, from: usize, until: usize) {
    let mut bytes = fs::read(path).unwrap();
    let until = until.min(bytes.len());
    bytes[from..until].fill(0xA5);
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_damaged_file_is_refused_kept_and_replaced_only_on_request() {
    type Spoil = fn(&Path);
    let cases: [(&str, Spoil); 5] = [
        ("truncated", |path| {
            let bytes = fs::read(path).unwrap();
            fs::write(path, &bytes[..bytes.len() / 3]).unwrap();
        }),
        ("emptied", |path| fs::write(path, "").unwrap()),
        ("header", |path| over(path, 0, 100)),
        ("schema", |path| over(path, 100, 8192)),
        ("log alone", |path| {
            fs::write(beside(path, "-wal"), fs::read(path).unwrap()).unwrap();
            fs::remove_file(path).unwrap();
        }),
    ];
    for (case, spoil) in cases {
        let (folder, path) = spoiled(spoil);
        let before = fs::read(&path).ok();
        for _ in 0..2 {
            let error = Store::open(&path).and_then(|store| store.read_now(|r| r.instances(false)));
            let error = crate::error::Error::from(error.unwrap_err());
            assert_eq!(
                error.code,
                crate::error::Code::DatabaseCorrupt,
                "{case}: {error:?}"
            );
            assert!(
                error.hint.unwrap().contains("claude-codex restore --empty"),
                "{case}"
            );
        }
        assert_eq!(fs::read(&path).ok(), before, "{case}");
        let restored = restore(&path, None).unwrap();
        let aside = restored.set_aside.unwrap();
        assert_eq!(fs::read(&aside).ok(), before, "{case}");
        assert_eq!(beside(&aside, "-wal").exists(), case == "log alone");
        assert_eq!(count(&Store::open(&path).unwrap()), 0, "{case}");
        drop(folder);
    }
}

/// `SQLite` finds no sign of its own in it, and the database is whole without it.
#[test]
fn a_log_of_something_else_is_ignored() {
    let (_folder, path) = spoiled(|path| {
        fs::write(beside(path, "-wal"), vec![0xA5; 20_000]).unwrap();
    });
    let store = Store::open(&path).unwrap();
    assert_eq!(count(&store), 200);
    assert_eq!(store.check_to(Depth::Whole).unwrap(), Vec::<String>::new());
}

#[test]
fn a_damaged_page_in_the_middle_is_found() {
    let (_folder, path) = spoiled(|path| {
        let raw = Connection::open(path).unwrap();
        let root: usize = raw
            .query_row(
                "SELECT rootpage FROM sqlite_schema WHERE name = 'tasks'",
                [],
                |row| row.get(0),
            )
            .unwrap();
        drop(raw);
        over(path, (root - 1) * 4096, root * 4096);
    });
    let store = Store::open(&path).unwrap();
    assert_ne!(
        store
            .check()
            .unwrap_or_else(|error| vec![error.to_string()]),
        Vec::<String>::new()
    );
    let asked = store.read_now(|r| r.tasks("/repo", 0, 1));
    assert!(
        matches!(asked, Err(StoreError::Corrupt { .. })),
        "{asked:?}"
    );
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for version in [0, 3] {
        let path = folder.path().join(format!("{version}.db"));
        let raw = Connection::open(&path).unwrap();
        raw.execute_batch("CREATE TABLE bookmarks (a)").unwrap();
        raw.pragma_update(None, "user_version", version).unwrap();
        assert!(matches!(Store::open(&path), Err(StoreError::Foreign)));
        let tables: i64 = raw
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .unwrap();
        assert_eq!(tables, 1);
    }
}
