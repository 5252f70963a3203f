//! Stopping and putting away.

use std::fs;

use shared::model::Status;
use shared::workflow::{Activity, Run, advice_on_terminal, board, clean, reconcile, stop};

use crate::support::{World, git_in, lives, until};

async fn pid_of(world: &World, session: &str) -> u32 {
    let panes = world.context().await.tmux.list().await.unwrap();
    panes
        .iter()
        .find(|pane| pane.session.as_str() == session)
        .unwrap()
        .pid
}

#[tokio::test]
async fn stop_leaves_nothing_and_twice_is_fine() {
    let world = World::new();
    let context = world.context().await;
    let before = world.traces();
    let run = Run::unattended();
    let instance = world.launch().await;
    let pid = pid_of(&world, instance.id.as_str()).await;
    assert!(lives(pid));
    for attempt in 0..2 {
        let stopped = stop(&context, &run, &instance.id).await.unwrap();
        assert_eq!(stopped.instance.status, Status::Terminated);
        assert_eq!((stopped.kept, stopped.instance.note), (None, None));
        let mut after = world.traces();
        after.rows.clear();
        assert_eq!(after, before, "attempt {attempt}");
    }
    assert!(!lives(pid));
    assert_eq!(run.changes().len(), 1);
}

#[tokio::test]
async fn stop_of_one_whose_session_is_gone() {
    let world = World::new();
    let context = world.context().await;
    let before = world.traces();
    let instance = world.launch().await;
    world.kill_tmux().await;
    let stopped = stop(&context, &Run::unattended(), &instance.id)
        .await
        .unwrap();
    assert_eq!(stopped.instance.status, Status::Terminated);
    let mut after = world.traces();
    after.rows.clear();
    assert_eq!(after, before);
}

#[tokio::test]
async fn stop_of_one_whose_worktree_a_person_removed() {
    let world = World::new();
    let context = world.context().await;
    let before = world.traces();
    let instance = world.launch().await;
    fs::remove_dir_all(&instance.worktree_path).unwrap();
    stop(&context, &Run::unattended(), &instance.id)
        .await
        .unwrap();
    let mut after = world.traces();
    after.rows.clear();
    assert_eq!(after, before);
}

#[tokio::test]
async fn uncommitted_work_is_kept_and_it_says_where() {
    let world = World::new();
    let context = world.context().await;
    let instance = world.launch().await;
    fs::write(instance.worktree_path.join("new"), "work").unwrap();
    fs::write(instance.worktree_path.join("README"), "changed").unwrap();
    let stopped = stop(&context, &Run::unattended(), &instance.id)
        .await
        .unwrap();
    let kept = stopped.kept.unwrap();
    assert!(kept.contains("2 uncommitted files"), "{kept}");
    assert!(
        kept.contains(instance.worktree_path.to_str().unwrap()),
        "{kept}"
    );
    assert_eq!(stopped.instance.note.unwrap(), kept);
    assert!(instance.worktree_path.join("new").exists());
    let traces = world.traces();
    assert!(traces.sessions.is_empty() && traces.agent_folders.is_empty());
    assert!(traces.branches.contains("refs/heads/codex/work-fix-it-a1"));
}

#[tokio::test]
async fn commits_that_are_nowhere_else_are_kept() {
    let world = World::new();
    let context = world.context().await;
    let instance = world.launch().await;
    let commit = ["commit", "--quiet", "--allow-empty", "-m", "work"];
    git_in(&instance.worktree_path, &commit);
    let tip = git_in(&instance.worktree_path, &["rev-parse", "HEAD"]);
    let run = Run::unattended();
    let kept = stop(&context, &run, &instance.id)
        .await
        .unwrap()
        .kept
        .unwrap();
    assert!(kept.contains("1 commit"), "{kept}");
    assert_eq!(world.git(&["rev-parse", "codex/work-fix-it-a1"]), tip);

    // Once they are elsewhere too, nothing is kept.
    world.git(&["merge", "--quiet", "codex/work-fix-it-a1"]);
    assert_eq!(stop(&context, &run, &instance.id).await.unwrap().kept, None);
    assert_eq!(world.traces().branches.len(), 1);
    assert!(!instance.worktree_path.exists());
}

#[tokio::test]
async fn an_agent_that_ignores_the_end_of_its_terminal_is_ended() {
    let world = World::new();
    let context = world.context().await;
    let ready = world.root.join("deaf");
    let script = format!(
        "#!/bin/sh\ntrap '' HUP TERM\ntouch '{}'\nwhile :; do sleep 1; done\n",
        ready.display()
    );
    world.program("agent", &script);
    let instance = world.launch().await;
    until("the agent is deaf", || ready.exists()).await;
    let pid = pid_of(&world, instance.id.as_str()).await;
    stop(&context, &Run::unattended(), &instance.id)
        .await
        .unwrap();
    until("the agent has ended", || !lives(pid)).await;
    assert!(!instance.worktree_path.exists());
}

#[tokio::test]
async fn clean_puts_away_what_policy_kept() {
    let world = World::new();
    let manual = [("resources.cleanup", "manual")];
    let context = world.context_with(&world.repository, &manual).await;
    let before = world.traces();
    let run = Run::unattended();
    let (saved, dirty, running) = (
        world.launch().await,
        world.launch().await,
        world.launch().await,
    );
    fs::write(dirty.worktree_path.join("new"), "work").unwrap();
    for instance in [&saved, &dirty] {
        let kept = stop(&context, &run, &instance.id).await.unwrap().kept;
        assert!(kept.unwrap().contains("by policy"));
    }
    let stopped = world.traces();
    let planned = clean(&context, &run, true).await.unwrap();
    let kept: Vec<_> = planned.iter().map(|one| (&one.id, one.kept)).collect();
    assert_eq!(kept, [(&saved.id, false), (&dirty.id, true)]);
    assert_eq!(world.traces(), stopped, "a dry run changes nothing");

    let done = clean(&context, &run, false).await.unwrap();
    let kept: Vec<_> = done.iter().map(|one| (&one.id, one.kept)).collect();
    assert_eq!(kept, [(&saved.id, false), (&dirty.id, true)]);
    assert!(!saved.worktree_path.exists() && dirty.worktree_path.join("new").exists());
    world.assert_stands(&running).await;

    fs::remove_file(dirty.worktree_path.join("new")).unwrap();
    stop(&context, &run, &running.id).await.unwrap();
    clean(&context, &run, false).await.unwrap();
    let mut after = world.traces();
    after.rows.clear();
    assert_eq!(after, before);
}

/// An agent that leaves processes behind in every way a shell knows, and says which.
fn leaves_strays(world: &World) -> String {
    let pids = world.root.join("pids").display().to_string();
    let stray = format!("sh -c 'trap \"\" HUP TERM; echo $$ >> {pids}; while :; do sleep 1; done'");
    format!(
        "#!/bin/sh\nnohup {stray} >/dev/null 2>&1 &\nsetsid {stray} &\n(setsid {stray} &) &\n\
         exec sleep 1000\n"
    )
}

fn strays(world: &World) -> Vec<u32> {
    let pids = fs::read_to_string(world.root.join("pids")).unwrap_or_default();
    pids.split_whitespace()
        .map(|pid| pid.parse().unwrap())
        .collect()
}

#[tokio::test]
async fn what_an_agent_has_started_ends_with_it() {
    let world = World::new();
    let context = world.context().await;
    world.program("agent", &leaves_strays(&world));
    let stopped = world.launch().await;
    until("three strays run", || strays(&world).len() == 3).await;
    stop(&context, &Run::unattended(), &stopped.id)
        .await
        .unwrap();
    assert!(strays(&world).into_iter().all(|pid| !lives(pid)));
    assert!(!stopped.worktree_path.exists());

    // The same when its end is only noticed: all that is left of the agent are the strays.
    fs::remove_file(world.root.join("pids")).unwrap();
    let crashed = world.launch().await;
    until("three strays run", || strays(&world).len() == 3).await;
    world.kill_tmux().await;
    reconcile(&context).await.unwrap();
    assert_eq!(world.instance(&crashed).await.status, Status::Failed);
    assert!(strays(&world).into_iter().all(|pid| !lives(pid)));
    assert!(!crashed.worktree_path.exists());
}

#[tokio::test]
async fn other_processes_in_the_worktree_are_left_alone() {
    let world = World::new();
    let context = world.context().await;
    let instance = world.launch().await;
    let mut persons = std::process::Command::new("sleep")
        .arg("1000")
        .current_dir(&instance.worktree_path)
        .env("CODEX_INSTANCE_ID", instance.id.as_str())
        .env("CODEX_LAUNCH_ID", "another")
        .spawn()
        .unwrap();
    stop(&context, &Run::unattended(), &instance.id)
        .await
        .unwrap();
    assert!(lives(persons.id()));
    persons.kill().unwrap();
    persons.wait().unwrap();
}

#[tokio::test]
async fn an_agent_that_outlives_its_terminal_keeps_its_worktree_until_it_is_ended() {
    let world = World::new();
    let context = world.context().await;
    let pids = world.root.join("pids").display().to_string();
    world.program(
        "agent",
        &format!("#!/bin/sh\ntrap '' HUP\necho $$ >> {pids}\nwhile :; do sleep 1; done\n"),
    );
    let instance = world.launch().await;
    until("it runs", || strays(&world).len() == 1).await;
    world.tmux(&["kill-server"]);
    until("tmux has gone", || world.sessions().is_empty()).await;
    let done = reconcile(&context).await.unwrap();
    assert_eq!(done.changes, []);
    assert!(instance.worktree_path.exists() && lives(strays(&world)[0]));
    let row = board(&context, false).await.unwrap().remove(0);
    assert_eq!(row.activity, Activity::TerminalUnreachable);
    assert!(advice_on_terminal(&row.instance).contains("claude-codex stop"));

    let stopped = stop(&context, &Run::unattended(), &instance.id)
        .await
        .unwrap();
    assert_eq!(stopped.kept, None);
    assert!(!instance.worktree_path.exists() && !lives(strays(&world)[0]));
}

#[tokio::test]
async fn a_worktree_whose_repository_was_renamed_is_kept_and_it_says_so() {
    let world = World::new();
    let context = world.context().await;
    let run = Run::unattended();
    let instance = world.launch().await;
    let renamed = world.repository.with_file_name("renamed");
    fs::rename(&world.repository, &renamed).unwrap();
    let stopped = stop(&context, &run, &instance.id).await.unwrap();
    assert!(stopped.kept.unwrap().contains("is not there"));
    fs::rename(&renamed, &world.repository).unwrap();
    clean(&context, &run, false).await.unwrap();
    assert!(!instance.worktree_path.exists());
}
