//! Launches that can't be: each says why, with its code, and leaves no trace.

use std::fs;

use shared::error::{Code, Error};
use shared::workflow::LaunchRequest;
use tokio_util::sync::CancellationToken;

use crate::support::{World, git_in, refused, request};

/// Launches, expects this code, and nothing left.
async fn assert_refused(world: &World, request: LaunchRequest, code: Code) -> Error {
    let context = world.context().await;
    let before = world.traces();
    let error = refused(&context, request).await;
    assert_eq!(error.code, code, "{error}");
    assert_eq!(world.traces(), before);
    error
}

#[tokio::test]
async fn outside_of_a_repository() {
    let world = World::new();
    let outside = world.root.join("home");
    let context = world.context_in(&outside).await;
    let error = refused(&context, request()).await;
    assert_eq!(error.code, Code::NotARepository, "{error}");
    assert!(error.message.contains(outside.to_str().unwrap()), "{error}");
}

#[tokio::test]
async fn in_an_empty_repository() {
    let world = World::without_commit("repo");
    let context = world.context().await;
    let error = refused(&context, request()).await;
    assert_eq!(error.code, Code::RepositoryEmpty, "{error}");
    assert!(world.traces().rows.is_empty());
}

#[tokio::test]
async fn onto_a_branch_that_exists() {
    let world = World::new();
    world.git(&["branch", "mine"]);
    let mut request = request();
    request.branch = Some("mine".to_owned());
    let error = assert_refused(&world, request, Code::BranchExists).await;
    assert!(error.message.contains("mine"), "{error}");
}

#[tokio::test]
async fn onto_the_default_branch_of_an_id_that_exists() {
    let world = World::new();
    world.git(&["branch", "codex/work-fix-it-a1"]);
    assert_refused(&world, request(), Code::BranchExists).await;
}

#[tokio::test]
async fn onto_a_branch_that_is_checked_out_elsewhere() {
    let world = World::new();
    let elsewhere = world.root.join("elsewhere");
    world.git(&[
        "worktree",
        "add",
        "--quiet",
        "-b",
        "mine",
        elsewhere.to_str().unwrap(),
    ]);
    let mut onto = request();
    onto.branch = Some("mine".to_owned());
    assert_refused(&world, onto, Code::BranchExists).await;

    // As a base it is fine: nothing is checked out twice.
    fs::write(elsewhere.join("new"), "x").unwrap();
    git_in(&elsewhere, &["add", "."]);
    git_in(&elsewhere, &["commit", "--quiet", "-m", "second"]);
    let mut from = request();
    from.base = Some("mine".to_owned());
    let context = world.context().await;
    let instance = shared::workflow::launch(&context, &shared::workflow::Run::unattended(), from)
        .await
        .unwrap();
    world.assert_stands(&instance).await;
    assert!(instance.worktree_path.join("new").exists());
    assert_eq!(instance.base_branch, "mine");
}

#[tokio::test]
async fn from_a_base_that_does_not_exist() {
    let world = World::new();
    let mut request = request();
    request.base = Some("nowhere".to_owned());
    assert_refused(&world, request, Code::BranchNotFound).await;
}

#[tokio::test]
async fn into_a_path_that_is_taken() {
    let world = World::new();
    let taken = world.repository.parent().unwrap();
    let taken = taken.join(".codex-worktrees/repo/work-fix-it-a1");
    fs::create_dir_all(&taken).unwrap();
    fs::write(taken.join("precious"), "mine").unwrap();
    let error = assert_refused(&world, request(), Code::WorktreePathTaken).await;
    assert!(error.message.contains("work-fix-it-a1"), "{error}");
    assert_eq!(fs::read_to_string(taken.join("precious")).unwrap(), "mine");
}

#[tokio::test]
async fn without_tmux() {
    let mut world = World::new();
    world.set("PATH", &world.bin().display().to_string());
    assert_refused(&world, request(), Code::TmuxMissing).await;
}

#[tokio::test]
async fn with_a_tmux_that_is_too_old() {
    let world = World::new();
    world.program("tmux", "#!/bin/sh\necho 'tmux 3.1c'\n");
    let error = assert_refused(&world, request(), Code::TmuxTooOld).await;
    assert!(error.message.contains("3.1"), "{error}");
}

#[tokio::test]
async fn without_claude() {
    let mut world = World::new();
    world.variables.remove("CODEX_AGENT_COMMAND");
    // A PATH on which nobody has installed claude.
    std::os::unix::fs::symlink(which("tmux"), world.bin().join("tmux")).unwrap();
    world.set("PATH", &world.bin().display().to_string());
    assert_refused(&world, request(), Code::ClaudeMissing).await;
}

#[tokio::test]
async fn with_a_claude_that_is_too_old() {
    let mut world = World::new();
    world.variables.remove("CODEX_AGENT_COMMAND");
    world.program("claude", "#!/bin/sh\necho '2.1.100 (Claude Code)'\n");
    let claude = world.bin().join("claude");
    world.set("CODEX_CLAUDE", &claude.display().to_string());
    let error = assert_refused(&world, request(), Code::ClaudeTooOld).await;
    assert!(error.hint.unwrap().contains("claude update"));
}

#[tokio::test]
async fn without_the_servers() {
    for missing in ["mcp-coding", "claude-codex"] {
        let mut world = World::new();
        fs::remove_file(world.bin().join(missing)).unwrap();
        std::os::unix::fs::symlink(which("tmux"), world.bin().join("tmux")).unwrap();
        world.set("PATH", &world.bin().display().to_string());
        let error = assert_refused(&world, request(), Code::ServerMissing).await;
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
    let world = World::new();
    fs::write(world.repository.join(".gitattributes"), "z* filter=full\n").unwrap();
    fs::write(world.repository.join("zzz"), "last\n").unwrap();
    world.git(&["add", "."]);
    world.git(&["commit", "--quiet", "-m", "filtered"]);
    let fails = "echo 'No space left on device' >&2; exit 1";
    world.git(&["config", "filter.full.smudge", fails]);
    world.git(&["config", "filter.full.required", "true"]);
    let task = world.task().await;
    let mut request = request();
    request.task = Some(task.clone());
    let error = assert_refused(&world, request, Code::GitFailed).await;
    assert!(error.message.contains("No space left"), "{error}");
    assert_eq!(
        world.task_status(&task).await,
        shared::model::TaskStatus::Open
    );
}

/// The agent's files can't be written: everything before them goes too.
#[tokio::test]
async fn when_the_agents_files_cannot_be_written() {
    let world = World::new();
    world.database();
    fs::write(world.root.join("state/agents"), "in the way").unwrap();
    let context = world.context().await;
    let error = refused(&context, request()).await;
    assert_eq!(error.code, Code::AgentFailed, "{error}");
    fs::remove_file(world.root.join("state/agents")).unwrap();
    let traces = world.traces();
    assert!(
        traces.rows.is_empty() && traces.worktrees.len() == 1,
        "{traces:?}"
    );
    assert_eq!(traces.branches.len(), 1);
}

/// The session can't be made: somebody has one of that name.
#[tokio::test]
async fn when_the_session_cannot_be_made() {
    let world = World::new();
    world.tmux(&["new-session", "-d", "-s", "work-fix-it-a1", "sleep 1000"]);
    assert_refused(&world, request(), Code::TmuxFailed).await;
}

#[tokio::test]
async fn beyond_the_limit() {
    let world = World::new();
    let limit = [("resources.maxConcurrentInstances", "2")];
    let context = world.context_with(&world.repository, &limit).await;
    for _ in 0..2 {
        let run = shared::workflow::Run::unattended();
        shared::workflow::launch(&context, &run, request())
            .await
            .unwrap();
    }
    let before = world.traces();
    let error = refused(&context, request()).await;
    assert_eq!(error.code, Code::InstanceLimitReached, "{error}");
    assert_eq!(world.traces(), before);
}

/// Cancelled as each step begins, nothing stays of the steps before.
#[tokio::test]
async fn when_cancelled_at_any_step() {
    let world = World::new();
    let context = world.context().await;
    let before = world.traces();
    let steps = [
        "Checking the repository",
        "Making the worktree",
        "Writing the agent's files",
        "Starting the session",
    ];
    for cancel_at in steps {
        let token = CancellationToken::new();
        let cancel = token.clone();
        let run = shared::workflow::Run::new(token, move |step| {
            if step == cancel_at {
                cancel.cancel();
            }
        });
        let error = shared::workflow::launch(&context, &run, request())
            .await
            .unwrap_err();
        assert_eq!(error.code, Code::Cancelled, "{cancel_at}");
        assert_eq!(world.traces(), before, "cancelled at {cancel_at}");
    }
}

/// Cancelled at any moment, also inside of a step.
#[tokio::test]
async fn when_cancelled_at_any_moment() {
    let world = World::new();
    let context = world.context().await;
    let before = world.traces();
    let start = std::time::Instant::now();
    let whole = world.launch().await;
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
                world.assert_stands(&instance).await;
                let run = shared::workflow::Run::unattended();
                shared::workflow::stop(&context, &run, &instance.id)
                    .await
                    .unwrap();
            }
            Err(error) => assert_eq!(error.code, Code::Cancelled, "{error}"),
        }
        let after = world.traces();
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
    let world = World::new();
    let named = std::ffi::OsStr::from_bytes(b"inv\xffalid");
    let repository = world.repository.with_file_name(named);
    std::fs::rename(&world.repository, &repository).unwrap();
    let context = world.context_in(&repository).await;
    refused(&context, request()).await;
    let beside = std::fs::read_dir(repository.parent().unwrap()).unwrap();
    assert_eq!(beside.count(), 1, "no folder of worktrees");
    assert!(world.sessions().is_empty());
}
