//! Launches for one id at the same moment.

use std::collections::BTreeSet;

use shared::workflow::{Run, launch};

use crate::launcher::spawn_launcher;
use crate::support::{World, request};

fn numbered(count: usize) -> BTreeSet<String> {
    (1..=count).map(|n| format!("work-fix-it-a{n}")).collect()
}

#[tokio::test]
async fn two_processes() {
    let world = World::new();
    let context = world.context().await;
    let launchers: Vec<_> = (0..2).map(|_| spawn_launcher(&world, None, None)).collect();
    for mut launcher in launchers {
        assert!(launcher.wait().unwrap().success());
    }
    assert_eq!(world.traces().rows, numbered(2));
    for row in context.store.read(|r| r.instances(true)).await.unwrap() {
        world.assert_stands(&row).await;
    }
}

#[tokio::test]
async fn ten_tasks() {
    let world = World::new();
    let context = world.context().await;
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let context = context.clone();
            tokio::spawn(async move { launch(&context, &Run::unattended(), request()).await })
        })
        .collect();
    let mut ids = BTreeSet::new();
    for task in tasks {
        let instance = task.await.unwrap().unwrap();
        world.assert_stands(&instance).await;
        ids.insert(instance.id.to_string());
    }
    assert_eq!(ids, numbered(10));
    let traces = world.traces();
    assert_eq!(traces.sessions, numbered(10));
    assert_eq!((traces.worktrees.len(), traces.branches.len()), (11, 11));
}
