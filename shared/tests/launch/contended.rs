//! Two who act on one agent, one commit or one place at the same time.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use shared::error::Code;
use shared::model::Status;
use shared::workflow::{CleanMode, Run, Step, clean, launch, reconcile, resume, stop};
use tests::until_async;
use tokio_util::sync::CancellationToken;

use crate::launcher::{spawn_launcher, spawn_resumer, this_binary};
use crate::support::{LaunchEnv, request};

#[tokio::test]
async fn an_agent_that_is_stopped_while_it_is_started_does_not_run() {
    for hold_at in [Step::WritingAgentFiles, Step::StartingSession] {
        let mut env = LaunchEnv::new();
        // Else the worktree is gone, and without one no agent begins.
        env.set("CODEX_RESOURCES_CLEANUP", "manual");
        let context = env.context().await;
        let mut launcher = spawn_launcher(&env, None, Some(&hold_at));
        let held = env.path("held");
        until_async("the launcher waits", || held.exists()).await;
        let rows = context.store.read(|r| r.instances(true)).await.unwrap();
        stop(&context, &Run::unattended(), &rows[0].id)
            .await
            .unwrap();
        fs::remove_file(&held).unwrap();
        launcher.wait().unwrap();

        let row = env.instance(&rows[0]).await;
        assert_eq!(
            (row.status, row.owner),
            (Status::Terminated, None),
            "{hold_at}"
        );
        let traces = env.traces();
        assert!(traces.sessions.is_empty(), "{hold_at}: {traces:?}");
        assert!(traces.agent_folders.is_empty(), "{hold_at}: {traces:?}");
        let again = resume(&context, &Run::unattended(), &row.id).await.unwrap();
        env.assert_stands(&again).await;
    }
}

#[tokio::test]
async fn clean_leaves_an_agent_alone_that_was_resumed_meanwhile() {
    let mut env = LaunchEnv::new();
    env.set("CODEX_RESOURCES_CLEANUP", "manual");
    let context = env.context().await;
    let instance = env.launch().await;
    stop(&context, &Run::unattended(), &instance.id)
        .await
        .unwrap();
    assert!(instance.worktree_path.exists());
    // By another process, after `clean` has looked and before it acts.
    let row = instance.id.clone();
    let env = std::sync::Arc::new(env);
    let there = env.clone();
    let run = Run::new(CancellationToken::new(), move |_| {
        let mut resumer = spawn_resumer(&there, &row, None);
        assert!(resumer.wait().unwrap().success());
    });
    assert_eq!(
        clean(&context, &run, CleanMode::Remove, &[]).await.unwrap(),
        []
    );
    env.assert_stands(&env.instance(&instance).await).await;
}

#[tokio::test]
async fn two_agents_with_the_same_commit_that_end_at_once_keep_it() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let run = Run::unattended();
    let first = env.launch().await;
    fs::write(first.worktree_path.join("new"), "work").unwrap();
    env.git_in(&first.worktree_path, &["add", "new"]);
    env.git_in(&first.worktree_path, &["commit", "--quiet", "-m", "work"]);
    let commit = env.git_in(&first.worktree_path, &["rev-parse", "HEAD"]);
    let commit = commit.trim();
    let mut onto = request();
    onto.base = first.branch_name.clone();
    let second = launch(&context, &run, onto).await.unwrap();
    // Whoever is about to delete a branch waits a second for the other to come as far.
    let real = Command::new("which").arg("git").output().unwrap();
    let real = String::from_utf8(real.stdout).unwrap();
    let here = env.path("here");
    fs::create_dir(&here).unwrap();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *update-ref*-d*refs/heads*)\n  touch '{0}'/$$; i=0\n  \
         while [ \"$(ls '{0}' | wc -l)\" -lt 2 ] && [ $i -lt 20 ]; do i=$((i+1)); sleep 0.05; done;;\nesac\n\
         exec {1} \"$@\"\n",
        here.display(),
        real.trim()
    );
    let git = env.program("git", &script);
    let stop_by_itself = |id: &str| {
        let mut command = this_binary(&env, "launcher::stops_once");
        command.env("TEST_STOP", id).spawn().unwrap()
    };
    let both = [&first.id, &second.id].map(|id| stop_by_itself(id.as_str()));
    for mut one in both {
        assert!(one.wait().unwrap().success());
    }
    fs::remove_file(git).unwrap();
    let kept = env.git(&["for-each-ref", "--contains", commit]);
    assert_eq!(kept.lines().count(), 1, "one branch keeps it: {kept}");
}

#[tokio::test]
async fn an_agent_of_another_state_folder_in_the_same_place_keeps_its_worktree() {
    let mut env = LaunchEnv::new();
    let context = env.context().await;
    let run = Run::unattended();
    let ours = env.launch().await;
    stop(&context, &run, &ours.id).await.unwrap();
    assert!(!ours.worktree_path.exists());
    let state = env.path("state-2").display().to_string();
    env.set("CODEX_STATE_DIR", &state);
    let theirs = env.launch().await;
    assert_eq!(theirs.worktree_path, ours.worktree_path);

    clean(&context, &run, CleanMode::Remove, &[]).await.unwrap();
    stop(&context, &run, &ours.id).await.unwrap();
    let error = resume(&context, &run, &ours.id).await.unwrap_err();
    assert_eq!(error.code, Code::WorktreePathTaken, "{error:?}");
    env.assert_stands(&theirs).await;
    let theirs_now = env.context().await;
    stop(&theirs_now, &run, &theirs.id).await.unwrap();
    assert!(!theirs.worktree_path.exists());
}

#[tokio::test]
async fn stop_does_not_wait_until_a_locked_repository_is_free() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let run = Run::unattended();
    let instance = env.launch().await;
    let lock = File::create(env.repository().join(".git/claude-codex.lock")).unwrap();
    lock.lock().unwrap();
    let begun = Instant::now();
    let stopped = stop(&context, &run, &instance.id).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(20), "it waits");
    assert!(stopped.kept.unwrap().contains("removed later"));
    assert!(env.sessions().is_empty() && instance.worktree_path.exists());
    drop(lock);
    reconcile(&context).await.unwrap();
    assert!(!instance.worktree_path.exists());
    assert!(env.traces().branches.len() == 1);
}

/// A sandbox may have process numbers of its own, in which nobody of the machine is to be seen.
#[tokio::test]
async fn from_inside_a_sandbox_a_launcher_on_the_machine_is_not_taken_for_dead() {
    let on_the_machine = fs::read_link("/proc/self/ns/pid")
        .is_ok_and(|space| space.as_os_str() == "pid:[4026531836]");
    let sandbox = ["-r", "-p", "-f", "--mount-proc"];
    let tried = Command::new("unshare").args(sandbox).arg("true").output();
    if !on_the_machine || !tried.is_ok_and(|tried| tried.status.success()) {
        return;
    }
    let env = LaunchEnv::new();
    let mut launcher = spawn_launcher(&env, None, Some(&Step::StartingSession));
    let held = env.path("held");
    until_async("the launcher waits", || held.exists()).await;
    let before = env.traces();
    let reconciles = this_binary(&env, "launcher::reconciles_once");
    let mut inside = Command::new("unshare");
    inside
        .args(sandbox)
        .arg(reconciles.get_program())
        .args(reconciles.get_args())
        .env_clear()
        .envs(env.variables())
        .current_dir(env.repository())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    assert!(inside.status().unwrap().success());
    assert_eq!(env.traces(), before);
    fs::remove_file(&held).unwrap();
    assert!(launcher.wait().unwrap().success());
}

#[tokio::test]
async fn the_folder_of_worktrees_goes_by_the_settings_of_its_own_repository() {
    let env = LaunchEnv::named("trees");
    let instance = env.launch().await;
    let elsewhere = env.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let root = [("resources.worktreeRoot", "other/trees")];
    let context = env.context_with(&elsewhere, &root).await;
    let run = Run::unattended();
    stop(&context, &run, &instance.id).await.unwrap();
    let folder = instance.worktree_path.ancestors().nth(2).unwrap();
    assert!(!folder.exists(), "{}", folder.display());
}
