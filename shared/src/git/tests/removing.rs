//! Removing worktrees: killed half-way, with work that appears, and the lock held only as long as needed.

use std::path::{Path, PathBuf};

use super::*;

/// What an interrupted removal leaves: the worktree under its other name, with or without git's record of it.
fn set_aside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap().to_str().unwrap();
    let aside = path.with_file_name(format!(".{name}.removing"));
    std::fs::rename(path, &aside).unwrap();
    aside
}

#[tokio::test]
async fn an_interrupted_removal_leaves_the_worktree_whole_or_gone() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let path = fixture.worktree(&repository, "topic").await;
    std::fs::write(path.join("untracked"), "x").unwrap();

    // Killed before git had forgotten it: it may even have been used there meanwhile.
    let aside = set_aside(&path);
    let record = fixture.root.join(".git/worktrees/topic/gitdir");
    std::fs::write(&record, format!("{}\n", aside.join(".git").display())).unwrap();
    let unsaved = repository.remove_worktree(&path, None).await.unwrap();
    assert_eq!(unsaved.map(|unsaved| unsaved.uncommitted), Some(1));
    assert!(!aside.exists());
    assert_eq!(repository.status(&path, 1).await.unwrap().total, 1);
    let listed = repository.worktrees().await.unwrap();
    assert_eq!(
        (listed[1].path.as_path(), &listed[1].prunable),
        (path.as_path(), &None)
    );

    let aside = set_aside(&path);
    repository.restore_worktree(&path).await.unwrap();
    assert!(path.join("untracked").exists() && !aside.exists());

    // Killed after that, while files were deleted.
    let aside = set_aside(&path);
    std::fs::remove_dir_all(fixture.root.join(".git/worktrees/topic")).unwrap();
    std::fs::remove_file(aside.join("readme.txt")).unwrap();
    repository.restore_worktree(&path).await.unwrap();
    assert!(!path.exists() && !aside.exists());
}

#[tokio::test]
async fn a_worktree_that_names_the_record_of_another_does_not_take_it_along() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let victim = fixture.worktree(&repository, "victim").await;
    let path = fixture.worktree(&repository, "topic").await;
    std::fs::copy(victim.join(".git"), path.join(".git")).unwrap();
    let aside = set_aside(&path);
    repository.restore_worktree(&path).await.unwrap();
    assert!(!path.exists() && !aside.exists());
    assert!(repository.status(&victim, 1).await.unwrap().is_clean());
    repository.erase_worktree(&path).await.unwrap();
    assert!(repository.status(&victim, 1).await.unwrap().is_clean());
}

#[tokio::test]
async fn work_that_appears_while_a_worktree_is_being_removed_is_kept() {
    let fixture = Fixture::with_commit();
    let path = fixture.path("topic");
    // As something would that is still running there: when the first look is over.
    let hook = fixture.path("late");
    let script = format!(
        "#!/bin/sh\n\"{}\" \"$@\"; code=$?\ncase \"$*\" in *rev-list*--count*) echo late > '{}/late.txt';; esac\nexit $code\n",
        "git",
        path.display()
    );
    executable(&hook, &script);
    let repository = fixture.repository().await;
    fixture.worktree(&repository, "topic").await;
    let meddled = ENVIRONMENT
        .iter()
        .fold(Git::new(&hook), |git, (name, value)| {
            git.with_env(name, value)
        });
    let meddled = meddled.discover(&fixture.root).await.unwrap();
    let unsaved = meddled.remove_worktree(&path, Some("topic")).await.unwrap();
    assert_eq!(unsaved.map(|unsaved| unsaved.uncommitted), Some(1));
    assert_eq!(
        std::fs::read_to_string(path.join("late.txt")).unwrap(),
        "late\n"
    );
}

#[tokio::test]
async fn files_are_deleted_outside_the_lock() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let path = fixture.worktree(&repository, "topic").await;
    let held = repository.lock().await.unwrap();
    let error = repository
        .clone()
        .with_lock_timeout(std::time::Duration::from_millis(50))
        .remove_worktree(&path, None)
        .await
        .unwrap_err();
    assert!(matches!(error, GitError::LockTimeout { .. }), "{error}");
    assert!(repository.status(&path, 1).await.unwrap().is_clean());
    drop(held);
    let waste = set_aside(&path);
    std::fs::remove_dir_all(fixture.root.join(".git/worktrees/topic")).unwrap();
    repository.delete_waste(path.parent().unwrap()).await;
    assert!(waste.exists(), "somebody may be deleting it at this moment");
}

#[tokio::test]
async fn waste_is_what_was_a_worktree_of_this_repository() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let path = fixture.worktree(&repository, "topic").await;
    let folder = path.parent().unwrap();
    let aside = set_aside(&path);
    let mut all = vec![aside.clone()];
    // Others' folders, whatever they are called, and what names another repository.
    for name in [
        ".other.removing",
        ".plan.removing-old-code",
        ".x.removing-2",
    ] {
        let other = folder.join(name);
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join("precious"), "x").unwrap();
        all.push(other);
    }
    std::fs::write(all[3].join(".git"), "gitdir: /nowhere/.git/worktrees/x\n").unwrap();
    let found = |all: &[PathBuf]| {
        let waste = all.iter().filter(|path| repository.is_waste(path));
        waste.cloned().collect::<Vec<_>>()
    };
    assert_eq!(found(&all), [] as [PathBuf; 0], "git still knows it");
    std::fs::remove_dir_all(fixture.root.join(".git/worktrees")).unwrap();
    assert_eq!(found(&all), [aside]);
}
