//! Launching from anywhere: odd names, subfolders, other worktrees, a detached HEAD.

use shared::workflow::{Run, launch, stop};

use crate::support::{LaunchEnv, request};

#[tokio::test]
async fn in_paths_with_odd_characters() {
    for name in [
        "two words",
        "it's \"quoted\"",
        "a#b#{c}#(d)",
        "größe-日本",
        "$HOME;x",
        "%1",
    ] {
        let env = LaunchEnv::named(name);
        let context = env.context().await;
        let before = env.traces();
        let instance = env.launch().await;
        env.assert_stands(&instance).await;
        let shown = [
            "display-message",
            "-p",
            "-t",
            instance.id.as_str(),
            "#{pane_current_path}",
        ];
        let path = env.tmux(&shown).stdout;
        assert_eq!(
            String::from_utf8(path).unwrap().trim_end(),
            instance.worktree_path.to_str().unwrap()
        );
        stop(&context, &Run::unattended(), &instance.id)
            .await
            .unwrap();
        let mut after = env.traces();
        after.rows.clear();
        assert_eq!(after, before, "{name}");
    }
}

#[tokio::test]
async fn from_a_subfolder() {
    let env = LaunchEnv::new();
    let context = env.context_in(&env.repository().join("sub/folder")).await;
    let run = Run::unattended();
    let instance = launch(&context, &run, request()).await.unwrap();
    env.assert_stands(&instance).await;
    assert!(instance.worktree_path.join("README").exists());
    assert_eq!(instance.repository, env.repository());
}

/// From inside another agent's worktree: based on its branch, but beside it, not in it.
#[tokio::test]
async fn from_inside_another_worktree() {
    let env = LaunchEnv::new();
    let first = env.launch().await;
    let commit = ["commit", "--quiet", "--allow-empty", "-m", "work"];
    env.git_in(&first.worktree_path, &commit);
    let context = env.context_in(&first.worktree_path).await;
    let run = Run::unattended();
    let second = launch(&context, &run, request()).await.unwrap();
    env.assert_stands(&second).await;
    assert_eq!(second.base_branch, first.branch_name.unwrap());
    assert_eq!(second.repository, env.repository());
    assert_eq!(second.worktree_path.parent(), first.worktree_path.parent());
    let tip = |path| env.git_in(path, &["rev-parse", "HEAD"]);
    assert_eq!(tip(&second.worktree_path), tip(&first.worktree_path));
}

#[tokio::test]
async fn from_a_detached_head() {
    let env = LaunchEnv::new();
    env.git(&["commit", "--quiet", "--allow-empty", "-m", "second"]);
    env.git(&["checkout", "--quiet", "--detach", "HEAD~1"]);
    let instance = env.launch().await;
    env.assert_stands(&instance).await;
    let here = env.git(&["rev-parse", "HEAD"]);
    assert_eq!(instance.base_branch, "main", "it has the commit");
    assert_eq!(
        env.git_in(&instance.worktree_path, &["rev-parse", "HEAD"]),
        here
    );
    env.git(&["commit", "--quiet", "--allow-empty", "-m", "elsewhere"]);
    let instance = env.launch().await;
    let here = env.git(&["rev-parse", "HEAD"]);
    assert_eq!(instance.base_branch, here.trim(), "no branch has it");
}

#[tokio::test]
async fn from_a_bare_repository() {
    let env = LaunchEnv::new();
    let bare = env.path("work/bare.git");
    env.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    let context = env.context_in(&bare).await;
    let run = Run::unattended();
    let instance = launch(&context, &run, request()).await.unwrap();
    env.assert_stands(&instance).await;
    stop(&context, &run, &instance.id).await.unwrap();
    assert_eq!(env.git_in(&bare, &["worktree", "list"]).lines().count(), 1);
}
