//! The store against real files: damage, limits, races, and the schema against the model.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::*;
use crate::model::{
    EventSource, InstanceKind, LaunchStep, MessageKind, MessageState, Origin, Phase, Priority,
    SessionMode, Status, StatusEvent, TakenBy, TaskId, TaskStatus, TddRole, TddStatus, TddStep,
    Timestamp, Verdict,
};

pub(super) fn open_in(folder: &Path) -> Store {
    Store::open(&folder.join("state/codex.db")).unwrap()
}

pub(super) fn new_task(title: &str) -> NewTask {
    NewTask {
        repository: "/repo".into(),
        title: title.into(),
        description: "what and why".into(),
        priority: Priority::Medium,
        estimated_hours: Some(1.5),
        depends_on: Vec::new(),
        created_by: None,
    }
}

pub(super) fn new_instance(id: &str) -> NewInstance {
    NewInstance {
        id: id.parse().unwrap(),
        kind: InstanceKind::Coding,
        origin: Origin::Launched,
        session_mode: SessionMode::Interactive,
        repository: "/repo".into(),
        worktree_path: format!("/trees/{id}").into(),
        branch_name: Some(format!("codex/{id}")),
        base_branch: "main".into(),
        base_commit: None,
        tmux_session: None,
        tmux_pane: None,
        claude_session_id: None,
        issue_number: Some(42),
        task_id: None,
        parent_instance_id: None,
        prompt: "do it".into(),
        require_review: false,
        max_reviews: 3,
        launch_step: LaunchStep::Row,
        owner: None,
    }
}

/// Lets the file grow by so many pages; it then fails as on a disk that has no block left.
pub(super) fn limit_pages(store: &Store, more: i64) {
    let limited = store.database.with(Purpose::Write, |opened| {
        let connection = &opened.connection;
        let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        connection.pragma_update_and_check(None, "max_page_count", pages + more, |_| Ok(()))?;
        Ok(())
    });
    limited.unwrap();
}

/// The words of `CHECK (column IN (…))` in one table of schema.sql.
fn checked_words(table: &str, column: &str) -> BTreeSet<String> {
    let schema = schema::SCHEMA;
    let start = schema.find(&format!("CREATE TABLE {table} (")).unwrap();
    let body = &schema[start..start + schema[start..].find("STRICT").unwrap()];
    let needle = format!("CHECK ({column} IN (");
    let list = &body[body.find(&needle).unwrap() + needle.len()..];
    list[..list.find(')').unwrap()]
        .split(',')
        .map(|word| word.trim().trim_matches('\'').to_owned())
        .collect()
}

#[test]
fn every_check_equals_its_enum() {
    macro_rules! same {
        ($enum:ty, $table:literal, $column:literal) => {
            let words: BTreeSet<String> = <$enum>::ALL.iter().map(ToString::to_string).collect();
            assert_eq!(
                checked_words($table, $column),
                words,
                "{}.{}",
                $table,
                $column
            );
        };
    }
    same!(Status, "instances", "status");
    same!(InstanceKind, "instances", "kind");
    same!(Origin, "instances", "origin");
    same!(SessionMode, "instances", "session_mode");
    same!(LaunchStep, "instances", "launch_step");
    same!(Priority, "tasks", "priority");
    same!(TaskStatus, "tasks", "status");
    same!(Verdict, "review_feedback", "verdict");
    same!(MessageKind, "messages", "kind");
    same!(MessageState, "messages", "state");
    same!(TakenBy, "messages", "taken_by");
    same!(Phase, "tdd_phases", "phase");
    same!(EventSource, "mcp_events", "source");
    same!(TddStatus, "tdd_runs", "status");
    same!(TddStep, "tdd_runs", "step");
    same!(TddRole, "tdd_responses", "role");
}

#[test]
fn the_state_folder_is_for_its_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    let mode = fs::metadata(store.path().parent().unwrap())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn tasks_keep_what_they_are_given_and_know_when_they_are_ready() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    let first = store
        .write_now(|w| w.insert_task(&new_task("first")))
        .unwrap();
    let second = store
        .write_now(|w| {
            w.insert_task(&NewTask {
                // Named twice: once is enough.
                depends_on: vec![first.id.clone(), first.id.clone()],
                ..new_task("second")
            })
        })
        .unwrap();
    assert_eq!(second.depends_on, std::slice::from_ref(&first.id));
    assert_eq!((first.ready, second.ready), (true, false));
    store
        .write_now(|w| w.set_task_status(&first.id, TaskStatus::Done))
        .unwrap();
    let ready = store
        .read_now(|r| r.tasks_by_place("/repo", true, 0, 10))
        .unwrap();
    assert_eq!(ready.tasks.len(), 1);
    assert_eq!(ready.tasks[0].id, second.id);
}

#[test]
#[should_panic(expected = "SCAN tasks")]
fn a_statement_that_no_index_answers_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    let sql = "SELECT count(*) FROM tasks WHERE description = 'x'";
    let _ = store.read_now(|r| {
        Ok(r.connection
            .query_row(sql, [], |row| row.get::<_, u32>(0))?)
    });
}

#[test]
fn people_see_first_what_can_begin_and_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    let add = |title: &str, priority: Priority, depends_on: Vec<TaskId>| {
        let new = NewTask {
            priority,
            depends_on,
            ..new_task(title)
        };
        // Made one after the other, whatever the clock's steps are.
        let task = store.write_now(|w| w.insert_task(&new)).unwrap();
        while Timestamp::now() == task.created_at {
            std::thread::yield_now();
        }
        task.id
    };
    let titles = |ready: bool| {
        let page = store.read_now(|r| r.tasks_by_place("/repo", ready, 0, 10));
        let page = page.unwrap();
        let titles = page.tasks.into_iter().map(|task| task.title);
        (titles.collect::<Vec<_>>().join(" "), page.total)
    };
    let done = add("done", Priority::High, Vec::new());
    let begun = add("begun", Priority::High, Vec::new());
    add("old", Priority::Low, Vec::new());
    add("new", Priority::Low, Vec::new());
    add("urgent", Priority::High, Vec::new());
    add("waits", Priority::High, vec![done.clone(), begun.clone()]);
    let set = |id: &TaskId, status: TaskStatus| {
        store.write_now(|w| w.set_task_status(id, status)).unwrap();
    };
    set(&done, TaskStatus::Done);
    set(&begun, TaskStatus::InProgress);
    assert_eq!(titles(true), ("urgent new old".to_owned(), 3));
    let all = "urgent new old waits begun done".to_owned();
    assert_eq!(titles(false), (all, 6));
    set(&begun, TaskStatus::Done);
    assert_eq!(titles(true), ("waits urgent new old".to_owned(), 4));
    // One that is taken up again is waited for again.
    set(&done, TaskStatus::Open);
    assert_eq!(titles(true), ("urgent done new old".to_owned(), 4));
    let waiting = store.read_now(|r| {
        let page = r.tasks_by_place("/repo", true, 1, 1)?;
        assert_eq!(page.next_offset, Some(2));
        assert_eq!(r.ready_tasks("/repo")?, 4);
        r.waiting_tasks(&page.tasks)
    });
    assert_eq!(waiting.unwrap().get(&done).map(Vec::len), Some(1));
}

#[test]
fn an_unknown_dependency_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    let elsewhere = store
        .write_now(|w| {
            w.insert_task(&NewTask {
                repository: "/other".into(),
                ..new_task("elsewhere")
            })
        })
        .unwrap();
    for unknown in ["task-00000000".parse().unwrap(), elsewhere.id] {
        let refused = store.write_now(|w| {
            w.insert_task(&NewTask {
                depends_on: vec![unknown],
                ..new_task("orphan")
            })
        });
        assert!(matches!(refused, Err(StoreError::TaskNotFound { .. })));
    }
    assert_eq!(
        store.read_now(|r| r.tasks("/repo", 0, 10)).unwrap().total,
        0
    );
}

#[test]
fn lists_page_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    for number in 0..25 {
        store
            .write_now(|w| w.insert_task(&new_task(&format!("task {number}"))))
            .unwrap();
    }
    let mut seen = Vec::new();
    let mut offset = Some(0);
    while let Some(from) = offset {
        let page = store.read_now(|r| r.tasks("/repo", from, 10)).unwrap();
        assert_eq!(page.total, 25);
        seen.extend(page.tasks.into_iter().map(|task| task.title));
        offset = page.next_offset;
    }
    let unique: BTreeSet<_> = seen.iter().collect();
    assert_eq!((seen.len(), unique.len()), (25, 25));
}

#[test]
fn an_illegal_move_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    let new = new_instance("work-42-a1");
    let before = store.write_now(|w| w.insert_instance(&new, None)).unwrap();
    let refused = store.write_now(|w| w.transition(&new.id, StatusEvent::Published));
    assert!(matches!(refused, Err(StoreError::Illegal { .. })));
    assert_eq!(store.read_now(|r| r.instance(&new.id)).unwrap(), before);
}

#[test]
fn publishing_remembers_where_to_go_back_to() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    let new = new_instance("work-42-a1");
    let id = new.id.clone();
    store
        .write_now(|w| {
            w.insert_instance(&new, None)?;
            w.transition(&id, StatusEvent::Connected)?;
            w.transition(&id, StatusEvent::PublishBegins { by_reviewer: false })
        })
        .unwrap();
    let publishing = store.read_now(|r| r.instance(&id)).unwrap();
    assert_eq!(publishing.status_before, Some(Status::Running));
    let before = publishing.status_before.unwrap();
    store
        .write_now(|w| w.transition(&id, StatusEvent::PublishFailed { before }))
        .unwrap();
    let back = store.read_now(|r| r.instance(&id)).unwrap();
    assert_eq!((back.status, back.status_before), (Status::Running, None));
}

#[test]
fn the_limit_on_live_instances_holds_and_ids_are_unique() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    let adopted = NewInstance {
        origin: Origin::Adopted,
        session_mode: SessionMode::Interactive,
        ..new_instance("work-mine-a1")
    };
    store
        .write_now(|w| w.insert_instance(&adopted, None))
        .unwrap();
    store
        .write_now(|w| w.insert_instance(&new_instance("work-1-a1"), Some(1)))
        .unwrap();
    let refused = store.write_now(|w| w.insert_instance(&new_instance("work-1-a2"), Some(1)));
    assert!(matches!(
        refused,
        Err(StoreError::TooManyInstances { live: 1, limit: 1 })
    ));
    let taken = store.write_now(|w| w.insert_instance(&new_instance("work-1-a1"), None));
    assert!(matches!(taken, Err(StoreError::IdTaken { .. })));
}

#[test]
fn many_writers_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = open_in(folder.path()).path().to_owned();
    let writers: Vec<_> = (0..8)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || {
                let store = Store::open(&path).unwrap();
                for _ in 0..25 {
                    store
                        .write_now(|w| w.insert_task(&new_task("one")))
                        .unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    let page = open_in(folder.path())
        .read_now(|r| r.tasks("/repo", 0, 1))
        .unwrap();
    assert_eq!(page.total, 200);
}

#[test]
fn many_first_openers_make_one_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("codex.db");
    let openers: Vec<_> = (0..8)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || Store::open(&path).map(|_| ()))
        })
        .collect();
    for opener in openers {
        opener.join().unwrap().unwrap();
    }
}

#[test]
fn damage_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("codex.db");
    fs::write(
        &path,
        "this is not a database, whatever its name says".repeat(100),
    )
    .unwrap();
    assert!(matches!(
        Store::open(&path),
        Err(StoreError::Corrupt { .. })
    ));

    let newer = folder.path().join("newer.db");
    Store::open(&newer).unwrap();
    Connection::open(&newer)
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    assert!(matches!(
        Store::open(&newer),
        Err(StoreError::TooNew { found: 99, .. })
    ));

    let blocked = folder.path().join("file/codex.db");
    fs::write(folder.path().join("file"), "").unwrap();
    assert!(matches!(
        Store::open(&blocked),
        Err(StoreError::Folder { .. })
    ));
}

#[test]
fn a_full_disk_is_named_and_leaves_nothing_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    limit_pages(&store, 0);
    let big = NewTask {
        description: "x".repeat(1 << 20),
        ..new_task("big")
    };
    assert!(matches!(
        store.write_now(|w| w.insert_task(&big)),
        Err(StoreError::Full { .. })
    ));
    assert_eq!(store.read_now(|r| r.tasks("/repo", 0, 1)).unwrap().total, 0);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}
