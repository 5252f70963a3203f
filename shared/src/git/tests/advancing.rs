//! Moving a branch with the worktrees that have it checked out, and finishing what was interrupted.

use super::*;

const OURS: &str = "claude-codex: a merge moves this worktree\n";

/// A repository whose `main` is checked out and whose `topic` is ahead of it: it changes, adds, removes.
fn ahead() -> (Fixture, Oid, Oid) {
    let fixture = Fixture::with_commit();
    let root = &fixture.root;
    std::fs::create_dir(root.join("folder")).unwrap();
    for file in ["changed.txt", "folder/removed.txt", "mine.txt"] {
        commit(root, file, "old\n");
    }
    let from = Oid::parse(&git(root, &["rev-parse", "HEAD"])).unwrap();
    git(root, &["switch", "--quiet", "-c", "topic"]);
    commit(root, "changed.txt", "new and longer\n");
    commit(root, "added.txt", "added\n");
    git(root, &["rm", "--quiet", "folder/removed.txt"]);
    git(root, &["commit", "--quiet", "-m", "remove"]);
    let to = Oid::parse(&git(root, &["rev-parse", "HEAD"])).unwrap();
    git(root, &["switch", "--quiet", "main"]);
    (fixture, from, to)
}

fn status(fixture: &Fixture) -> String {
    git(&fixture.root, &["status", "--porcelain"])
}

/// Nothing of ours is left in the git directory but the lock that takes turns.
fn assert_tidy(fixture: &Fixture) {
    for name in [
        "index.lock",
        "claude-codex.index",
        "claude-codex.index.lock",
        "claude-codex.mark",
    ] {
        assert!(!fixture.root.join(".git").join(name).exists(), "{name}");
    }
}

#[tokio::test]
async fn a_branch_moves_with_its_checkouts_from_where_it_was_seen() {
    let (fixture, from, to) = ahead();
    let repository = fixture.repository().await;
    let second = fixture.path("second");
    let second_path = second.to_str().unwrap();
    git(
        &fixture.root,
        &["worktree", "add", "--quiet", "--force", second_path, "main"],
    );
    let turn = repository.lock_merges().await.unwrap();
    let error = repository
        .advance(&turn, "main", &to, &from)
        .await
        .unwrap_err();
    assert!(matches!(error, GitError::BranchMoved { .. }), "{error}");
    // Not in the way: kept as they are.
    std::fs::write(fixture.root.join("mine.txt"), "mine\n").unwrap();
    std::fs::write(fixture.root.join("staged.txt"), "mine\n").unwrap();
    git(&fixture.root, &["add", "staged.txt"]);
    repository.advance(&turn, "main", &from, &to).await.unwrap();
    assert_eq!(git(&fixture.root, &["rev-parse", "main"]), to.as_str());
    assert_eq!(status(&fixture), "M mine.txt\nA  staged.txt");
    assert_eq!(git(&second, &["status", "--porcelain"]), "");
    assert!(!fixture.root.join("folder").exists());
    assert_tidy(&fixture);
    assert!(repository.try_lock_merges().await.unwrap().is_none());
    drop(turn);
    assert!(repository.try_lock_merges().await.unwrap().is_some());
}

#[tokio::test]
async fn what_is_in_the_way_keeps_everything_where_it_is() {
    let (fixture, from, to) = ahead();
    let repository = fixture.repository().await;
    let turn = repository.lock_merges().await.unwrap();
    let root = &fixture.root;
    for file in ["changed.txt", "added.txt", "folder/removed.txt"] {
        std::fs::write(root.join(file), "mine\n").unwrap();
        let before = status(&fixture);
        let error = repository
            .advance(&turn, "main", &from, &to)
            .await
            .unwrap_err();
        assert!(matches!(error, GitError::WorktreeDirty { .. }), "{error}");
        assert_eq!(std::fs::read_to_string(root.join(file)).unwrap(), "mine\n");
        assert_eq!(
            (status(&fixture), git(root, &["rev-parse", "main"])),
            (before, from.to_string())
        );
        assert_tidy(&fixture);
        git(root, &["checkout", "--quiet", "."]);
        git(root, &["clean", "-fdq"]);
    }
    // Another git is at work.
    std::fs::write(root.join(".git/index.lock"), "").unwrap();
    let error = repository
        .advance(&turn, "main", &from, &to)
        .await
        .unwrap_err();
    assert!(matches!(error, GitError::IndexLocked { .. }), "{error}");
    assert!(root.join(".git/index.lock").exists(), "not ours to remove");
    assert_eq!(git(root, &["rev-parse", "main"]), from.as_str());
}

#[tokio::test]
async fn whoever_comes_next_finishes_or_takes_away_an_interrupted_move() {
    enum State {
        Locked,
        BranchMoved,
        FilesHalfWritten,
        FilesWritten,
        IndexMoved,
        PersonWroteSince,
    }
    use State as S;
    for (number, state) in [
        S::Locked,
        S::BranchMoved,
        S::FilesHalfWritten,
        S::FilesWritten,
        S::IndexMoved,
        S::PersonWroteSince,
    ]
    .into_iter()
    .enumerate()
    {
        let (fixture, from, to) = ahead();
        let root = &fixture.root;
        let repository = fixture.repository().await;
        std::fs::write(root.join("mine.txt"), "mine\n").unwrap();
        let write = |file: &str, text: &str| std::fs::write(root.join(file), text).unwrap();
        if !matches!(state, S::Locked) {
            git(root, &["update-ref", "refs/heads/main", to.as_str()]);
        }
        let mut expected = "M mine.txt";
        match state {
            S::Locked | S::BranchMoved => {}
            S::FilesHalfWritten => {
                write("changed.txt", "new and");
                std::fs::remove_file(root.join("folder/removed.txt")).unwrap();
                write("claude", "");
                std::fs::remove_file(root.join("claude")).unwrap();
            }
            S::FilesWritten | S::IndexMoved => {
                write("changed.txt", "new and longer\n");
                write("added.txt", "added\n");
                std::fs::remove_file(root.join("folder/removed.txt")).unwrap();
                if matches!(state, S::IndexMoved) {
                    git(root, &["read-tree", to.as_str()]);
                }
            }
            S::PersonWroteSince => {
                write("added.txt", "added");
                write("changed.txt", "what I want it to be\n");
                expected = "M changed.txt\n M mine.txt";
            }
        }
        write(".git/index.lock", OURS);
        write(".git/claude-codex.index", "half");
        write(".git/claude-codex.index.lock", "half");
        let turn = repository.lock_merges().await.unwrap();
        let resumed = repository.resume_advance(&turn, "main", &from, &to).await;
        let wanted = match state {
            S::Locked => Resumed::NotBegun,
            _ => Resumed::Finished,
        };
        assert_eq!(resumed.unwrap(), wanted, "{number}");
        assert_eq!(status(&fixture), expected, "{number}");
        assert_eq!(root.join("added.txt").exists(), wanted == Resumed::Finished);
        let _ = std::fs::remove_file(root.join(".git/claude-codex.index.lock"));
        assert_tidy(&fixture);
        // Once more changes nothing.
        let again = repository.resume_advance(&turn, "main", &from, &to).await;
        assert_eq!(
            (again.unwrap(), status(&fixture).as_str()),
            (wanted, expected),
            "{number}"
        );
    }
}
