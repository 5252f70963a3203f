//! Launches for one id at the same moment.

use std::collections::BTreeSet;

use shared::workflow::{Run, launch};

use crate::launcher::spawn_launcher;
use crate::support::{LaunchEnv, request};

fn numbered(count: usize) -> BTreeSet<String> {
    (1..=count).map(|n| format!("work-fix-it-a{n}")).collect()
}

#[tokio::test]
async fn two_processes() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let launchers: Vec<_> = (0..2).map(|_| spawn_launcher(&env, None, None)).collect();
    for mut launcher in launchers {
        assert!(launcher.wait().unwrap().success());
    }
    assert_eq!(env.traces().rows, numbered(2));
    for row in context.store.read(|r| r.instances(true)).await.unwrap() {
        env.assert_stands(&row).await;
    }
}

#[tokio::test]
async fn ten_tasks() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let context = context.clone();
            tokio::spawn(async move { launch(&context, &Run::unattended(), request()).await })
        })
        .collect();
    let mut ids = BTreeSet::new();
    for task in tasks {
        let instance = task.await.unwrap().unwrap();
        env.assert_stands(&instance).await;
        ids.insert(instance.id.to_string());
    }
    assert_eq!(ids, numbered(10));
    let traces = env.traces();
    assert_eq!(traces.sessions, numbered(10));
    assert_eq!((traces.worktrees.len(), traces.branches.len()), (11, 11));
}
