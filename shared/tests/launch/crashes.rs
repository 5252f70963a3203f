//! Launchers that are killed (-9): one `reconcile` later all is as before, or the agent stands.

use std::fs;
use std::process::Child;
use std::time::Instant;

use rustix::process::{Pid, test_kill_process};
use shared::model::{LaunchStep, Status, TaskStatus};
use shared::workflow::{Run, Step, reconcile, stop};
use tests::until_async;

use crate::launcher::spawn_launcher;
use crate::support::LaunchEnv;

fn kill(mut launcher: Child) {
    // SIGKILL; the launcher has no chance to tidy up.
    launcher.kill().unwrap();
    launcher.wait().unwrap();
}

fn step_of_the_only_row(env: &LaunchEnv) -> LaunchStep {
    let step: String = env
        .connection()
        .query_row("SELECT launch_step FROM instances", [], |row| row.get(0))
        .unwrap();
    step.parse().unwrap()
}

/// Kills a launcher that has come to `hold_at`, reconciles, and expects nothing left.
async fn killed_at(hold_at: &Step, step: LaunchStep) {
    let env = LaunchEnv::new();
    let task = env.task().await;
    let before = env.traces();
    let launcher = spawn_launcher(&env, Some(task.as_str()), Some(hold_at));
    until_async("the launcher waits", || env.path("held").exists()).await;
    kill(launcher);
    assert_eq!(step_of_the_only_row(&env), step);
    assert_eq!(env.task_status(&task).await, TaskStatus::InProgress);

    reconcile(&env.context().await).await.unwrap();
    assert_eq!(env.traces(), before);
    assert_eq!(env.task_status(&task).await, TaskStatus::Open);
    env.assert_stands(&env.launch().await).await;
}

#[tokio::test]
async fn after_the_row() {
    killed_at(&Step::MakingWorktree, LaunchStep::Row).await;
}

#[tokio::test]
async fn after_the_worktree() {
    killed_at(&Step::WritingAgentFiles, LaunchStep::Worktree).await;
}

#[tokio::test]
async fn after_the_files() {
    killed_at(&Step::StartingSession, LaunchStep::Files).await;
}

/// A tmux that makes the session and then never answers, so that the launcher is killed just there.
fn silent_tmux(env: &LaunchEnv) {
    let script = format!(
        "#!/bin/sh\nPATH=\"${{PATH#*:}}\"\ncase \"$*\" in\n*new-session*)\n  echo $$ >> '{0}/pids'\n  tmux \"$@\" >/dev/null; touch '{0}/held'; exec sleep 1000;;\n*) exec tmux \"$@\";;\nesac\n",
        env.root().display()
    );
    env.program("tmux", &script);
}

/// A tmux that makes the session only when it is told to.
fn slow_tmux(env: &LaunchEnv) {
    let script = format!(
        "#!/bin/sh\nPATH=\"${{PATH#*:}}\"\ncase \"$*\" in\n*new-session*)\n  touch '{0}/held'\n  while [ ! -e '{0}/go' ]; do sleep 0.02; done;;\nesac\nexec tmux \"$@\"\n",
        env.root().display()
    );
    env.program("tmux", &script);
}

#[tokio::test]
async fn after_the_session() {
    let env = LaunchEnv::new();
    let task = env.task().await;
    let before = env.traces();
    silent_tmux(&env);
    let launcher = spawn_launcher(&env, Some(task.as_str()), None);
    until_async("the session stands", || env.path("held").exists()).await;
    kill(launcher);
    assert_eq!(step_of_the_only_row(&env), LaunchStep::Session);
    assert_eq!(env.sessions().len(), 1);
    fs::remove_file(env.path("bin/tmux")).unwrap();

    reconcile(&env.context().await).await.unwrap();
    assert_eq!(env.traces(), before);
    assert_eq!(env.task_status(&task).await, TaskStatus::Open);
}

/// An agent that had begun to work when its launcher died keeps its work, and a row that says where.
#[tokio::test]
async fn after_the_session_with_work_begun() {
    let env = LaunchEnv::new();
    env.program("agent", "#!/bin/sh\necho work > begun\nexec sleep 1000\n");
    env.context().await;
    slow_tmux(&env);
    let launcher = spawn_launcher(&env, None, None);
    let worktree = env.repository().parent().unwrap();
    let worktree = worktree.join(".codex-worktrees/repo/work-fix-it-a1");
    until_async("the session is to be made", || env.path("held").exists()).await;
    // The launcher's last step, to write down that everything stands, waits for this.
    let database = env.connection();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    fs::write(env.path("go"), "").unwrap();
    until_async("the agent works", || worktree.join("begun").exists()).await;
    kill(launcher);
    drop(database);
    fs::remove_file(env.path("bin/tmux")).unwrap();

    let context = env.context().await;
    reconcile(&context).await.unwrap();
    reconcile(&context).await.unwrap();
    assert!(worktree.join("begun").exists());
    assert!(env.sessions().is_empty());
    let rows = context.store.read(|r| r.instances(false)).await.unwrap();
    assert_eq!((rows.len(), rows[0].status), (1, Status::Failed));
    let note = rows[0].note.sentence().unwrap();
    assert!(note.contains(worktree.to_str().unwrap()), "{note}");
}

/// Killed while git writes files: git itself lives on for a while, which must not matter.
#[tokio::test]
async fn in_the_middle_of_the_checkout() {
    let env = LaunchEnv::new();
    fs::write(env.repository().join(".gitattributes"), "z* filter=slow\n").unwrap();
    fs::write(env.repository().join("zzz"), "last\n").unwrap();
    env.git(&["add", "."]);
    env.git(&["commit", "--quiet", "-m", "filtered"]);
    let held = env.path("held");
    let slow = format!(
        "echo $PPID > '{0}.new'; mv '{0}.new' '{0}'; sleep 1; cat",
        held.display()
    );
    env.git(&["config", "filter.slow.smudge", &slow]);
    let task = env.task().await;
    let before = env.traces();
    let launcher = spawn_launcher(&env, Some(task.as_str()), None);
    until_async("the checkout runs", || held.exists()).await;
    kill(launcher);
    assert_eq!(step_of_the_only_row(&env), LaunchStep::Worktree);

    reconcile(&env.context().await).await.unwrap();
    assert_eq!(env.traces(), before);
    assert_eq!(env.task_status(&task).await, TaskStatus::Open);
    let git: i32 = fs::read_to_string(&held).unwrap().trim().parse().unwrap();
    let git = Pid::from_raw(git).unwrap();
    until_async("git's end", || test_kill_process(git).is_err()).await;
    assert_eq!(
        env.traces(),
        before,
        "the orphaned git made something again"
    );
}

#[tokio::test]
async fn at_thirty_moments() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let mut before = env.traces();
    let start = Instant::now();
    assert!(spawn_launcher(&env, None, None).wait().unwrap().success());
    let whole = start.elapsed();
    let run = Run::unattended();
    let first = context.store.read(|r| r.instances(true)).await.unwrap();
    stop(&context, &run, &first[0].id).await.unwrap();
    before.rows = env.traces().rows;

    let mut undone = 0;
    for part in 0..30 {
        let jitter = u32::from(uuid::Uuid::new_v4().as_bytes()[0]) * 4;
        let launcher = spawn_launcher(&env, None, None);
        tokio::time::sleep(whole * (part * 1000 + jitter) / 29_000).await;
        kill(launcher);
        reconcile(&context).await.unwrap();
        let live = context.store.read(|r| r.instances(true)).await.unwrap();
        for instance in &live {
            env.assert_stands(instance).await;
            stop(&context, &run, &instance.id).await.unwrap();
            before.rows.insert(instance.id.to_string());
        }
        undone += u32::from(live.is_empty());
        assert_eq!(env.traces(), before, "killed at moment {part} of 30");
    }
    assert!(undone > 0, "no kill came in time");
    env.git_in(env.repository(), &["fsck", "--connectivity-only"]);
}
