//! Merge base, ahead and behind, commits.

use super::*;

/// main: one commit more; topic: two commits more, with a rename and a binary file.
async fn forked() -> (Fixture, Repository, PathBuf) {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    commit(&fixture.root, "old", "a\nb\nc\nd\ne\n");
    let path = fixture.worktree(&repository, "topic").await;
    git(&path, &["mv", "old", "näw"]);
    commit(&path, "näw", "a\nb\nc\nd\ne\nf\n");
    commit(&path, "binary", "\0\u{1}");
    commit(&fixture.root, "main-only", "x");
    (fixture, repository, path)
}

#[tokio::test]
async fn distances_and_commits() {
    let (fixture, repository, _) = forked().await;
    let distance = repository.ahead_behind("main", "topic").await.unwrap();
    assert_eq!(
        distance,
        AheadBehind {
            ahead: 2,
            behind: 1
        }
    );
    let base = repository.merge_base("main", "topic").await.unwrap();
    assert_eq!(base, Some(repository.resolve("main~1").await.unwrap()));
    let commits = repository
        .commits_between("main", "topic", 10)
        .await
        .unwrap();
    let subjects: Vec<_> = commits
        .iter()
        .map(|commit| commit.subject.as_str())
        .collect();
    assert_eq!(subjects, ["change binary", "change näw"]);
    assert_eq!(
        (commits[0].author.as_str(), commits[0].time),
        ("Ada", 1_700_000_000)
    );
    assert_eq!(
        repository
            .commits_between("main", "topic", 1)
            .await
            .unwrap()
            .len(),
        1
    );
    assert!(
        repository
            .commits_between("main", "main", 1)
            .await
            .unwrap()
            .is_empty()
    );
    git(&fixture.root, &["checkout", "-q", "--orphan", "alone"]);
    commit(&fixture.root, "x", "x");
    assert_eq!(repository.merge_base("main", "alone").await.unwrap(), None);
    let error = repository.diff_stat("main", "alone").await.unwrap_err();
    assert!(matches!(error, GitError::NoCommonHistory { .. }));
}

#[tokio::test]
async fn lines_of_a_file_in_a_commit() {
    let (_fixture, repository, _) = forked().await;
    let topic = repository.resolve("topic").await.unwrap();
    let main = repository.resolve("main").await.unwrap();
    for (commit, file, expected) in [
        (&topic, "näw", Some(6)),
        (&topic, "readme.txt", Some(1)),
        (&main, "main-only", Some(1)),
        (&main, "näw", None),
        (&topic, "binary", None),
        (&topic, "", None),
        (&topic, "./näw", None),
        (&topic, "../näw", None),
        (&topic, "/etc/passwd", None),
    ] {
        let lines = repository.lines_of_file(commit, file).await.unwrap();
        assert_eq!(lines, expected, "{file}");
    }
}

#[tokio::test]
async fn diffs_start_where_the_branch_left() {
    let (fixture, repository, _) = forked().await;
    // What a user may have set must not change what is read.
    for (key, value) in [
        ("diff.noprefix", "true"),
        ("color.ui", "always"),
        ("diff.evil.command", "false"),
        ("diff.renames", "false"),
    ] {
        git(&fixture.root, &["config", key, value]);
    }
    let attributes = fixture.root.join(".git/info/attributes");
    std::fs::write(attributes, "* diff=evil\n").unwrap();
    let stat = repository.diff_stat("main", "topic").await.unwrap();
    assert_eq!((stat.files.len(), stat.added, stat.removed), (2, 1, 0));
    let binary = stat
        .files
        .iter()
        .find(|file| file.path == Path::new("binary"))
        .unwrap();
    assert!(binary.binary);
    let renamed = stat
        .files
        .iter()
        .find(|file| file.path == Path::new("näw"))
        .unwrap();
    assert_eq!(renamed.renamed_from.as_deref(), Some(Path::new("old")));
    let files = repository.changed_files("main", "topic").await.unwrap();
    assert!(
        files
            .iter()
            .any(|file| file.kind == ChangeKind::Renamed && file.original.is_some())
    );
    assert!(files.iter().any(|file| file.kind == ChangeKind::Added));

    let whole = repository
        .diff_text("main", "topic", 1 << 20)
        .await
        .unwrap();
    assert!(
        !whole.truncated && whole.text.contains("rename to näw\n"),
        "{}",
        whole.text
    );
    assert!(
        whole.text.contains("--- a/old\n+++ b/näw\n"),
        "{}",
        whole.text
    );
    let cut = repository.diff_text("main", "topic", 100).await.unwrap();
    assert!(cut.truncated && cut.text.len() <= 100 && cut.text.ends_with('\n'));
    assert!(whole.text.starts_with(&cut.text));
}

#[tokio::test]
async fn fast_forward_or_not() {
    let (fixture, repository, path) = forked().await;
    let main = repository.resolve("main").await.unwrap();
    let topic = repository.resolve("topic").await.unwrap();
    let outcome = repository.fast_forward(&path, &main).await.unwrap();
    assert_eq!(outcome, FastForward::NotFastForward);
    let other = fixture.path("other");
    let checkout = Checkout::NewBranch {
        name: "other".into(),
        at: "topic~2".into(),
    };
    let added = repository.add_worktree(&other, checkout).await.unwrap();
    std::fs::write(other.join("readme.txt"), "dirty").unwrap();
    let error = repository.fast_forward(&other, &topic).await.unwrap_err();
    assert!(matches!(error, GitError::WorktreeDirty { .. }));
    git(&other, &["checkout", "-q", "--", "readme.txt"]);
    std::fs::write(other.join("binary"), "in the way").unwrap();
    let error = repository.fast_forward(&other, &topic).await.unwrap_err();
    assert!(matches!(error, GitError::WorktreeDirty { .. }), "{error}");
    // Nor is it overwritten because git ignores it.
    std::fs::write(fixture.root.join(".git/info/exclude"), "binary\n").unwrap();
    let error = repository.fast_forward(&other, &topic).await.unwrap_err();
    assert!(matches!(error, GitError::WorktreeDirty { .. }), "{error}");
    assert_eq!(repository.resolve("other").await.unwrap(), added.head);
    std::fs::rename(other.join("binary"), other.join("untracked")).unwrap();
    let outcome = repository.fast_forward(&other, &topic).await.unwrap();
    assert_eq!(outcome, FastForward::Done { from: added.head });
    assert_eq!(repository.resolve("other").await.unwrap(), topic);
    let outcome = repository.fast_forward(&other, &topic).await.unwrap();
    assert_eq!(outcome, FastForward::AlreadyThere);
}

#[test]
fn broken_output_is_an_error_not_a_panic() {
    for output in [&b"x"[..], b"x\0", b"1\0a\0b\0c\0"] {
        assert!(parse_log(output).is_err());
        assert!(parse_numstat(output).is_err());
        assert!(parse_name_status(output).is_err());
    }
    assert!(parse_numstat(b"1\t2\t\0old\0").is_ok_and(|stat| stat.files.len() == 1));
    assert!(parse_numstat(b"1\t2\t").is_err());
}

/// Agents share these with their reviewers.
#[tokio::test]
async fn replacements_and_grafts_hide_nothing() {
    let (fixture, repository, worktree) = forked().await;
    let tip = commit(&worktree, "payload.txt", "true\n");
    git(&worktree, &["rm", "--quiet", "payload.txt"]);
    git(&worktree, &["commit", "--quiet", "-m", "harmless"]);
    let harmless = git(&worktree, &["rev-parse", "HEAD"]);
    git(&worktree, &["reset", "--quiet", "--hard", tip.as_str()]);
    git(&worktree, &["replace", tip.as_str(), harmless.trim()]);
    let both = [repository.clone(), by_program(&repository)];
    for repository in &both {
        let diff = repository.diff_text("main", "topic", 10_000).await.unwrap();
        assert!(diff.text.contains("+true"), "{}", diff.text);
    }

    git(&worktree, &["replace", "-d", tip.as_str()]);
    let ahead = repository.ahead_behind("topic", "main").await.unwrap();
    let base = repository.merge_base("topic", "main").await.unwrap();
    let grafts = fixture.root.join(".git/info/grafts");
    std::fs::write(grafts, format!("{tip}\n")).unwrap();
    for repository in &both {
        let grafted = repository.ahead_behind("topic", "main").await.unwrap();
        assert_eq!(grafted, ahead);
        assert_eq!(repository.merge_base("topic", "main").await.unwrap(), base);
    }
    let mut log = git_command(&worktree, &["log", "-1"]);
    let said = log.envs(AS_COMMITTED).output().unwrap().stderr;
    assert_eq!(String::from_utf8_lossy(&said), "");
}

#[tokio::test]
async fn a_diff_of_a_worktree_has_the_files_that_git_does_not_know() {
    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    std::fs::write(fixture.root.join(".git/info/exclude"), "ignored\n").unwrap();
    std::fs::write(fixture.root.join("ignored"), "secret\n").unwrap();
    std::fs::write(fixture.root.join("a \"new\" file"), "one\ntwo").unwrap();
    std::fs::write(fixture.root.join("binary"), [0, 1, 2]).unwrap();
    std::fs::write(fixture.root.join("empty"), "").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", fixture.root.join("link")).unwrap();
    let diff = repository
        .worktree_diff_text(&fixture.root, "main", 10_000)
        .await
        .unwrap();
    // As git says it of files that it knows.
    git(&fixture.root, &["add", "-N", "."]);
    let known = repository
        .worktree_diff_text(&fixture.root, "main", 10_000)
        .await
        .unwrap();
    let without_index = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.starts_with("index "));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(without_index(&diff.text), without_index(&known.text));
    assert!(!diff.truncated && diff.text.contains("+two\n\\ No newline at end of file\n"));
    git(&fixture.root, &["reset", "-q"]);

    std::fs::write(fixture.root.join("large"), "x\n".repeat(100_000)).unwrap();
    let cut = repository
        .worktree_diff_text(&fixture.root, "main", 10_000)
        .await
        .unwrap();
    assert!(cut.truncated && cut.text.len() <= 10_000);
    assert!(cut.text.contains(" b/large\n"), "{}", cut.text);
}
