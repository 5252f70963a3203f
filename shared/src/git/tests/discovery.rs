//! Discovery of repositories and worktrees.

use super::*;

#[tokio::test]
async fn outside_a_repository() {
    let directory = tempfile::tempdir().unwrap();
    let git = hermetic().with_env("GIT_CEILING_DIRECTORIES", directory.path());
    for path in [
        directory.path().to_owned(),
        directory.path().join("missing"),
    ] {
        let error = git.discover(&path).await.unwrap_err();
        assert!(matches!(error, GitError::NotARepository { path: p } if p == path));
    }
}

#[tokio::test]
async fn from_subdirectory_file_worktree_and_git_directory() {
    let fixture = Fixture::with_commit();
    let deep = fixture.root.join("a/b");
    std::fs::create_dir_all(&deep).unwrap();
    let repository = fixture.repository().await;
    let linked = fixture.worktree(&repository, "linked").await;
    for (path, worktree) in [
        (fixture.root.clone(), Some(&fixture.root)),
        (deep, Some(&fixture.root)),
        (fixture.root.join("readme.txt"), Some(&fixture.root)),
        (linked.clone(), Some(&linked)),
        (fixture.root.join(".git"), None),
    ] {
        let found = hermetic().discover(&path).await.unwrap();
        assert_eq!(found.root(), fixture.root, "{path:?}");
        assert_eq!(found.common_dir(), fixture.root.join(".git"));
        assert_eq!(found.worktree(), worktree.map(PathBuf::as_path), "{path:?}");
        assert_eq!(found.name(), "project");
    }
}

#[tokio::test]
async fn bare_repositories_and_their_worktrees() {
    let fixture = Fixture::with_commit();
    for (bare, name) in [("my work.git", "my-work"), ("holder/.git", "holder")] {
        let bare = fixture.path(bare);
        let source = fixture.root.to_str().unwrap();
        let target = bare.to_str().unwrap();
        git(
            &fixture.root,
            &["clone", "--quiet", "--bare", source, target],
        );
        let repository = hermetic().discover(&bare).await.unwrap();
        assert_eq!(repository.root(), bare);
        assert_eq!(repository.worktree(), None);
        assert_eq!(repository.name(), name);
        let path = fixture.path(format!("wt-{name}"));
        repository
            .add_worktree(&path, new_branch("topic"))
            .await
            .unwrap();
        assert!(path.join("readme.txt").exists());
        let inside = hermetic().discover(&path).await.unwrap();
        assert_eq!(inside.root(), bare);
        assert_eq!(inside.worktree(), Some(path.as_path()));
        assert!(inside.worktrees().await.unwrap()[0].bare);
    }
}

/// What git takes for a repository, and a clone can bring along: `git add` refuses only the name `.git`.
/// Nothing in such a git directory says where the files are.
#[tokio::test]
async fn a_git_directory_elsewhere_has_one_top_level() {
    for linked in [true, false] {
        let fixture = Fixture::with_commit();
        let elsewhere = fixture.path("kept.git");
        let text = elsewhere.to_str().unwrap();
        if linked {
            std::fs::rename(fixture.root.join(".git"), &elsewhere).unwrap();
            std::os::unix::fs::symlink(&elsewhere, fixture.root.join(".git")).unwrap();
        } else {
            git(
                &fixture.root,
                &["init", "--quiet", "--separate-git-dir", text],
            );
        }
        let repository = fixture.repository().await;
        assert_eq!(repository.root(), fixture.root);
        let path = fixture.worktree(&repository, "topic").await;
        let seen = hermetic().discover(&path).await.unwrap();
        assert_eq!(seen.root(), fixture.root, "linked: {linked}");
        assert_eq!(seen.worktrees().await.unwrap()[0].path, fixture.root);

        let from = Oid::parse(&git(&path, &["rev-parse", "main"])).unwrap();
        let to = commit(&path, "b.txt", "b\n");
        let turn = seen.lock_merges().await.unwrap();
        let moved = seen.advance(&turn, "main", &from, &to).await.unwrap();
        moved.release().await.unwrap();
        assert_eq!(git(&fixture.root, &["status", "--porcelain"]), "");
        assert!(fixture.root.join("b.txt").exists());

        // Another checkout that claims to be it is not.
        let other = fixture.path("other");
        std::fs::rename(&fixture.root, &other).unwrap();
        std::fs::create_dir(&fixture.root).unwrap();
        let seen = hermetic().discover(&path).await.unwrap();
        assert_eq!(seen.root(), elsewhere, "linked: {linked}");
    }
}

#[tokio::test]
async fn a_repository_among_the_files_of_another_is_refused() {
    let fixture = Fixture::with_commit();
    let inner = fixture.root.join("docs");
    let (source, target) = (fixture.root.to_str().unwrap(), inner.to_str().unwrap());
    git(
        &fixture.root,
        &["clone", "--quiet", "--bare", source, target],
    );
    for worktree in [None, Some(".."), Some("/elsewhere")] {
        if let Some(worktree) = worktree {
            git(&inner, &["config", "core.bare", "false"]);
            git(&inner, &["config", "core.worktree", worktree]);
        }
        for path in [&inner, &inner.join("refs")] {
            let error = hermetic().discover(path).await.unwrap_err();
            let is_it = matches!(&error, GitError::AmongFiles { path } if *path == inner);
            assert!(is_it, "{worktree:?}, {path:?}: {error}");
        }
    }
    // One inside another such: what is around it has no files, but the clone around both has.
    let nested = inner.join("more");
    let target = nested.to_str().unwrap();
    git(
        &fixture.root,
        &["clone", "--quiet", "--bare", source, target],
    );
    let error = hermetic().discover(&nested).await.unwrap_err();
    assert!(
        matches!(&error, GitError::AmongFiles { path } if *path == nested),
        "{error}"
    );
    assert!(hermetic().discover(&fixture.root).await.is_ok());
}

#[tokio::test]
async fn submodules_are_repositories_of_their_own() {
    let fixture = Fixture::with_commit();
    let outer = Fixture::with_commit();
    let url = fixture.root.to_str().unwrap();
    git(
        &outer.root,
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            url,
            "sub",
        ],
    );
    let sub = outer.root.join("sub");
    let repository = hermetic().discover(&sub).await.unwrap();
    assert_eq!(repository.root(), sub);
    let path = outer.path("of-sub");
    repository
        .add_worktree(&path, new_branch("x"))
        .await
        .unwrap();
    let again = hermetic().discover(&path).await.unwrap();
    assert_eq!(again.root(), sub);
}

#[tokio::test]
async fn inherited_git_variables_do_not_mislead() {
    let fixture = Fixture::with_commit();
    let other = Fixture::with_commit();
    // As a child of a git hook would see it: the variables are taken out again.
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "--ignored",
            "git::tests::discovery::helper_for_hook_environment",
        ])
        .env("GIT_DIR", other.root.join(".git"))
        .env("GIT_WORK_TREE", &other.root)
        .env("GIT_INDEX_FILE", "/nonexistent/index")
        .env("FIXTURE_ROOT", &fixture.root)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
}

#[tokio::test]
#[ignore = "run by inherited_git_variables_do_not_mislead"]
async fn helper_for_hook_environment() {
    let root = PathBuf::from(std::env::var_os("FIXTURE_ROOT").unwrap());
    let repository = hermetic().discover(&root).await.unwrap();
    assert_eq!(repository.root(), root);
    assert!(repository.status(&root, 10).await.unwrap().is_clean());
}

#[tokio::test]
async fn dubious_ownership_has_its_own_error() {
    let fixture = Fixture::with_commit();
    let mut git = hermetic().with_env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");
    git.uses_libgit2 = false;
    let error = git.discover(&fixture.root).await.unwrap_err();
    assert!(
        matches!(error, GitError::DubiousOwnership { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn heads_branches_and_revisions() {
    let fixture = Fixture::empty();
    let repository = fixture.repository().await;
    let root = &fixture.root;
    assert_eq!(
        repository.head(root).await.unwrap(),
        Head::Unborn("main".into())
    );
    assert_eq!(repository.default_branch().await.unwrap(), None);
    assert!(matches!(
        repository.head_commit(root).await,
        Err(GitError::EmptyRepository { .. })
    ));
    let commit = commit(root, "a", "a");
    assert_eq!(
        repository.head(root).await.unwrap(),
        Head::Branch("main".into())
    );
    git(root, &["checkout", "--quiet", "--detach"]);
    assert_eq!(
        repository.head(root).await.unwrap(),
        Head::Detached(commit.clone())
    );
    assert_eq!(
        repository.default_branch().await.unwrap().as_deref(),
        Some("main")
    );
    git(root, &["update-ref", "refs/remotes/origin/trunk", "HEAD"]);
    git(
        root,
        &[
            "symbolic-ref",
            "refs/remotes/origin/HEAD",
            "refs/remotes/origin/trunk",
        ],
    );
    assert_eq!(
        repository.default_branch().await.unwrap().as_deref(),
        Some("trunk")
    );
    assert_eq!(
        repository.branch_tip("trunk").await.unwrap(),
        Some(commit.clone())
    );
    assert!(!repository.branch_exists("trunk").await.unwrap());
    assert!(repository.branch_exists("main").await.unwrap());
    assert_eq!(repository.resolve("main").await.unwrap(), commit);
    for bad in ["nope", "main..main", "HEAD:a"] {
        let error = repository.resolve(bad).await.unwrap_err();
        assert!(
            matches!(error, GitError::RevisionNotFound { .. }),
            "{bad}: {error}"
        );
    }
    assert!(matches!(
        repository.resolve("--all").await,
        Err(GitError::InvalidName {
            kind: NameKind::Revision,
            ..
        })
    ));
}

#[tokio::test]
async fn references_configuration_and_remotes() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let commit = repository.resolve("HEAD").await.unwrap();
    repository
        .keep("refs/codex/x", &commit, None)
        .await
        .unwrap();
    assert_eq!(
        repository.read_ref("refs/codex/x").await.unwrap(),
        Some(commit)
    );
    for _ in 0..2 {
        repository.delete_ref("refs/codex/x").await.unwrap();
    }
    assert_eq!(repository.read_ref("refs/codex/x").await.unwrap(), None);
    git(
        &fixture.root,
        &[
            "remote",
            "add",
            "origin",
            "https://me:token@example.com/o/r.git",
        ],
    );
    assert_eq!(repository.remotes().await.unwrap(), ["origin"]);
    assert_eq!(
        repository.remote_url("origin").await.unwrap().as_deref(),
        Some("https://example.com/o/r.git")
    );
    assert_eq!(repository.remote_url("other").await.unwrap(), None);
    git(&fixture.root, &["config", "codex.text", "two\nlines"]);
    assert_eq!(
        repository
            .config_get("codex.text")
            .await
            .unwrap()
            .as_deref(),
        Some("two\nlines")
    );
    assert_eq!(repository.config_get("codex.none").await.unwrap(), None);
}

#[tokio::test]
async fn reftable_and_sha256_repositories() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let options = [
        "init",
        "-q",
        "-b",
        "main",
        "--object-format=sha256",
        "--ref-format=reftable",
    ];
    git(&root, &options);
    git(&root, &["commit", "-q", "--allow-empty", "-m", "one"]);
    let repository = hermetic().discover(&root).await.unwrap();
    assert_eq!(repository.resolve("main").await.unwrap().as_str().len(), 64);
    let path = root.join("wt");
    repository
        .add_worktree(&path, new_branch("topic"))
        .await
        .unwrap();
    repository.erase_worktree(&path).await.unwrap();
    repository.delete_branch("topic", None).await.unwrap();
    assert!(!repository.branch_exists("topic").await.unwrap());
}

#[tokio::test]
async fn the_installed_git_is_new_enough() {
    assert!(hermetic().require_minimum().await.unwrap() >= MINIMUM_VERSION);
    let error = Git::new("no-such-git").version().await.unwrap_err();
    assert!(error.to_string().contains("not installed"), "{error}");
}
