//! Bringing ended agents back.

use std::fs;

use shared::error::Code;
use shared::model::Status;
use shared::workflow::{Run, Step, reconcile, resume, stop};
use tests::until_async;

use crate::launcher::spawn_resumer;
use crate::support::LaunchEnv;

#[tokio::test]
async fn after_a_failure_in_the_same_worktree() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let instance = env.launch().await;
    fs::write(instance.worktree_path.join("new"), "work").unwrap();
    env.kill_tmux().await;
    reconcile(&context).await.unwrap();
    assert_eq!(env.instance(&instance).await.status, Status::Failed);

    let run = Run::unattended();
    let resumed = resume(&context, &run, &instance.id).await.unwrap();
    assert_eq!(
        (resumed.status, resumed.note.sentence()),
        (Status::Started, None)
    );
    assert!(resumed.worktree_path.join("new").exists());
    fs::remove_file(resumed.worktree_path.join("new")).unwrap();
    env.assert_stands(&resumed).await;
    let again = resume(&context, &run, &instance.id).await.unwrap_err();
    assert_eq!(again.code, Code::IllegalState);
    env.assert_stands(&resumed).await;
}

#[tokio::test]
async fn after_its_worktree_was_removed() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let run = Run::unattended();
    let instance = env.launch().await;
    stop(&context, &run, &instance.id).await.unwrap();
    assert!(!instance.worktree_path.exists());
    let resumed = resume(&context, &run, &instance.id).await.unwrap();
    env.assert_stands(&resumed).await;
    assert_eq!(resumed.id, instance.id);
}

/// Its branch was kept for the commits on it, so it goes on there.
#[tokio::test]
async fn on_the_branch_that_was_kept() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let run = Run::unattended();
    let instance = env.launch().await;
    let commit = ["commit", "--quiet", "--allow-empty", "-m", "work"];
    env.git_in(&instance.worktree_path, &commit);
    let tip = env.git_in(&instance.worktree_path, &["rev-parse", "HEAD"]);
    stop(&context, &run, &instance.id).await.unwrap();
    let path = instance.worktree_path.to_str().unwrap();
    env.git(&["worktree", "remove", "--force", path]);
    let resumed = resume(&context, &run, &instance.id).await.unwrap();
    env.assert_stands(&resumed).await;
    assert_eq!(
        env.git_in(&resumed.worktree_path, &["rev-parse", "HEAD"]),
        tip
    );
}

/// Killed (-9) while it resumes: the row and the work stay, and it can be resumed again.
#[tokio::test]
async fn that_is_killed_keeps_row_and_work() {
    let steps = [
        Step::MakingWorktree,
        Step::WritingAgentFiles,
        Step::StartingSession,
    ];
    for hold_at in steps {
        let env = LaunchEnv::new();
        let context = env.context().await;
        let run = Run::unattended();
        let instance = env.launch().await;
        let work = instance.worktree_path.join("new");
        let worktree_stays = hold_at != Step::MakingWorktree;
        if worktree_stays {
            fs::write(&work, "work").unwrap();
        }
        stop(&context, &run, &instance.id).await.unwrap();
        let mut resumer = spawn_resumer(&env, &instance.id, Some(&hold_at));
        until_async("the resumer waits", || env.path("held").exists()).await;
        resumer.kill().unwrap();
        resumer.wait().unwrap();

        reconcile(&context).await.unwrap();
        let row = env.instance(&instance).await;
        assert_eq!((row.status, row.owner), (Status::Failed, None), "{hold_at}");
        assert_eq!(work.exists(), worktree_stays, "{hold_at}");
        let traces = env.traces();
        assert!(traces.sessions.is_empty() && traces.agent_folders.is_empty());
        if worktree_stays {
            fs::remove_file(&work).unwrap();
        }
        let again = resume(&context, &run, &instance.id).await.unwrap();
        env.assert_stands(&again).await;
    }
}

/// A resume that fails ends as it began: the row and the work stay.
#[tokio::test]
async fn that_fails_keeps_row_and_work() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let run = Run::unattended();
    let instance = env.launch().await;
    fs::write(instance.worktree_path.join("new"), "work").unwrap();
    stop(&context, &run, &instance.id).await.unwrap();
    env.tmux(&[
        "new-session",
        "-d",
        "-s",
        instance.id.as_str(),
        "sleep 1000",
    ]);
    let error = resume(&context, &run, &instance.id).await.unwrap_err();
    assert_eq!(error.code, Code::TmuxFailed, "{error}");
    let row = env.instance(&instance).await;
    assert_eq!((row.status, row.owner), (Status::Failed, None));
    assert!(instance.worktree_path.join("new").exists());
    assert!(env.has_session(&instance.id), "not ours");
}

#[tokio::test]
async fn a_resume_counts_against_the_limit_on_agents() {
    let mut env = LaunchEnv::new();
    let run = Run::unattended();
    let first = env.launch().await;
    stop(&env.context().await, &run, &first.id).await.unwrap();
    env.launch().await;
    env.set("CODEX_RESOURCES_MAX_CONCURRENT_INSTANCES", "1");
    let context = env.context().await;
    let error = resume(&context, &run, &first.id).await.unwrap_err();
    assert_eq!(error.code, Code::InstanceLimitReached, "{error:?}");
    assert_eq!(env.instance(&first).await.status, Status::Terminated);
}

/// git in its worktree would fail, or act on a repository around it.
#[tokio::test]
async fn not_in_a_worktree_of_a_repository_that_was_replaced() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let run = Run::unattended();
    let instance = env.launch().await;
    fs::write(instance.worktree_path.join("new"), "work").unwrap();
    stop(&context, &run, &instance.id).await.unwrap();
    let records = env.repository().join(".git/worktrees");
    fs::remove_dir_all(records).unwrap();
    let refused = resume(&context, &run, &instance.id).await.unwrap_err();
    assert_eq!(refused.code, Code::WorktreePathTaken);
    assert!(refused.to_string().contains("linked worktree"), "{refused}");
    assert!(instance.worktree_path.join("new").exists());
    assert!(env.sessions().is_empty());

    // What the hint says.
    fs::rename(&instance.worktree_path, env.path("saved")).unwrap();
    let resumed = resume(&context, &run, &instance.id).await.unwrap();
    env.assert_stands(&resumed).await;
}
