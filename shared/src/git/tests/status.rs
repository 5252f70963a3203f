//! Status of a worktree: changed, renamed, untracked.

use super::ChangeKind::{Deleted, Modified, Renamed};
use super::*;

fn entry<'a>(status: &'a Status, path: &str) -> &'a Entry {
    let found = status
        .entries
        .iter()
        .find(|entry| entry.path == Path::new(path));
    found.unwrap_or_else(|| panic!("{path} not in {status:?}"))
}

#[tokio::test]
async fn every_kind_of_entry() {
    let fixture = Fixture::with_commit();
    let root = &fixture.root;
    for name in ["modified", "deleted", "old name", "both"] {
        commit(root, name, &format!("{name}\nwith\nseveral\nlines\n"));
    }
    std::fs::write(root.join("modified"), "x").unwrap();
    std::fs::remove_file(root.join("deleted")).unwrap();
    git(root, &["mv", "old name", "new\nname"]);
    std::fs::write(root.join("both"), "1").unwrap();
    git(root, &["add", "both"]);
    std::fs::write(root.join("both"), "2").unwrap();
    std::fs::create_dir(root.join("dir")).unwrap();
    for name in ["dir/a", "dir/b", "ü '\""] {
        std::fs::write(root.join(name), "x").unwrap();
    }
    let repository = fixture.repository().await;
    let status = repository.status(root, 100).await.unwrap();
    let changed = |staged, unstaged| EntryKind::Changed {
        staged,
        unstaged,
        submodule: false,
    };
    assert_eq!(
        entry(&status, "modified").kind,
        changed(None, Some(Modified))
    );
    assert_eq!(entry(&status, "deleted").kind, changed(None, Some(Deleted)));
    assert_eq!(
        entry(&status, "both").kind,
        changed(Some(Modified), Some(Modified))
    );
    let renamed = entry(&status, "new\nname");
    assert_eq!(renamed.kind, changed(Some(Renamed), None));
    assert_eq!(renamed.original.as_deref(), Some(Path::new("old name")));
    assert_eq!(entry(&status, "dir/").kind, EntryKind::Untracked);
    assert_eq!(entry(&status, "ü '\"").kind, EntryKind::Untracked);
    assert_eq!((status.total, status.untracked), (6, 2));
    assert!(!status.is_clean() && status.has_tracked_changes());

    let short = repository.status(root, 2).await.unwrap();
    assert_eq!((short.entries.len(), short.total), (2, 6));
}

#[tokio::test]
async fn hidden_untracked_files_still_count() {
    let fixture = Fixture::with_commit();
    git(
        &fixture.root,
        &["config", "status.showUntrackedFiles", "no"],
    );
    std::fs::write(fixture.root.join("new"), "x").unwrap();
    let repository = fixture.repository().await;
    assert_eq!(
        repository.status(&fixture.root, 5).await.unwrap().untracked,
        1
    );
}

#[tokio::test]
async fn upstream_and_conflicts() {
    let fixture = Fixture::with_commit();
    let root = &fixture.root;
    let repository = fixture.repository().await;
    git(root, &["branch", "up"]);
    commit(root, "readme.txt", "ours\n");
    git(root, &["checkout", "-q", "up"]);
    commit(root, "readme.txt", "theirs\n");
    git(root, &["branch", "-q", "--set-upstream-to=main"]);
    assert!(
        !git_command(root, &["merge", "-q", "main"])
            .output()
            .unwrap()
            .status
            .success()
    );
    let status = repository.status(root, 5).await.unwrap();
    assert_eq!(status.head, Head::Branch("up".into()));
    let expected = AheadBehind {
        ahead: 1,
        behind: 1,
    };
    assert_eq!(
        status.upstream,
        Some(Upstream {
            name: "main".into(),
            ahead_behind: Some(expected)
        })
    );
    assert_eq!(entry(&status, "readme.txt").kind, EntryKind::Conflicted);
    let unsaved = repository.unsaved_work(root, None).await.unwrap();
    assert_eq!(unsaved.operation, Some(Operation::Merge));
}

#[tokio::test]
async fn unsaved_work_is_what_nothing_else_leads_to() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let path = fixture.worktree(&repository, "topic").await;
    let unsaved = async || repository.unsaved_work(&path, Some("topic")).await.unwrap();
    assert!(unsaved().await.is_nothing());
    std::fs::write(path.join("untracked"), "x").unwrap();
    assert_eq!(unsaved().await.uncommitted, 1);
    assert!(!unsaved().await.is_nothing());
    std::fs::remove_file(path.join("untracked")).unwrap();

    for index in 0..22 {
        commit(&path, "b", &index.to_string());
    }
    let found = unsaved().await;
    assert_eq!((found.commits, found.newest_commits.len()), (22, 20));
    assert_eq!(found.newest_commits[0].subject, "change b");

    for reference in [
        "refs/remotes/origin/topic",
        "refs/tags/t",
        "refs/heads/other",
        "refs/codex/a/b",
    ] {
        git(&path, &["update-ref", reference, "HEAD~2"]);
        assert_eq!(unsaved().await.commits, 2, "{reference}");
        git(&path, &["update-ref", reference, "HEAD"]);
        assert!(unsaved().await.is_nothing(), "{reference}");
        git(&path, &["update-ref", "-d", reference]);
    }
    git(&path, &["checkout", "-q", "--detach"]);
    commit(&path, "c", "c");
    assert_eq!(unsaved().await.commits, 23);
    let without_branch = repository.unsaved_work(&path, None).await.unwrap();
    assert_eq!(without_branch.commits, 1);
}

#[tokio::test]
async fn an_empty_repository_has_nothing_to_lose() {
    let fixture = Fixture::empty();
    let repository = fixture.repository().await;
    let status = repository.status(&fixture.root, 1).await.unwrap();
    assert_eq!(
        (status.head, status.commit),
        (Head::Unborn("main".into()), None)
    );
    assert!(
        repository
            .unsaved_work(&fixture.root, None)
            .await
            .unwrap()
            .is_nothing()
    );
}

#[test]
fn broken_output_is_an_error_not_a_panic() {
    for output in [
        &b""[..],
        b"1 M",
        b"2 R. x\0",
        b"u \0",
        b"x\0",
        b"# branch.oid\0",
        b"1 .M N... 1 2 3 4 5 \0",
    ] {
        assert!(parse_status(output, 1).is_err(), "{output:?}");
    }
}
