//! Worktrees: added, listed, removed, at once.

use std::time::{Duration, Instant};

use super::*;

#[tokio::test]
async fn all_three_checkouts() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    git(&fixture.root, &["branch", "existing"]);
    let head = repository.resolve("HEAD").await.unwrap();
    let checkouts = [
        (new_branch("fresh"), Some("fresh")),
        (
            Checkout::ExistingBranch {
                name: "existing".into(),
            },
            Some("existing"),
        ),
        (Checkout::Detached { at: "main".into() }, None),
    ];
    for (index, (checkout, branch)) in checkouts.into_iter().enumerate() {
        let path = fixture.path(format!("new/parents/{index}"));
        let added = repository.add_worktree(&path, checkout).await.unwrap();
        assert_eq!(added.path, path);
        assert_eq!(added.head, head);
        assert_eq!(added.branch.as_deref(), branch);
        assert!(repository.status(&path, 10).await.unwrap().is_clean());
        assert!(path.join("readme.txt").exists());
        let listed = repository.worktrees().await.unwrap();
        let listed = listed.iter().find(|other| other.path == path).unwrap();
        assert_eq!(listed.branch.as_deref(), branch);
        assert_eq!(listed.head.as_ref(), Some(&head));
        assert_eq!(listed.locked, None);
    }
    let at = repository.branch_checked_out_at("fresh").await.unwrap();
    assert_eq!(at, Some(fixture.path("new/parents/0")));
}

#[tokio::test]
async fn paths_of_all_kinds() {
    use std::os::unix::ffi::OsStrExt;
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let names: [&[u8]; 8] = [
        b"with space",
        b"quote'\"s",
        b"#(hash)",
        "größe 漢字".as_bytes(),
        b"line\nbreak",
        b"-dash",
        b"\xff\xfe",
        b"a:b\\c",
    ];
    for (index, name) in names.into_iter().enumerate() {
        let path = fixture.path(OsStr::from_bytes(name));
        repository
            .add_worktree(&path, new_branch(&format!("b{index}")))
            .await
            .unwrap();
        assert!(repository.status(&path, 10).await.unwrap().is_clean());
        let listed = repository.worktrees().await.unwrap();
        assert!(listed.iter().any(|other| other.path == path), "{path:?}");
        assert_eq!(
            hermetic().discover(&path).await.unwrap().worktree(),
            Some(path.as_path())
        );
        assert_eq!(repository.remove_worktree(&path, None).await.unwrap(), None);
        assert!(!path.exists());
    }
    for bad in ["relative", "/tmp/ends \n"] {
        let error = repository
            .add_worktree(Path::new(bad), new_branch("b"))
            .await
            .unwrap_err();
        assert!(matches!(error, GitError::InvalidPath { .. }), "{error}");
    }
    assert_eq!(repository.worktrees().await.unwrap().len(), 1);
}

#[tokio::test]
async fn refusals_say_why_and_leave_nothing() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let fails = async |path: &Path, checkout: Checkout| {
        let error = repository.add_worktree(path, checkout).await.unwrap_err();
        assert_eq!(repository.worktrees().await.unwrap().len(), 1);
        assert_eq!(fixture.branches(), ["main"]);
        error
    };
    let free = fixture.path("some/where");
    let error = fails(&free, new_branch("main")).await;
    assert!(matches!(error, GitError::BranchExists { name } if name == "main"));
    let error = fails(
        &free,
        Checkout::ExistingBranch {
            name: "main".into(),
        },
    )
    .await;
    assert!(matches!(error, GitError::BranchCheckedOut { at, .. } if at == fixture.root));
    let error = fails(
        &free,
        Checkout::ExistingBranch {
            name: "nope".into(),
        },
    )
    .await;
    assert!(matches!(error, GitError::BranchNotFound { .. }));
    let error = fails(&free, new_branch("main/sub")).await;
    assert!(matches!(error, GitError::Failed { .. }), "{error}");
    let error = fails(&free, Checkout::Detached { at: "nope".into() }).await;
    assert!(matches!(error, GitError::RevisionNotFound { .. }));
    let error = fails(&free, new_branch("-f")).await;
    assert!(matches!(error, GitError::InvalidName { .. }));
    assert!(!free.parent().unwrap().exists());

    let taken = fixture.path("taken");
    std::fs::create_dir(&taken).unwrap();
    std::fs::write(taken.join("precious"), "x").unwrap();
    let error = fails(&taken, new_branch("x")).await;
    assert!(matches!(error, GitError::PathTaken { .. }));
    assert!(taken.join("precious").exists());
    assert!(matches!(
        fails(&taken.join("precious"), new_branch("x")).await,
        GitError::PathTaken { .. }
    ));
}

#[tokio::test]
async fn an_empty_repository_has_no_worktrees_to_give() {
    let fixture = Fixture::empty();
    let repository = fixture.repository().await;
    let error = repository
        .add_worktree(&fixture.path("x"), new_branch("x"))
        .await
        .unwrap_err();
    assert!(matches!(error, GitError::EmptyRepository { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_at_once_all_succeed() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let mut tasks = tokio::task::JoinSet::new();
    for index in 0..20 {
        let (repository, path) = (repository.clone(), fixture.path(format!("w{index}")));
        tasks.spawn(async move {
            let name = format!("codex/w{index}");
            repository.add_worktree(&path, new_branch(&name)).await
        });
    }
    for outcome in tasks.join_all().await {
        outcome.unwrap();
    }
    assert_eq!(repository.worktrees().await.unwrap().len(), 21);
    assert_eq!(fixture.branches().len(), 21);
}

/// Gives the repository a file whose checkout runs a program of the test's choice.
fn with_filter(fixture: &Fixture, program: &str) {
    std::fs::write(fixture.root.join(".gitattributes"), "*.x filter=test\n").unwrap();
    git(&fixture.root, &["config", "filter.test.clean", "cat"]);
    git(&fixture.root, &["config", "filter.test.smudge", "cat"]);
    git(&fixture.root, &["config", "filter.test.required", "true"]);
    git(&fixture.root, &["add", "."]);
    commit(&fixture.root, "file.x", "text");
    git(&fixture.root, &["config", "filter.test.smudge", program]);
}

#[tokio::test]
async fn a_failing_checkout_leaves_nothing() {
    let fixture = Fixture::with_commit();
    with_filter(&fixture, "false");
    let repository = fixture.repository().await;
    let path = fixture.path("new/wt");
    let kept = fixture.path("kept");
    std::fs::create_dir(&kept).unwrap();
    for path in [&path, &kept] {
        let error = repository
            .add_worktree(path, new_branch("topic"))
            .await
            .unwrap_err();
        assert!(
            matches!(
                error,
                GitError::Failed {
                    operation: "read-tree",
                    ..
                }
            ),
            "{error}"
        );
        assert_eq!(fixture.branches(), ["main"]);
        assert_eq!(repository.worktrees().await.unwrap().len(), 1);
    }
    assert!(!path.parent().unwrap().exists());
    assert!(kept.read_dir().unwrap().next().is_none());
    assert!(!fixture.root.join(".git/worktrees").exists());
}

async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn is_alive(pid: &str) -> bool {
    // A zombie has ended; only its parent has not looked yet.
    std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()))
        .is_ok_and(|stat| !stat.contains(") Z "))
}

#[tokio::test]
async fn a_dropped_future_ends_git_and_leaves_nothing() {
    let fixture = Fixture::with_commit();
    let pid_file = fixture.path("pid");
    let script = fixture.path("slow");
    executable(
        &script,
        &format!(
            "#!/bin/sh\necho $$ > '{0}.new'\nmv '{0}.new' '{0}'\nexec sleep 600\n",
            pid_file.display()
        ),
    );
    with_filter(&fixture, script.to_str().unwrap());
    let repository = fixture.repository().await;
    let path = fixture.path("wt");
    {
        let adding = repository.add_worktree(&path, new_branch("topic"));
        tokio::select! {
            outcome = adding => panic!("finished: {outcome:?}"),
            () = eventually("the filter starts", || pid_file.exists()) => {}
        }
    }
    let pid = std::fs::read_to_string(&pid_file).unwrap();
    eventually("the filter ends", || !is_alive(&pid)).await;
    eventually("all is undone", || {
        !path.exists() && fixture.branches() == ["main"]
    })
    .await;
    assert_eq!(repository.worktrees().await.unwrap().len(), 1);
}

/// A checkout may be ended at any moment, and a git that is ended while it writes a reference can leave a lock on it.
#[tokio::test]
async fn writing_the_files_locks_no_reference() {
    let fixture = Fixture::with_commit();
    let log = fixture.path("log");
    let note = |what: &str| format!("echo {what} >> '{}'", log.display());
    with_filter(&fixture, &format!("{}; cat", note("smudge")));
    executable(
        &fixture.root.join(".git/hooks/reference-transaction"),
        &format!("#!/bin/sh\n{}\n", note("reference")),
    );
    let repository = fixture.repository().await;
    repository
        .add_worktree(&fixture.path("wt"), new_branch("topic"))
        .await
        .unwrap();
    let log = std::fs::read_to_string(log).unwrap();
    let (registering, writing) = log.split_once("smudge").unwrap();
    assert!(registering.contains("reference"), "{log}");
    assert!(!writing.contains("reference"), "{log}");
}

#[tokio::test]
async fn the_post_checkout_hook_runs_as_git_would_run_it() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let hook = fixture.root.join(".git/hooks/post-checkout");
    executable(
        &hook,
        "#!/bin/sh\necho \"$@\" > hook-ran\necho oops >&2\nexit 3\n",
    );
    let path = fixture.path("wt");
    let added = repository
        .add_worktree(&path, new_branch("topic"))
        .await
        .unwrap();
    assert_eq!(added.hook_failure.as_deref(), Some("oops"));
    let said = std::fs::read_to_string(path.join("hook-ran")).unwrap();
    assert_eq!(said.trim(), format!("{} {} 1", "0".repeat(40), added.head));
}

#[tokio::test]
async fn the_lock_is_waited_for_but_not_for_ever() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let held = repository.lock().await.unwrap();
    let hasty = repository.clone();
    let hasty = hasty.with_lock_timeout(Duration::from_millis(30));
    let error = hasty.lock().await.unwrap_err();
    assert!(matches!(error, GitError::LockTimeout { .. }));
    let path = fixture.path("wt");
    let adding = repository.add_worktree(&path, new_branch("topic"));
    let release = async {
        tokio::task::yield_now().await;
        drop(held);
    };
    let (added, ()) = tokio::join!(adding, release);
    added.unwrap();
}

#[tokio::test]
async fn removing_is_careful_and_idempotent() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let path = fixture.worktree(&repository, "topic").await;
    std::fs::write(path.join("untracked"), "x").unwrap();
    let unsaved = repository.remove_worktree(&path, None).await.unwrap();
    assert_eq!(unsaved.map(|unsaved| unsaved.uncommitted), Some(1));
    assert!(path.exists());
    git(
        &fixture.root,
        &[
            "worktree",
            "lock",
            "--reason",
            "mine",
            path.to_str().unwrap(),
        ],
    );
    let error = repository.erase_worktree(&path).await.unwrap_err();
    assert!(matches!(error, GitError::WorktreeLocked { reason, .. } if reason == "mine"));
    git(
        &fixture.root,
        &["worktree", "unlock", path.to_str().unwrap()],
    );
    for _ in 0..2 {
        repository.erase_worktree(&path).await.unwrap();
        assert!(!path.exists());
    }
    assert_eq!(repository.worktrees().await.unwrap().len(), 1);
    let stranger = fixture.path("stranger");
    std::fs::create_dir(&stranger).unwrap();
    for path in [&stranger, &fixture.root] {
        let error = repository.erase_worktree(path).await.unwrap_err();
        assert!(matches!(error, GitError::NotALinkedWorktree { .. }));
        assert!(path.exists());
    }
}

#[tokio::test]
async fn broken_and_vanished_worktrees_can_be_removed_and_replaced() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let path = fixture.root.join("inside");
    repository
        .add_worktree(&path, new_branch("broken"))
        .await
        .unwrap();
    std::fs::remove_file(path.join(".git")).unwrap();
    // The repository around it must not be taken for the worktree.
    let error = repository.status(&path, 1).await.unwrap_err();
    assert!(matches!(error, GitError::NotARepository { .. }));
    repository.erase_worktree(&path).await.unwrap();
    assert!(!path.exists());

    let path = fixture.worktree(&repository, "vanished").await;
    std::fs::remove_dir_all(&path).unwrap();
    let listed = repository.worktrees().await.unwrap();
    assert!(listed[1].prunable.is_some());
    repository
        .add_worktree(&path, new_branch("again"))
        .await
        .unwrap();
    std::fs::remove_dir_all(&path).unwrap();
    assert_eq!(repository.remove_worktree(&path, None).await.unwrap(), None);
    assert_eq!(repository.worktrees().await.unwrap().len(), 1);

    let path = fixture.worktree(&repository, "locked").await;
    git(&fixture.root, &["worktree", "lock", path.to_str().unwrap()]);
    std::fs::remove_dir_all(&path).unwrap();
    let error = repository
        .add_worktree(&path, new_branch("more"))
        .await
        .unwrap_err();
    assert!(matches!(error, GitError::PathTaken { .. }), "{error}");
    assert_eq!(repository.worktrees().await.unwrap().len(), 2);
    assert!(!repository.branch_exists("more").await.unwrap());
}

#[tokio::test]
async fn branches_are_deleted_only_where_expected() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let first = repository.resolve("HEAD").await.unwrap();
    let path = fixture.worktree(&repository, "topic").await;
    let error = repository.delete_branch("topic", None).await.unwrap_err();
    assert!(matches!(error, GitError::BranchCheckedOut { at, .. } if at == path));
    let second = commit(&path, "b", "b");
    repository.erase_worktree(&path).await.unwrap();
    let error = repository
        .delete_branch("topic", Some(&first))
        .await
        .unwrap_err();
    assert!(matches!(error, GitError::BranchMoved { actual, .. } if actual == second));
    for _ in 0..2 {
        repository
            .delete_branch("topic", Some(&second))
            .await
            .unwrap();
    }
    assert_eq!(fixture.branches(), ["main"]);
}

#[tokio::test]
async fn sparse_worktrees_stay_sparse() {
    let fixture = Fixture::with_commit();
    for name in ["in", "out"] {
        std::fs::create_dir(fixture.root.join(name)).unwrap();
        commit(&fixture.root, &format!("{name}/file"), "x");
    }
    git(&fixture.root, &["sparse-checkout", "set", "in"]);
    let repository = fixture.repository().await;
    let path = fixture.worktree(&repository, "topic").await;
    assert!(path.join("in/file").exists() && !path.join("out").exists());
    assert!(repository.status(&path, 1).await.unwrap().is_clean());
}

#[tokio::test]
async fn partial_clones_fetch_what_they_need() {
    let fixture = Fixture::with_commit();
    git(&fixture.root, &["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", fixture.root.display());
    let clone = fixture.path("partial");
    let target = clone.to_str().unwrap();
    git(
        &fixture.root,
        &[
            "clone",
            "-q",
            "--no-checkout",
            "--filter=blob:none",
            &url,
            target,
        ],
    );
    let repository = hermetic().discover(&clone).await.unwrap();
    let path = fixture.worktree(&repository, "topic").await;
    assert_eq!(
        std::fs::read_to_string(path.join("readme.txt")).unwrap(),
        "hello\n"
    );
}

#[test]
fn lists_without_z_are_read_too() {
    let fixture = Fixture::with_commit();
    let text = git(&fixture.root, &["worktree", "list", "--porcelain"]);
    let worktrees = parse_worktrees(text.as_bytes(), b'\n').unwrap();
    assert_eq!(worktrees.len(), 1);
    assert_eq!(worktrees[0].path, fixture.root);
    assert_eq!(worktrees[0].branch.as_deref(), Some("main"));
    assert!(parse_worktrees(b"HEAD x\0", 0).is_err());
}
