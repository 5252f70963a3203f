//! What agents and people may do to a repository that would make others lose work.

use std::os::unix::fs::PermissionsExt;

use super::*;

fn exists(root: &Path, reference: &str) -> bool {
    let shown = git_command(root, &["rev-parse", "--verify", "--quiet", reference]).output();
    shown.unwrap().status.success()
}

#[tokio::test]
async fn a_branch_that_is_another_name_of_one_goes_without_it() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let main = git(&fixture.root, &["rev-parse", "main"]);
    let other = commit(&fixture.root, "b.txt", "b\n");
    git(&fixture.root, &["reset", "--quiet", "--hard", &main]);
    for name in [
        "refs/heads/alias",
        "refs/codex/pull/1/head",
        "refs/codex/pull/2/head",
    ] {
        git(&fixture.root, &["symbolic-ref", name, "refs/heads/main"]);
    }
    repository.delete_saved_branch("alias").await.unwrap();
    assert_eq!(fixture.branches(), ["main"]);
    let tip = Oid::parse(&main).unwrap();
    assert!(
        repository
            .release_ref("refs/codex/pull/1/head", &tip)
            .await
            .unwrap()
    );
    assert!(!exists(&fixture.root, "refs/codex/pull/1/head"));
    repository
        .keep("refs/codex/pull/2/head", &other, None)
        .await
        .unwrap();
    assert_eq!(
        git(&fixture.root, &["rev-parse", "refs/codex/pull/2/head"]),
        other.as_str()
    );
    assert_eq!(git(&fixture.root, &["rev-parse", "main"]), main);
    repository
        .delete_ref("refs/codex/pull/2/head")
        .await
        .unwrap();
    assert!(exists(&fixture.root, "main"));
}

#[tokio::test]
async fn another_name_of_a_branch_does_not_keep_its_commits() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let path = fixture.worktree(&repository, "topic").await;
    let tip = commit(&path, "b.txt", "b\n");
    git(
        &fixture.root,
        &["symbolic-ref", "refs/heads/alias", "refs/heads/topic"],
    );
    git(
        &fixture.root,
        &["symbolic-ref", "refs/tags/alias", "refs/heads/alias"],
    );
    let unsaved = repository
        .remove_worktree(&path, Some("topic"))
        .await
        .unwrap();
    assert_eq!(unsaved.map(|unsaved| unsaved.commits), Some(1));
    git(&path, &["checkout", "--quiet", "--detach", "main"]);
    assert_eq!(repository.delete_saved_branch("topic").await.unwrap(), 1);
    assert_eq!(git(&fixture.root, &["rev-parse", "topic"]), tip.as_str());
    // The same for a reference of ours that a branch is another name of.
    repository
        .keep("refs/codex/pull/1/head", &tip, None)
        .await
        .unwrap();
    git(
        &fixture.root,
        &["symbolic-ref", "refs/heads/pull", "refs/codex/pull/1/head"],
    );
    git(
        &fixture.root,
        &["update-ref", "--no-deref", "-d", "refs/heads/topic"],
    );
    assert!(
        !repository
            .release_ref("refs/codex/pull/1/head", &tip)
            .await
            .unwrap()
    );
    assert!(exists(&fixture.root, "refs/codex/pull/1/head"));
}

/// Whoever deletes the folder of a worktree has not deleted what git keeps of it elsewhere.
#[tokio::test]
async fn the_record_of_a_vanished_worktree_is_replaced_only_if_nothing_is_in_it() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let path = fixture.worktree(&repository, "topic").await;
    git(&path, &["checkout", "--quiet", "--detach"]);
    let work = commit(&path, "b.txt", "b\n");
    std::fs::remove_dir_all(&path).unwrap();
    let topic = Checkout::ExistingBranch {
        name: "topic".to_owned(),
    };
    let refused = repository
        .add_worktree(&path, topic.clone())
        .await
        .unwrap_err();
    assert!(matches!(refused, GitError::PathTaken { .. }), "{refused}");
    let listed = repository.worktrees().await.unwrap();
    assert_eq!(listed[1].head, Some(work.clone()));
    // Kept elsewhere, it is in nobody's way.
    git(&fixture.root, &["branch", "kept", work.as_str()]);
    repository.add_worktree(&path, topic).await.unwrap();
}

#[tokio::test]
async fn staged_files_of_a_vanished_worktree_are_unsaved() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let path = fixture.worktree(&repository, "topic").await;
    std::fs::write(path.join("staged.txt"), "work\n").unwrap();
    git(&path, &["add", "."]);
    std::fs::remove_dir_all(&path).unwrap();
    let unsaved = repository
        .remove_worktree(&path, Some("topic"))
        .await
        .unwrap();
    assert_eq!(unsaved.map(|unsaved| unsaved.uncommitted), Some(1));
    assert!(fixture.root.join(".git/worktrees/topic/index").exists());
}

#[tokio::test]
async fn a_folder_that_cannot_be_read_may_hold_work() {
    let fixture = Fixture::with_commit();
    // As root every folder can be read; this takes that away from git.
    let program = fixture.path("git-without-power");
    executable(
        &program,
        "#!/bin/sh\nif [ \"$(id -u)\" = 0 ]; then\n  exec setpriv --bounding-set=-dac_override,-dac_read_search git \"$@\"\nfi\nexec git \"$@\"\n",
    );
    let weak = ENVIRONMENT
        .iter()
        .fold(Git::new(&program), |git, (name, value)| {
            git.with_env(name, value)
        });
    let repository = weak.discover(&fixture.root).await.unwrap();
    let path = fixture.worktree(&repository, "topic").await;
    std::fs::create_dir(path.join("data")).unwrap();
    std::fs::write(path.join("data/file"), "work\n").unwrap();
    std::fs::set_permissions(path.join("data"), std::fs::Permissions::from_mode(0o0)).unwrap();
    let outcome = repository.remove_worktree(&path, Some("topic")).await;
    assert!(path.join("data").symlink_metadata().is_ok(), "{outcome:?}");
    std::fs::set_permissions(path.join("data"), std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(!matches!(outcome, Ok(None)), "{outcome:?}");
}

/// A remover that was stopped, and went on when others had removed the worktree and made a new one.
#[tokio::test]
async fn who_was_overtaken_leaves_the_new_worktree_alone() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let path = fixture.worktree(&repository, "topic").await;
    // The second look of the removal waits here, and says what it saw when it was told to go on.
    let (waits, goes_on) = (fixture.path("waits"), fixture.path("goes-on"));
    let program = fixture.path("git-that-waits");
    executable(
        &program,
        &format!(
            "#!/bin/sh\ncase \"$PWD $*\" in *.removing*' status '*)\n  git \"$@\" || exit\n  touch '{}'\n  while [ ! -e '{}' ]; do sleep 0.01; done\n  exit;;\nesac\nexec git \"$@\"\n",
            waits.display(),
            goes_on.display()
        ),
    );
    let slow = ENVIRONMENT
        .iter()
        .fold(Git::new(&program), |git, (name, value)| {
            git.with_env(name, value)
        });
    let slow = slow.discover(&fixture.root).await.unwrap();
    let removal = tokio::spawn({
        let path = path.clone();
        async move { slow.remove_worktree(&path, Some("topic")).await }
    });
    let start = std::time::Instant::now();
    while !waits.exists() {
        assert!(start.elapsed() < std::time::Duration::from_mins(1));
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert_eq!(
        repository
            .remove_worktree(&path, Some("topic"))
            .await
            .unwrap(),
        None
    );
    let topic = Checkout::ExistingBranch {
        name: "topic".to_owned(),
    };
    repository.add_worktree(&path, topic).await.unwrap();
    std::fs::write(path.join("staged.txt"), "work\n").unwrap();
    git(&path, &["add", "."]);
    std::fs::write(&goes_on, "").unwrap();
    let outcome = removal.await.unwrap();
    assert!(path.exists(), "{outcome:?}");
    assert_eq!(
        repository.status(&path, 1).await.unwrap().total,
        1,
        "{outcome:?}"
    );
}

#[tokio::test]
async fn the_name_of_a_branch_means_the_branch() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let first = Oid::parse(&git(&fixture.root, &["rev-parse", "HEAD"])).unwrap();
    for name in ["main", "gone", "only-a-tag"] {
        git(&fixture.root, &["tag", name]);
    }
    let second = commit(&fixture.root, "b.txt", "b\n");
    let id = second.as_str();
    for name in [
        "refs/main",
        "refs/remotes/origin/gone",
        &format!("refs/heads/{first}"),
        "refs/heads/refs/heads/main",
    ] {
        git(&fixture.root, &["update-ref", name, id]);
    }
    let third = commit(&fixture.root, "c.txt", "c\n");
    for (name, meant) in [
        ("main", &third),
        ("gone", &second),
        ("only-a-tag", &first),
        ("refs/heads/main", &third),
        (first.as_str(), &first),
    ] {
        assert_eq!(&repository.resolve(name).await.unwrap(), meant, "{name}");
    }
    let apart = repository.ahead_behind("only-a-tag", "main").await.unwrap();
    assert_eq!((apart.ahead, apart.behind), (2, 0));
}

#[tokio::test]
async fn what_a_name_of_ours_keeps_stays_kept() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let tree = git(&fixture.root, &["rev-parse", "main^{tree}"]);
    let made = |message: &str, parent: &str| {
        let made = git(
            &fixture.root,
            &["commit-tree", "-m", message, "-p", parent, &tree],
        );
        Oid::parse(&made).unwrap()
    };
    let (ours, theirs) = (made("ours", "main"), made("theirs", "main"));
    let name = "refs/codex/pull/1/head";
    let keep = async |commit: &Oid, replaces: Option<&Oid>| {
        repository.keep(name, commit, replaces).await.unwrap()
    };
    assert_eq!(keep(&theirs, None).await, name);
    assert_eq!(keep(&theirs, None).await, name);
    // The same name, given by another database.
    let second = format!("{name}.2");
    assert_eq!(keep(&ours, None).await, second);
    let more = made("more", ours.as_str());
    assert_eq!(keep(&more, Some(&ours)).await, second);
    let amended = made("amended", "main");
    assert_eq!(keep(&amended, Some(&more)).await, second);
    let more_of_theirs = made("more", theirs.as_str());
    assert_eq!(keep(&more_of_theirs, None).await, name);
    let kept = repository.kept_refs().await.unwrap();
    assert_eq!(kept, [(name.to_owned(), more_of_theirs), (second, amended)]);
}
