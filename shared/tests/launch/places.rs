//! Launching from anywhere: odd names, subfolders, other worktrees, a detached HEAD.

use shared::workflow::{Run, launch, stop};

use crate::support::{World, git_in, request};

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
        let world = World::named(name);
        let context = world.context().await;
        let before = world.traces();
        let instance = world.launch().await;
        world.assert_stands(&instance).await;
        let shown = [
            "display-message",
            "-p",
            "-t",
            instance.id.as_str(),
            "#{pane_current_path}",
        ];
        let path = world.tmux(&shown).stdout;
        assert_eq!(
            String::from_utf8(path).unwrap().trim_end(),
            instance.worktree_path.to_str().unwrap()
        );
        stop(&context, &Run::unattended(), &instance.id)
            .await
            .unwrap();
        let mut after = world.traces();
        after.rows.clear();
        assert_eq!(after, before, "{name}");
    }
}

#[tokio::test]
async fn from_a_subfolder() {
    let world = World::new();
    let context = world.context_in(&world.repository.join("sub/folder")).await;
    let run = Run::unattended();
    let instance = launch(&context, &run, request()).await.unwrap();
    world.assert_stands(&instance).await;
    assert!(instance.worktree_path.join("README").exists());
    assert_eq!(instance.repository, world.repository);
}

/// From inside another agent's worktree: based on its branch, but beside it, not in it.
#[tokio::test]
async fn from_inside_another_worktree() {
    let world = World::new();
    let first = world.launch().await;
    let commit = ["commit", "--quiet", "--allow-empty", "-m", "work"];
    git_in(&first.worktree_path, &commit);
    let context = world.context_in(&first.worktree_path).await;
    let run = Run::unattended();
    let second = launch(&context, &run, request()).await.unwrap();
    world.assert_stands(&second).await;
    assert_eq!(second.base_branch, first.branch_name.unwrap());
    assert_eq!(second.repository, world.repository);
    assert_eq!(second.worktree_path.parent(), first.worktree_path.parent());
    let tip = |path| git_in(path, &["rev-parse", "HEAD"]);
    assert_eq!(tip(&second.worktree_path), tip(&first.worktree_path));
}

#[tokio::test]
async fn from_a_detached_head() {
    let world = World::new();
    world.git(&["commit", "--quiet", "--allow-empty", "-m", "second"]);
    world.git(&["checkout", "--quiet", "--detach", "HEAD~1"]);
    let instance = world.launch().await;
    world.assert_stands(&instance).await;
    let here = world.git(&["rev-parse", "HEAD"]);
    assert_eq!(instance.base_branch, here.trim());
    assert_eq!(
        git_in(&instance.worktree_path, &["rev-parse", "HEAD"]),
        here
    );
}

#[tokio::test]
async fn from_a_bare_repository() {
    let world = World::new();
    let bare = world.root.join("work/bare.git");
    world.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    let context = world.context_in(&bare).await;
    let run = Run::unattended();
    let instance = launch(&context, &run, request()).await.unwrap();
    world.assert_stands(&instance).await;
    stop(&context, &run, &instance.id).await.unwrap();
    assert_eq!(git_in(&bare, &["worktree", "list"]).lines().count(), 1);
}
