//! Work that `git status` does not show, and that would go with the worktree.

use std::os::unix::fs::MetadataExt;

use super::*;

async fn uncommitted(repository: &Repository, path: &Path) -> usize {
    let unsaved = repository.unsaved_work(path, Some("topic")).await.unwrap();
    assert_eq!(unsaved.is_nothing(), unsaved.uncommitted == 0);
    unsaved.uncommitted
}

#[tokio::test]
async fn changes_of_files_that_git_was_told_not_to_look_at() {
    for mark in ["--assume-unchanged", "--skip-worktree"] {
        let fixture = Fixture::with_commit();
        commit(&fixture.root, "settings.txt", "default\n");
        let repository = fixture.repository().await;
        let path = fixture.worktree(&repository, "topic").await;
        git(&path, &["update-index", mark, "settings.txt"]);
        assert_eq!(
            uncommitted(&repository, &path).await,
            0,
            "{mark}: as it was"
        );
        std::fs::remove_file(path.join("settings.txt")).unwrap();
        assert_eq!(
            uncommitted(&repository, &path).await,
            0,
            "{mark}: it has a commit"
        );
        std::fs::write(path.join("settings.txt"), "my own\n").unwrap();
        assert_eq!(git(&path, &["status", "--porcelain"]), "");
        assert_eq!(uncommitted(&repository, &path).await, 1, "{mark}");
        assert!(
            !fixture
                .root
                .join(".git/worktrees/topic/claude-codex-index")
                .exists()
        );
        let unsaved = repository.remove_worktree(&path, Some("topic")).await;
        assert!(unsaved.unwrap().is_some() && path.exists());
        git(&path, &["checkout", "--force", "HEAD"]);
        git(
            &path,
            &["update-index", "--no-skip-worktree", "settings.txt"],
        );
        git(
            &path,
            &["update-index", "--no-assume-unchanged", "settings.txt"],
        );
        git(&path, &["checkout", "--force", "HEAD"]);
        let unsaved = repository.remove_worktree(&path, Some("topic")).await;
        assert!(unsaved.unwrap().is_none() && !path.exists());
    }
}

#[tokio::test]
async fn changes_that_a_file_monitor_keeps_to_itself() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let path = fixture.worktree(&repository, "topic").await;
    let monitor = fixture.path("monitor");
    executable(&monitor, "#!/bin/sh\nprintf 'token\\0'\n");
    git(
        &path,
        &["config", "core.fsmonitor", monitor.to_str().unwrap()],
    );
    git(&path, &["config", "core.fsmonitorHookVersion", "2"]);
    // An entry as old as the index is looked at in any case.
    let old = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
    let file = std::fs::File::open(path.join("readme.txt")).unwrap();
    file.set_modified(old).unwrap();
    git(&path, &["update-index", "--refresh", "--fsmonitor"]);
    git(&path, &["status"]);
    std::fs::write(path.join("readme.txt"), "changed\n").unwrap();
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
    assert_eq!(uncommitted(&repository, &path).await, 1);
}

#[tokio::test]
async fn files_of_a_worktree_whose_settings_name_another_folder() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let path = fixture.worktree(&repository, "topic").await;
    let other = fixture.worktree(&repository, "other").await;
    git(&path, &["config", "extensions.worktreeConfig", "true"]);
    git(
        &path,
        &[
            "config",
            "--worktree",
            "core.worktree",
            other.to_str().unwrap(),
        ],
    );
    std::fs::write(path.join("new.txt"), "new\n").unwrap();
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
    assert_eq!(uncommitted(&repository, &path).await, 1);
}

#[tokio::test]
async fn worktrees_inside_a_worktree() {
    let fixture = Fixture::with_commit();
    commit(&fixture.root, ".gitignore", "helpers/\n");
    let repository = fixture.repository().await;
    let path = fixture.worktree(&repository, "topic").await;
    git(
        &path,
        &["worktree", "add", "--quiet", "-b", "helper", "helpers/one"],
    );
    git(
        &path,
        &["worktree", "add", "--quiet", "--detach", "helpers/two"],
    );
    let (one, two) = (path.join("helpers/one"), path.join("helpers/two"));
    let needed = async || {
        let unsaved = repository
            .remove_worktree(&path, Some("topic"))
            .await
            .unwrap();
        unsaved.map(|unsaved| unsaved.worktrees)
    };

    std::fs::write(one.join("new.txt"), "new\n").unwrap();
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
    assert_eq!(needed().await, Some(vec!["helpers/one".into()]));
    commit(&one, "new.txt", "new\n");
    commit(&two, "other.txt", "other\n");
    assert_eq!(
        needed().await,
        Some(vec!["helpers/two".into()]),
        "its branch keeps what one has"
    );
    git(&two, &["branch", "kept"]);
    git(&path, &["worktree", "lock", "helpers/two"]);
    assert_eq!(needed().await, Some(vec!["helpers/two".into()]), "locked");
    git(&path, &["worktree", "unlock", "helpers/two"]);
    assert_eq!(needed().await, None);
    assert!(!path.exists());
    assert_eq!(
        repository.worktrees().await.unwrap().len(),
        1,
        "nothing to prune"
    );
    assert_eq!(fixture.branches(), ["helper", "kept", "main", "topic"]);
}

#[tokio::test]
async fn a_repository_in_a_folder_of_tracked_files() {
    let fixture = Fixture::with_commit();
    std::fs::create_dir_all(fixture.root.join("a/b")).unwrap();
    commit(&fixture.root, "a/b/c.txt", "c\n");
    let repository = fixture.repository().await;
    let path = fixture.worktree(&repository, "topic").await;
    let inner = path.join("a/b");
    git(&inner, &["init", "--quiet", "--initial-branch=main"]);
    commit(&inner, "c.txt", "an idea\n");
    commit(&inner, "c.txt", "c\n");
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
    let unsaved = repository
        .remove_worktree(&path, Some("topic"))
        .await
        .unwrap();
    let submodules = unsaved
        .map(|unsaved| unsaved.submodules)
        .unwrap_or_default();
    assert_eq!(submodules.first().map(|one| one.commits), Some(2));
    assert!(path.exists());
}

#[tokio::test]
async fn commits_of_a_worktree_whose_folder_is_gone() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let path = fixture.worktree(&repository, "topic").await;
    git(&path, &["checkout", "--quiet", "--detach"]);
    let only_here = commit(&path, "new.txt", "new\n");
    let moved = fixture.path("moved");
    std::fs::rename(&path, &moved).unwrap();
    let unsaved = repository
        .remove_worktree(&path, Some("topic"))
        .await
        .unwrap();
    assert_eq!(unsaved.map(|unsaved| unsaved.commits), Some(1));
    git(
        &fixture.root,
        &["worktree", "repair", moved.to_str().unwrap()],
    );
    assert_eq!(git(&moved, &["rev-parse", "HEAD"]), only_here.as_str());

    git(&fixture.root, &["branch", "kept", only_here.as_str()]);
    std::fs::remove_dir_all(&moved).unwrap();
    let gone = repository.remove_worktree(&moved, Some("topic")).await;
    assert_eq!(gone.unwrap(), None);
    assert_eq!(repository.worktrees().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_change_that_keeps_size_and_time_is_seen_whatever_git_is_told_to_compare() {
    for (key, value) in [("core.trustctime", "false"), ("core.checkStat", "minimal")] {
        let fixture = Fixture::with_commit();
        let repository = fixture.repository().await;
        let path = fixture.worktree(&repository, "topic").await;
        git(&path, &["config", key, value]);
        let file = path.join("readme.txt");
        let an_hour_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
        let age = || {
            let file = std::fs::File::options().write(true).open(&file).unwrap();
            file.set_modified(an_hour_ago).unwrap();
        };
        age();
        git(&path, &["update-index", "--refresh"]);
        assert_eq!(uncommitted(&repository, &path).await, 0, "{key}");
        // git compares times of change by the second.
        let changed = || file.metadata().unwrap().ctime();
        let before = changed();
        while changed() == before {
            std::fs::write(&file, "HELLO\n").unwrap();
            age();
        }
        assert_eq!(git(&path, &["status", "--porcelain"]), "", "{key}");
        assert_eq!(uncommitted(&repository, &path).await, 1, "{key}");
    }
}

#[tokio::test]
async fn a_series_of_picks_that_waits_to_go_on_is_unfinished() {
    for (verb, operation) in [
        ("cherry-pick", Operation::CherryPick),
        ("revert", Operation::Revert),
    ] {
        let fixture = Fixture::with_commit();
        for text in ["one\n", "two\n", "three\n", "four\n"] {
            commit(&fixture.root, "readme.txt", text);
        }
        let repository = fixture.repository().await;
        let path = fixture.worktree(&repository, "topic").await;
        let picked = git_command(&path, &[verb, "--no-edit", "HEAD~3", "HEAD~2"])
            .output()
            .unwrap();
        assert!(!picked.status.success(), "it stops at a conflict");
        git(&path, &["checkout", "HEAD", "--", "readme.txt"]);
        let done = ["commit", "--quiet", "--allow-empty", "-m", "done"];
        git(&path, &done);
        git(&path, &["update-ref", "refs/remotes/origin/topic", "HEAD"]);
        assert_eq!(git(&path, &["status", "--porcelain"]), "");
        let unsaved = repository.unsaved_work(&path, Some("topic")).await.unwrap();
        assert_eq!(unsaved.operation, Some(operation), "{verb}");
        git(&path, &[verb, "--quit"]);
        let unsaved = repository.unsaved_work(&path, Some("topic")).await.unwrap();
        assert!(unsaved.is_nothing(), "{verb}");
    }
}
