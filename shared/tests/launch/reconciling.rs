//! Making rows and world agree when agents, servers and processes go away by themselves.

use std::fs;

use shared::model::{InstanceKind, Status, TaskStatus};
use shared::workflow::{Activity, Run, Step, adopt, board, launch, reconcile};
use tests::until_async;

use crate::launcher::{spawn_launcher, spawn_reconciler};
use crate::support::{LaunchEnv, request};

#[tokio::test]
async fn the_tmux_server_is_killed_under_running_agents() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let task = env.task().await;
    let mut with_task = request();
    with_task.task = Some(task.clone());
    let run = Run::unattended();
    let idle = launch(&context, &run, with_task).await.unwrap();
    let dirty = env.launch().await;
    fs::write(dirty.worktree_path.join("new"), "work").unwrap();
    env.kill_tmux().await;

    let changes = reconcile(&context).await.unwrap().changes;
    assert_eq!(changes.len(), 2, "{changes:?}");
    let (idle, dirty) = (env.instance(&idle).await, env.instance(&dirty).await);
    assert_eq!(
        (idle.status, dirty.status),
        (Status::Failed, Status::Failed)
    );
    assert!(!idle.worktree_path.exists());
    assert!(dirty.worktree_path.join("new").exists());
    let note = dirty.note.sentence().unwrap();
    assert!(
        note.contains(dirty.worktree_path.to_str().unwrap()),
        "{note}"
    );
    let traces = env.traces();
    assert_eq!(traces.branches.len(), 2, "{traces:?}");
    assert!(traces.agent_folders.is_empty());
    assert_eq!(env.task_status(&task).await, TaskStatus::Open);
    assert_eq!(reconcile(&context).await.unwrap().changes, []);
}

#[tokio::test]
async fn an_agent_that_exits_is_noticed() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    for (script, status) in [("exit 0", Status::Terminated), ("exit 3", Status::Failed)] {
        // One that fails at once has not been launched.
        let (sign, waits) = (env.path("end"), "while ! test -e");
        let program = format!(
            "#!/bin/sh\n{waits} '{}'; do sleep 0.02; done\n{script}\n",
            sign.display()
        );
        env.program("agent", &program);
        let instance = env.launch().await;
        fs::write(&sign, "").unwrap();
        let mut activity = Activity::Unknown;
        while activity != Activity::Gone {
            activity = board(&context, false).await.unwrap().remove(0).activity;
        }
        reconcile(&context).await.unwrap();
        let instance = env.instance(&instance).await;
        assert_eq!(instance.status, status, "{instance:?}");
        assert!(!instance.worktree_path.exists());
        assert!(env.sessions().is_empty());
        fs::remove_file(&sign).unwrap();
    }
}

#[tokio::test]
async fn five_processes_and_five_tasks_reconcile_at_once() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let before = env.traces();
    for _ in 0..4 {
        env.launch().await;
    }
    env.kill_tmux().await;
    let processes: Vec<_> = (0..5).map(|_| spawn_reconciler(&env)).collect();
    let tasks: Vec<_> = (0..5)
        .map(|_| {
            let context = context.clone();
            tokio::spawn(async move { reconcile(&context).await })
        })
        .collect();
    let mut changes = 0;
    for task in tasks {
        changes += task.await.unwrap().unwrap().changes.len();
    }
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    assert!(changes <= 4, "{changes}");
    // What somebody else had locked at that moment is left to whoever looks next.
    reconcile(&context).await.unwrap();
    let rows = context.store.read(|r| r.instances(false)).await.unwrap();
    for row in &rows {
        assert_eq!((row.status, &row.owner), (Status::Failed, &None), "{row:?}");
    }
    let mut after = env.traces();
    after.rows.clear();
    assert_eq!(after, before);
}

#[tokio::test]
async fn a_living_launcher_is_not_disturbed() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let mut launcher = spawn_launcher(&env, None, Some(&Step::StartingSession));
    until_async("the launcher waits", || env.path("held").exists()).await;
    let before = env.traces();
    assert_eq!(before.rows.len(), 1);
    assert_eq!(reconcile(&context).await.unwrap().changes, []);
    assert_eq!(env.traces(), before);
    launcher.kill().unwrap();
    launcher.wait().unwrap();
}

#[tokio::test]
async fn nothing_disturbs_launches_under_a_storm_of_reconciles() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let mut launchers: Vec<_> = (0..3).map(|_| spawn_launcher(&env, None, None)).collect();
    while launchers
        .iter_mut()
        .any(|launcher| launcher.try_wait().unwrap().is_none())
    {
        assert_eq!(reconcile(&context).await.unwrap().changes, []);
    }
    let rows = context.store.read(|r| r.instances(true)).await.unwrap();
    assert_eq!(rows.len(), 3);
    for row in &rows {
        env.assert_stands(row).await;
    }
}

#[tokio::test]
async fn adopted_instances_are_never_killed() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let run = Run::unattended();
    // A person's own session, which happens to be called like the instance.
    let adopted = adopt(&context, &run, InstanceKind::Coding).await.unwrap();
    let id = adopted.id;
    env.tmux(&["new-session", "-d", "-s", id.as_str(), "sleep 1000"]);
    fs::write(env.repository().join("mine"), "x").unwrap();
    assert_eq!(reconcile(&context).await.unwrap().changes, []);
    env.connection()
        .execute(
            "UPDATE instances SET created_at = '2020-01-01T00:00:00.000Z'",
            [],
        )
        .unwrap();
    reconcile(&context).await.unwrap();
    let stopped = shared::workflow::stop(&context, &run, &id).await.unwrap();
    assert_eq!(stopped.instance.status, Status::Terminated);
    assert!(env.has_session(&id));
    assert!(env.repository().join("mine").exists());
    assert_eq!(env.git(&["branch", "--show-current"]).trim(), "main");
}
