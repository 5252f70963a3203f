//! Stopping and putting away.

use std::fs;

use shared::model::Status;
use shared::workflow::{
    Activity, CleanMode, Run, advice_on_terminal, board, clean, reconcile, stop,
};
use tests::{is_alive, until_async};

use crate::support::LaunchEnv;

async fn pid_of(env: &LaunchEnv, session: &str) -> u32 {
    let panes = env.context().await.tmux.list().await.unwrap();
    panes
        .iter()
        .find(|pane| pane.session.as_str() == session)
        .unwrap()
        .pid
}

#[tokio::test]
async fn stop_leaves_nothing_and_twice_is_fine() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let before = env.traces();
    let run = Run::unattended();
    let instance = env.launch().await;
    let pid = pid_of(&env, instance.id.as_str()).await;
    assert!(is_alive(pid));
    for attempt in 0..2 {
        let stopped = stop(&context, &run, &instance.id).await.unwrap();
        assert_eq!(stopped.instance.status, Status::Terminated);
        assert_eq!(
            (stopped.kept, stopped.instance.note.sentence()),
            (None, None)
        );
        let mut after = env.traces();
        after.rows.clear();
        assert_eq!(after, before, "attempt {attempt}");
    }
    assert!(!is_alive(pid));
    assert_eq!(run.changes().len(), 1);
}

#[tokio::test]
async fn stop_of_one_whose_session_is_gone() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let before = env.traces();
    let instance = env.launch().await;
    env.kill_tmux().await;
    let stopped = stop(&context, &Run::unattended(), &instance.id)
        .await
        .unwrap();
    assert_eq!(stopped.instance.status, Status::Terminated);
    let mut after = env.traces();
    after.rows.clear();
    assert_eq!(after, before);
}

#[tokio::test]
async fn stop_of_one_whose_worktree_a_person_removed() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let before = env.traces();
    let instance = env.launch().await;
    fs::remove_dir_all(&instance.worktree_path).unwrap();
    stop(&context, &Run::unattended(), &instance.id)
        .await
        .unwrap();
    let mut after = env.traces();
    after.rows.clear();
    assert_eq!(after, before);
}

#[tokio::test]
async fn uncommitted_work_is_kept_and_it_says_where() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let instance = env.launch().await;
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
    assert_eq!(stopped.instance.note.sentence().unwrap(), kept);
    assert!(instance.worktree_path.join("new").exists());
    let traces = env.traces();
    assert!(traces.sessions.is_empty() && traces.agent_folders.is_empty());
    assert!(traces.branches.contains("refs/heads/codex/work-fix-it-a1"));
}

#[tokio::test]
async fn commits_that_are_nowhere_else_are_kept() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let instance = env.launch().await;
    let commit = ["commit", "--quiet", "--allow-empty", "-m", "work"];
    env.git_in(&instance.worktree_path, &commit);
    let tip = env.git_in(&instance.worktree_path, &["rev-parse", "HEAD"]);
    let run = Run::unattended();
    let kept = stop(&context, &run, &instance.id)
        .await
        .unwrap()
        .kept
        .unwrap();
    assert!(kept.contains("1 commit"), "{kept}");
    assert_eq!(env.git(&["rev-parse", "codex/work-fix-it-a1"]), tip);

    // Once they are elsewhere too, nothing is kept.
    env.git(&["merge", "--quiet", "codex/work-fix-it-a1"]);
    assert_eq!(stop(&context, &run, &instance.id).await.unwrap().kept, None);
    assert_eq!(env.traces().branches.len(), 1);
    assert!(!instance.worktree_path.exists());
}

#[tokio::test]
async fn an_agent_that_ignores_the_end_of_its_terminal_is_ended() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let ready = env.path("deaf");
    let script = format!(
        "#!/bin/sh\ntrap '' HUP TERM\ntouch '{}'\nwhile :; do sleep 1; done\n",
        ready.display()
    );
    env.program("agent", &script);
    let instance = env.launch().await;
    until_async("the agent is deaf", || ready.exists()).await;
    let pid = pid_of(&env, instance.id.as_str()).await;
    stop(&context, &Run::unattended(), &instance.id)
        .await
        .unwrap();
    until_async("the agent has ended", || !is_alive(pid)).await;
    assert!(!instance.worktree_path.exists());
}

#[tokio::test]
async fn clean_puts_away_what_policy_kept() {
    let env = LaunchEnv::new();
    let manual = [("resources.cleanup", "manual")];
    let context = env.context_with(env.repository(), &manual).await;
    let before = env.traces();
    let run = Run::unattended();
    let (saved, dirty, running) = (env.launch().await, env.launch().await, env.launch().await);
    fs::write(dirty.worktree_path.join("new"), "work").unwrap();
    for instance in [&saved, &dirty] {
        let kept = stop(&context, &run, &instance.id).await.unwrap().kept;
        assert!(kept.unwrap().contains("by policy"));
    }
    let stopped = env.traces();
    let planned = clean(&context, &run, CleanMode::Preview, &[])
        .await
        .unwrap();
    let kept: Vec<_> = planned.iter().map(|one| (&one.id, one.kept)).collect();
    assert_eq!(kept, [(&saved.id, false), (&dirty.id, true)]);
    assert_eq!(env.traces(), stopped, "a dry run changes nothing");

    let done = clean(&context, &run, CleanMode::Remove, &[]).await.unwrap();
    let kept: Vec<_> = done.iter().map(|one| (&one.id, one.kept)).collect();
    assert_eq!(kept, [(&saved.id, false), (&dirty.id, true)]);
    assert!(!saved.worktree_path.exists() && dirty.worktree_path.join("new").exists());
    env.assert_stands(&running).await;

    fs::remove_file(dirty.worktree_path.join("new")).unwrap();
    stop(&context, &run, &running.id).await.unwrap();
    clean(&context, &run, CleanMode::Remove, &[]).await.unwrap();
    let mut after = env.traces();
    after.rows.clear();
    assert_eq!(after, before);
}

/// An agent that leaves processes behind in every way a shell knows, and says which.
fn leaves_strays(env: &LaunchEnv) -> String {
    let pids = env.path("pids").display().to_string();
    let stray = format!("sh -c 'trap \"\" HUP TERM; echo $$ >> {pids}; while :; do sleep 1; done'");
    format!(
        "#!/bin/sh\nnohup {stray} >/dev/null 2>&1 &\nsetsid {stray} &\n(setsid {stray} &) &\n\
         exec sleep 1000\n"
    )
}

fn strays(env: &LaunchEnv) -> Vec<u32> {
    let pids = fs::read_to_string(env.path("pids")).unwrap_or_default();
    pids.split_whitespace()
        .map(|pid| pid.parse().unwrap())
        .collect()
}

#[tokio::test]
async fn what_an_agent_has_started_ends_with_it() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    env.program("agent", &leaves_strays(&env));
    let stopped = env.launch().await;
    until_async("three strays run", || strays(&env).len() == 3).await;
    stop(&context, &Run::unattended(), &stopped.id)
        .await
        .unwrap();
    assert!(strays(&env).into_iter().all(|pid| !is_alive(pid)));
    assert!(!stopped.worktree_path.exists());

    // The same when its end is only noticed: all that is left of the agent are the strays.
    fs::remove_file(env.path("pids")).unwrap();
    let crashed = env.launch().await;
    until_async("three strays run", || strays(&env).len() == 3).await;
    env.kill_tmux().await;
    reconcile(&context).await.unwrap();
    assert_eq!(env.instance(&crashed).await.status, Status::Failed);
    assert!(strays(&env).into_iter().all(|pid| !is_alive(pid)));
    assert!(!crashed.worktree_path.exists());
}

#[tokio::test]
async fn other_processes_in_the_worktree_are_left_alone() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let instance = env.launch().await;
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
    assert!(is_alive(persons.id()));
    persons.kill().unwrap();
    persons.wait().unwrap();
}

#[tokio::test]
async fn an_agent_that_outlives_its_terminal_keeps_its_worktree_until_it_is_ended() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let pids = env.path("pids").display().to_string();
    env.program(
        "agent",
        &format!("#!/bin/sh\ntrap '' HUP\necho $$ >> {pids}\nwhile :; do sleep 1; done\n"),
    );
    let instance = env.launch().await;
    until_async("it runs", || strays(&env).len() == 1).await;
    env.tmux(&["kill-server"]);
    until_async("tmux has gone", || env.sessions().is_empty()).await;
    let done = reconcile(&context).await.unwrap();
    assert_eq!(done.changes, []);
    assert!(instance.worktree_path.exists() && is_alive(strays(&env)[0]));
    let row = board(&context, false).await.unwrap().remove(0);
    assert_eq!(row.activity, Activity::TerminalUnreachable);
    assert!(advice_on_terminal(&row.instance).contains("claude-codex stop"));

    let stopped = stop(&context, &Run::unattended(), &instance.id)
        .await
        .unwrap();
    assert_eq!(stopped.kept, None);
    assert!(!instance.worktree_path.exists() && !is_alive(strays(&env)[0]));
}

#[tokio::test]
async fn a_worktree_whose_repository_was_renamed_is_kept_and_it_says_so() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let run = Run::unattended();
    let instance = env.launch().await;
    let renamed = env.repository().with_file_name("renamed");
    fs::rename(env.repository(), &renamed).unwrap();
    let stopped = stop(&context, &run, &instance.id).await.unwrap();
    assert!(stopped.kept.unwrap().contains("is missing"));
    fs::rename(&renamed, env.repository()).unwrap();
    clean(&context, &run, CleanMode::Remove, &[]).await.unwrap();
    assert!(!instance.worktree_path.exists());
}
