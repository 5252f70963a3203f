//! Retention: which records are deleted, and when.

use super::super::tests::{new_instance, new_task, open_in};
use super::super::{NewEvent, NewMessage, Store};
use super::*;
use crate::model::{MessageId, MessageKind};

const LIMITS: RowLimits = RowLimits {
    event_days: 90,
    max_events: 200_000,
    message_days: 90,
};

/// Stores an agent with an event and a delivered message that are older than any limit.
fn old_agent(store: &Store, name: &str, status: &str) {
    let id: InstanceId = name.parse().unwrap();
    store
        .write_now(|w| {
            w.insert_instance(&new_instance(name), None)?;
            w.insert_event(&NewEvent::system(&id, "old", Vec::new()))?;
            w.insert_message(&NewMessage {
                id: MessageId::random(),
                instance: id.clone(),
                sender: "person".to_owned(),
                kind: MessageKind::Note,
                body: "text".to_owned(),
            })?;
            w.connection.execute(
                "UPDATE instances SET status = ?2, last_activity = '2020-01-01T00:00:00.000Z',
                                      status_since = '2020-01-01T00:00:00.000Z' WHERE id = ?1",
                params![name, status],
            )?;
            w.connection.execute(
                "UPDATE messages SET state = 'taken', created_at = '2020-01-01T00:00:00.000Z' WHERE instance_id = ?1",
                [name],
            )?;
            w.connection.execute(
                "UPDATE mcp_events SET created_at = '2020-01-01T00:00:00.000Z' WHERE instance_id = ?1",
                [name],
            )?;
            Ok(())
        })
        .unwrap();
}

fn run(store: &Store, sql: &str) {
    let changed = store.write_now(|w| Ok(w.connection.execute(&format!("/* all */ {sql}"), [])?));
    assert!(changed.unwrap() > 0, "{sql}");
}

/// Returns whose event and message are still there.
fn left(store: &Store) -> (Vec<String>, Vec<String>) {
    let of = |table: &str| {
        store
            .read_now(|r| {
                let mut statement = r.connection.prepare(&format!(
                    "/* all */ SELECT DISTINCT instance_id FROM {table} ORDER BY 1"
                ))?;
                let rows = statement.query_map([], |row| row.get(0))?;
                Ok(rows.collect::<Result<Vec<String>, _>>()?)
            })
            .unwrap()
    };
    (of("mcp_events"), of("messages"))
}

#[test]
fn old_rows_go_unless_something_needs_them() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    for (name, status) in [
        ("work-1-a1", "pr_merged"),
        ("work-2-a1", "running"),
        ("work-3-a1", "pr_created"),
        ("work-4-a1", "terminated"),
        ("work-5-a1", "completed"),
        ("work-6-a1", "failed"),
        ("review-2-a1-r1", "completed"),
    ] {
        old_agent(&store, name, status);
    }
    // One has an open task, one a message that was not taken; the reviewer belongs to an agent that lives.
    let task = store
        .write_now(|w| w.insert_task(&new_task("Open")))
        .unwrap();
    run(
        &store,
        &format!(
            "UPDATE instances SET task_id = '{}' WHERE id = 'work-4-a1'",
            task.id
        ),
    );
    run(
        &store,
        "UPDATE messages SET state = 'owed' WHERE instance_id = 'work-5-a1'",
    );
    run(
        &store,
        "UPDATE instances SET parent_instance_id = 'work-2-a1' WHERE id = 'review-2-a1-r1'",
    );
    let deleted = store.write_now(|w| w.delete_old_rows(&LIMITS)).unwrap();
    assert_eq!(deleted, 4);
    let kept = [
        "review-2-a1-r1",
        "work-2-a1",
        "work-3-a1",
        "work-4-a1",
        "work-5-a1",
    ];
    let kept = kept.map(str::to_owned).to_vec();
    assert_eq!(left(&store), (kept.clone(), kept));
    assert_eq!(store.write_now(|w| w.delete_old_rows(&LIMITS)).unwrap(), 0);
    let needed = store.read_now(|r| r.agents_with_files(30)).unwrap();
    assert_eq!(needed.len(), 5);
}

#[test]
fn too_many_events_go_in_small_steps_the_oldest_first() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    let id: InstanceId = "work-1-a1".parse().unwrap();
    store
        .write_now(|w| {
            w.insert_instance(&new_instance("work-1-a1"), None)?;
            for _ in 0..1_200 {
                w.insert_event(&NewEvent::system(&id, "e", Vec::new()))?;
            }
            Ok(())
        })
        .unwrap();
    run(&store, "UPDATE instances SET status = 'completed'");
    let limits = RowLimits {
        max_events: 100,
        ..LIMITS
    };
    let steps: Vec<usize> = (0..4)
        .map(|_| store.write_now(|w| w.delete_old_rows(&limits)).unwrap())
        .collect();
    assert_eq!(steps, [500, 500, 100, 0]);
    let held = store.read_now(|r| Ok(r.holdings()?.events)).unwrap();
    assert_eq!(held, 100);
    let first: i64 = store
        .read_now(|r| Ok(r.events_after(None, 0, 1)?[0].id))
        .unwrap();
    assert_eq!(first, 1_101);
    // 0 keeps everything.
    let for_ever = RowLimits {
        event_days: 0,
        max_events: 0,
        message_days: 0,
    };
    run(
        &store,
        "UPDATE mcp_events SET created_at = '2020-01-01T00:00:00.000Z'",
    );
    assert_eq!(
        store.write_now(|w| w.delete_old_rows(&for_ever)).unwrap(),
        0
    );
}
