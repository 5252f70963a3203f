//! Other processes' files: who notices a commit, who waits for whom, and what becomes of writes when the
//! file is deleted, replaced or restored under a program that has it open.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::file_names::beside;
use super::tests::{new_task, open_in};
use super::*;

/// More than a loaded machine takes, less than the slow look that is the safety net.
const PROMPTLY: Duration = Duration::from_millis(2_500);
const LONG: Duration = Duration::from_secs(30);

fn titles(store: &Store) -> Vec<String> {
    let page = store.read_now(|r| r.tasks("/repo", 0, 100)).unwrap();
    page.tasks.into_iter().map(|task| task.title).collect()
}

fn add(store: &Store, title: &str) -> Result<(), StoreError> {
    let task = new_task(title);
    store.write_now(|w| w.insert_task(&task).map(|_| ()))
}

async fn told(changes: &mut Changes, within: Duration) {
    tokio::time::timeout(within, changes.next()).await.unwrap();
}

/// Waits until nothing is told any more: what came before is over.
async fn quiet(changes: &mut Changes) {
    while tokio::time::timeout(Duration::from_millis(200), changes.next())
        .await
        .is_ok()
    {}
}

/// Removes a folder in which a watcher may make files at the same moment.
fn remove_watched(folder: &Path) {
    while let Err(error) = fs::remove_dir_all(folder) {
        assert_eq!(error.kind(), std::io::ErrorKind::DirectoryNotEmpty);
    }
}

#[tokio::test]
async fn commits_of_others_and_of_this_very_store_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let ours = open_in(folder.path());
    let theirs = open_in(folder.path());
    let mut changes = ours.changes().unwrap();
    let mut second = ours.clone().changes().unwrap();
    for round in 0..5 {
        for (who, store) in [("theirs", &theirs), ("ours", &ours)] {
            quiet(&mut changes).await;
            second.forget();
            assert!(!second.is_new());
            add(store, &format!("{who} {round}")).unwrap();
            told(&mut changes, PROMPTLY).await;
            told(&mut second, PROMPTLY).await;
        }
    }
}

#[tokio::test]
async fn what_was_committed_while_nobody_waited_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    let mut changes = store.changes().unwrap();
    for round in 0..50 {
        changes.forget();
        add(&store, &format!("task {round}")).unwrap();
        told(&mut changes, LONG).await;
    }
}

#[tokio::test]
async fn a_database_that_takes_the_place_of_another_is_watched_in_its_turn() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    let mut changes = store.changes().unwrap();
    quiet(&mut changes).await;
    remove_watched(store.path().parent().unwrap());
    let theirs = open_in(folder.path());
    told(&mut changes, LONG).await;
    quiet(&mut changes).await;
    add(&theirs, "news").unwrap();
    told(&mut changes, LONG).await;
}

#[test]
fn a_writer_waits_longer_than_a_moment_for_another() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    let other = Connection::open(store.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let began = Instant::now();
    let waiting = std::thread::spawn(move || add(&store, "patient"));
    // SQLite's own limit was five seconds here.
    while began.elapsed() < Duration::from_millis(5_500) {
        assert!(!waiting.is_finished());
        std::thread::sleep(Duration::from_millis(50));
    }
    other.execute_batch("ROLLBACK").unwrap();
    waiting.join().unwrap().unwrap();
}

#[test]
fn a_database_that_was_deleted_takes_no_more_writes() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    add(&store, "old").unwrap();
    fs::remove_file(store.path()).unwrap();
    add(&store, "new").unwrap();
    assert_eq!(titles(&store), ["new"]);
    assert_eq!(titles(&open_in(folder.path())), ["new"]);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_write_that_loses_its_file_on_the_way_is_refused_and_the_next_one_stands() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    let path = store.path().to_owned();
    let refused = store.write_now(|w| {
        w.insert_task(&new_task("nowhere"))?;
        fs::remove_file(&path).unwrap();
        Ok(())
    });
    assert!(matches!(refused, Err(StoreError::Moved)), "{refused:?}");
    add(&store, "somewhere").unwrap();
    assert_eq!(titles(&open_in(folder.path())), ["somewhere"]);
}

#[tokio::test]
async fn the_same_for_changes_that_share_a_commit() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    let path = store.path().to_owned();
    let refused = store
        .write(move |w| {
            w.insert_task(&new_task("nowhere"))?;
            fs::remove_file(&path).unwrap();
            Ok(())
        })
        .await;
    assert!(matches!(refused, Err(StoreError::Moved)), "{refused:?}");
    let stored = store.write(|w| w.insert_task(&new_task("somewhere"))).await;
    assert_eq!(stored.unwrap().title, "somewhere");
    assert_eq!(titles(&open_in(folder.path())), ["somewhere"]);
}

/// Makes a copy of what the database holds now.
fn back_up(store: &Store) -> PathBuf {
    let copy = store.path().with_extension("backup");
    let raw = Connection::open(store.path()).unwrap();
    raw.execute("VACUUM INTO ?1", [copy.to_string_lossy()])
        .unwrap();
    copy
}

#[test]
fn a_backup_that_takes_the_place_of_the_database_is_used_by_all_who_had_it_open() {
    type Restore = fn(&Path, &Path);
    let ways: [(&str, Restore); 2] = [
        ("with the old log left behind", |copy, path| {
            fs::rename(copy, path).unwrap();
        }),
        ("without it", |copy, path| {
            fs::rename(copy, path).unwrap();
            for suffix in ["-wal", "-shm"] {
                fs::remove_file(beside(path, suffix)).unwrap();
            }
        }),
    ];
    for (way, restore) in ways {
        let folder = tempfile::tempdir().unwrap();
        let stores = [open_in(folder.path()), open_in(folder.path())];
        add(&stores[0], "kept").unwrap();
        let copy = back_up(&stores[0]);
        add(&stores[0], "not in the backup").unwrap();
        assert_eq!(titles(&stores[1]).len(), 2, "{way}");
        restore(&copy, stores[0].path());

        let mut expected = vec!["kept".to_owned()];
        for (number, store) in stores.iter().enumerate() {
            let title = format!("after {number}");
            add(store, &title).unwrap();
            expected.push(title);
        }
        for store in stores.iter().chain([&open_in(folder.path())]) {
            let mut found = titles(store);
            found.sort_by_key(|title| expected.iter().position(|known| known == title));
            assert_eq!(found, expected, "{way}");
            assert_eq!(store.check().unwrap(), Vec::<String>::new(), "{way}");
        }
    }
}

#[test]
fn nothing_is_opened_before_it_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(&folder.path().join("state/codex.db"));
    assert!(!store.path().parent().unwrap().exists());
    assert_eq!(titles(&store), Vec::<String>::new());
    assert!(store.path().exists());
}

#[test]
fn many_that_make_the_database_at_once_all_get_it() {
    for _ in 0..30 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/codex.db");
        let openers: Vec<_> = (0..8)
            .map(|_| {
                let path = path.clone();
                std::thread::spawn(move || Store::open(&path).map(drop))
            })
            .collect();
        for opener in openers {
            opener.join().unwrap().unwrap();
        }
    }
}

fn owe(store: &Store, instance: &str, message: &str) {
    let new = NewMessage {
        id: message.parse().unwrap(),
        instance: instance.parse().unwrap(),
        sender: "person".to_owned(),
        kind: crate::model::MessageKind::Note,
        body: "text".to_owned(),
    };
    store.write_now(|w| w.insert_message(&new)).unwrap();
}

#[tokio::test]
async fn a_message_wakes_its_agent_at_once_and_other_commits_wake_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (open_in(folder.path()), open_in(folder.path()));
    let id: InstanceId = "work-42-a1".parse().unwrap();
    ours.write_now(|w| {
        w.insert_instance(&super::tests::new_instance("work-42-a1"), None)?;
        w.insert_instance(&super::tests::new_instance("work-43-a1"), None)
            .map(drop)
    })
    .unwrap();
    let mut messages = ours.messages_to(&id).unwrap();
    for round in 0..5 {
        for (number, store) in [&theirs, &ours].into_iter().enumerate() {
            messages.forget();
            owe(store, "work-42-a1", &format!("m-0000000{round}{number}"));
            told(&mut messages, PROMPTLY).await;
        }
    }
    // The slow look tells of each once at most.
    messages.forget();
    let (mut woken, began) = (0, Instant::now());
    for round in 0..40 {
        add(&theirs, &format!("task {round}")).unwrap();
        owe(&theirs, "work-43-a1", &format!("m-1000000{round}"));
        let waited = tokio::time::timeout(Duration::from_millis(10), messages.next()).await;
        woken += u64::from(waited.is_ok());
    }
    assert!(woken <= 1 + began.elapsed().as_secs() / 3, "{woken}");
}

#[tokio::test]
async fn a_message_whose_writer_died_before_it_could_wake_anybody_is_told_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    let mut messages = store.messages_to(&"work-42-a1".parse().unwrap()).unwrap();
    quiet(&mut messages).await;
    Connection::open(store.path())
        .unwrap()
        .execute_batch(
            "PRAGMA foreign_keys = OFF;
             INSERT INTO messages (id, instance_id, sender, kind, body, state, created_at)
             VALUES ('m-00000001', 'work-42-a1', 'person', 'note', 'text', 'owed', '2026-01-01T00:00:00.000Z')",
        )
        .unwrap();
    told(&mut messages, LONG).await;
}

#[tokio::test]
async fn a_wake_folder_that_was_removed_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    store
        .write_now(|w| w.insert_instance(&super::tests::new_instance("work-42-a1"), None))
        .unwrap();
    let mut messages = store.messages_to(&"work-42-a1".parse().unwrap()).unwrap();
    quiet(&mut messages).await;
    let wake = beside(store.path(), "-wake");
    remove_watched(&wake);
    let deadline = Instant::now() + LONG;
    while !wake.exists() && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    quiet(&mut messages).await;
    owe(&store, "work-42-a1", "m-00000001");
    told(&mut messages, PROMPTLY).await;
}
