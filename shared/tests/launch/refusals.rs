//! Launches that can't be: each says why, with its code, and leaves no trace.

use std::fs;

use shared::error::{Code, Error};
use shared::workflow::{LaunchRequest, Step};
use tokio_util::sync::CancellationToken;

use crate::support::{LaunchEnv, refused, request};

/// Launches, expects this code, and nothing left.
async fn assert_refused(env: &LaunchEnv, request: LaunchRequest, code: Code) -> Error {
    let context = env.context().await;
    let before = env.traces();
    let error = refused(&context, request).await;
    assert_eq!(error.code, code, "{error}");
    assert_eq!(env.traces(), before);
    error
}

#[tokio::test]
async fn outside_of_a_repository() {
    let env = LaunchEnv::new();
    let outside = env.path("home");
    let context = env.context_in(&outside).await;
    let error = refused(&context, request()).await;
    assert_eq!(error.code, Code::NotARepository, "{error}");
    assert!(error.message.contains(outside.to_str().unwrap()), "{error}");
}

#[tokio::test]
async fn in_an_empty_repository() {
    let env = LaunchEnv::without_commit("repo");
    let context = env.context().await;
    let error = refused(&context, request()).await;
    assert_eq!(error.code, Code::RepositoryEmpty, "{error}");
    assert!(env.traces().rows.is_empty());
}

#[tokio::test]
async fn onto_the_default_branch_of_an_id_that_exists() {
    let env = LaunchEnv::new();
    env.git(&["branch", "codex/work-fix-it-a1"]);
    assert_refused(&env, request(), Code::BranchExists).await;
}

#[tokio::test]
async fn onto_a_branch_that_is_checked_out_elsewhere() {
    let env = LaunchEnv::new();
    let elsewhere = env.path("elsewhere");
    env.git(&[
        "worktree",
        "add",
        "--quiet",
        "-b",
        "mine",
        elsewhere.to_str().unwrap(),
    ]);
    let mut onto = request();
    onto.branch = Some("mine".to_owned());
    assert_refused(&env, onto, Code::BranchExists).await;

    // As a base it is fine: nothing is checked out twice.
    fs::write(elsewhere.join("new"), "x").unwrap();
    env.git_in(&elsewhere, &["add", "."]);
    env.git_in(&elsewhere, &["commit", "--quiet", "-m", "second"]);
    let mut from = request();
    from.base = Some("mine".to_owned());
    let context = env.context().await;
    let instance = shared::workflow::launch(&context, &shared::workflow::Run::unattended(), from)
        .await
        .unwrap();
    env.assert_stands(&instance).await;
    assert!(instance.worktree_path.join("new").exists());
    assert_eq!(instance.base_branch, "mine");
}

#[tokio::test]
async fn from_a_base_that_does_not_exist() {
    let env = LaunchEnv::new();
    let mut request = request();
    request.base = Some("nowhere".to_owned());
    assert_refused(&env, request, Code::BranchNotFound).await;
}

#[tokio::test]
async fn into_a_path_that_is_taken() {
    let env = LaunchEnv::new();
    let taken = env.repository().parent().unwrap();
    let taken = taken.join(".codex-worktrees/repo/work-fix-it-a1");
    fs::create_dir_all(&taken).unwrap();
    fs::write(taken.join("precious"), "mine").unwrap();
    let error = assert_refused(&env, request(), Code::WorktreePathTaken).await;
    assert!(error.message.contains("work-fix-it-a1"), "{error}");
    assert_eq!(fs::read_to_string(taken.join("precious")).unwrap(), "mine");
}

#[tokio::test]
async fn without_tmux() {
    let mut env = LaunchEnv::new();
    let bin = env.path("bin");
    env.set("PATH", bin.to_string_lossy());
    assert_refused(&env, request(), Code::TmuxMissing).await;
}

#[tokio::test]
async fn with_a_tmux_that_is_too_old() {
    let env = LaunchEnv::new();
    env.program("tmux", "#!/bin/sh\necho 'tmux 3.1c'\n");
    let error = assert_refused(&env, request(), Code::TmuxTooOld).await;
    assert!(error.message.contains("3.1"), "{error}");
}

#[tokio::test]
async fn without_claude() {
    let mut env = LaunchEnv::new();
    env.unset("CODEX_AGENT_COMMAND");
    // A PATH on which nobody has installed claude.
    std::os::unix::fs::symlink(which("tmux"), env.path("bin/tmux")).unwrap();
    let bin = env.path("bin");
    env.set("PATH", bin.to_string_lossy());
    assert_refused(&env, request(), Code::ClaudeMissing).await;
}

#[tokio::test]
async fn with_a_claude_that_is_too_old() {
    let mut env = LaunchEnv::new();
    env.unset("CODEX_AGENT_COMMAND");
    env.program("claude", "#!/bin/sh\necho '2.1.100 (Claude Code)'\n");
    let claude = env.path("bin").join("claude");
    env.set("CODEX_CLAUDE", claude.display().to_string());
    let error = assert_refused(&env, request(), Code::ClaudeTooOld).await;
    assert!(error.hint.unwrap().contains("claude update"));
}

#[tokio::test]
async fn without_the_servers() {
    for missing in ["mcp-coding", "claude-codex"] {
        let mut env = LaunchEnv::new();
        fs::remove_file(env.path("bin").join(missing)).unwrap();
        std::os::unix::fs::symlink(which("tmux"), env.path("bin/tmux")).unwrap();
        let bin = env.path("bin");
        env.set("PATH", bin.to_string_lossy());
        let error = assert_refused(&env, request(), Code::ServerMissing).await;
        assert!(error.message.contains(missing), "{error}");
    }
}

fn which(name: &str) -> std::path::PathBuf {
    let search = std::env::var_os("PATH").unwrap();
    let mut found = std::env::split_paths(&search).map(|folder| folder.join(name));
    found.find(|path| path.is_file()).unwrap()
}

/// A checkout that fails half-way, as it does when the disk is full.
#[tokio::test]
async fn when_the_checkout_fails_in_the_middle() {
    let env = LaunchEnv::new();
    fs::write(env.repository().join(".gitattributes"), "z* filter=full\n").unwrap();
    fs::write(env.repository().join("zzz"), "last\n").unwrap();
    env.git(&["add", "."]);
    env.git(&["commit", "--quiet", "-m", "filtered"]);
    let fails = "echo 'No space left on device' >&2; exit 1";
    env.git(&["config", "filter.full.smudge", fails]);
    env.git(&["config", "filter.full.required", "true"]);
    let task = env.task().await;
    let mut request = request();
    request.task = Some(task.clone());
    let error = assert_refused(&env, request, Code::GitFailed).await;
    assert!(error.message.contains("No space left"), "{error}");
    assert_eq!(
        env.task_status(&task).await,
        shared::model::TaskStatus::Open
    );
}

/// The agent's files can't be written: everything before them goes too.
#[tokio::test]
async fn when_the_agents_files_cannot_be_written() {
    let env = LaunchEnv::new();
    env.connection();
    fs::write(env.path("state/agents"), "in the way").unwrap();
    let context = env.context().await;
    let error = refused(&context, request()).await;
    assert_eq!(error.code, Code::AgentFailed, "{error}");
    fs::remove_file(env.path("state/agents")).unwrap();
    let traces = env.traces();
    assert!(
        traces.rows.is_empty() && traces.worktrees.len() == 1,
        "{traces:?}"
    );
    assert_eq!(traces.branches.len(), 1);
}

/// The session can't be made: somebody has one of that name.
#[tokio::test]
async fn when_the_session_cannot_be_made() {
    let env = LaunchEnv::new();
    env.tmux(&["new-session", "-d", "-s", "work-fix-it-a1", "sleep 1000"]);
    assert_refused(&env, request(), Code::TmuxFailed).await;
}

#[tokio::test]
async fn beyond_the_limit() {
    let env = LaunchEnv::new();
    let limit = [("resources.maxConcurrentInstances", "2")];
    let context = env.context_with(env.repository(), &limit).await;
    for _ in 0..2 {
        let run = shared::workflow::Run::unattended();
        shared::workflow::launch(&context, &run, request())
            .await
            .unwrap();
    }
    let before = env.traces();
    let error = refused(&context, request()).await;
    assert_eq!(error.code, Code::InstanceLimitReached, "{error}");
    assert_eq!(env.traces(), before);
}

/// Cancelled as each step begins, nothing stays of the steps before.
#[tokio::test]
async fn when_cancelled_at_any_step() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let before = env.traces();
    let steps = [
        Step::CheckingRepository,
        Step::MakingWorktree,
        Step::WritingAgentFiles,
        Step::StartingSession,
    ];
    for cancel_at in steps {
        let token = CancellationToken::new();
        let cancel = token.clone();
        let at = cancel_at.to_string();
        let run = shared::workflow::Run::new(token, move |step| {
            if step == at {
                cancel.cancel();
            }
        });
        let error = shared::workflow::launch(&context, &run, request())
            .await
            .unwrap_err();
        assert_eq!(error.code, Code::Cancelled, "{cancel_at}");
        assert_eq!(env.traces(), before, "cancelled at {cancel_at}");
    }
}

/// Cancelled at any moment, also inside of a step.
#[tokio::test]
async fn when_cancelled_at_any_moment() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let before = env.traces();
    let start = std::time::Instant::now();
    let whole = env.launch().await;
    let took = start.elapsed();
    shared::workflow::stop(&context, &shared::workflow::Run::unattended(), &whole.id)
        .await
        .unwrap();
    for part in 0..10 {
        let token = CancellationToken::new();
        let run = shared::workflow::Run::new(token.clone(), |_| ());
        let cancel = async {
            tokio::time::sleep(took * part / 10).await;
            token.cancel();
        };
        let (launched, ()) =
            tokio::join!(shared::workflow::launch(&context, &run, request()), cancel);
        match launched {
            Ok(instance) => {
                env.assert_stands(&instance).await;
                let run = shared::workflow::Run::unattended();
                shared::workflow::stop(&context, &run, &instance.id)
                    .await
                    .unwrap();
            }
            Err(error) => assert_eq!(error.code, Code::Cancelled, "{error}"),
        }
        let after = env.traces();
        assert_eq!(
            (&after.sessions, &after.worktrees),
            (&before.sessions, &before.worktrees)
        );
        assert_eq!(
            (&after.branches, &after.agent_folders),
            (&before.branches, &before.agent_folders)
        );
        assert_eq!(after.beside, before.beside);
    }
}

/// Rows keep paths as text, so nobody would find such a worktree again.
#[tokio::test]
async fn in_a_repository_whose_path_is_not_text() {
    use std::os::unix::ffi::OsStrExt;
    let env = LaunchEnv::new();
    let named = std::ffi::OsStr::from_bytes(b"inv\xffalid");
    let repository = env.repository().with_file_name(named);
    std::fs::rename(env.repository(), &repository).unwrap();
    let context = env.context_in(&repository).await;
    refused(&context, request()).await;
    let beside = std::fs::read_dir(repository.parent().unwrap()).unwrap();
    assert_eq!(beside.count(), 1, "no folder of worktrees");
    assert!(env.sessions().is_empty());
}
