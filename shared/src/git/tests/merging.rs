//! Merging without a worktree.

use super::*;
use crate::model::MergeMethod;

/// A repository whose `main` and `topic` have both gone on; the branch and both tips.
fn forked(topic_file: &str) -> (Fixture, Oid, Oid) {
    let fixture = Fixture::with_commit();
    git(&fixture.root, &["switch", "--quiet", "-c", "topic"]);
    commit(&fixture.root, topic_file, "topic one\n");
    std::fs::write(fixture.root.join("more.txt"), "more\n").unwrap();
    git(&fixture.root, &["add", "."]);
    let author = "--author=Grace <grace@example.com>";
    let message = "Add more\n\nBecause.";
    git(&fixture.root, &["commit", "--quiet", author, "-m", message]);
    let head = Oid::parse(&git(&fixture.root, &["rev-parse", "HEAD"])).unwrap();
    git(&fixture.root, &["switch", "--quiet", "main"]);
    let onto = commit(&fixture.root, "main.txt", "main\n");
    (fixture, onto, head)
}

#[tokio::test]
async fn each_method_makes_its_own_history_and_the_same_files() {
    let (fixture, onto, head) = forked("topic.txt");
    let repository = fixture.repository().await;
    let mut trees = Vec::new();
    for (method, parents, subjects) in [
        (MergeMethod::Merge, 2, vec!["Title"]),
        (MergeMethod::Squash, 1, vec!["Title"]),
        (MergeMethod::Rebase, 1, vec!["Add more", "change topic.txt"]),
    ] {
        let made = repository
            .combine(method, &onto, &head, "Title\n\nBody\n")
            .await
            .unwrap();
        let line = git(&fixture.root, &["log", "-1", "--format=%P", made.as_str()]);
        assert_eq!(line.split(' ').count(), parents, "{method}");
        let range = format!("{onto}..{made}");
        let log = git(
            &fixture.root,
            &["log", "--first-parent", "--format=%s", &range],
        );
        assert_eq!(log.lines().collect::<Vec<_>>(), subjects, "{method}");
        let tree = format!("{made}^{{tree}}");
        trees.push(git(&fixture.root, &["rev-parse", &tree]));
    }
    assert!(trees.iter().all(|tree| *tree == trees[0]), "{trees:?}");
    let rebased = repository
        .combine(MergeMethod::Rebase, &onto, &head, "")
        .await
        .unwrap();
    let format = "--format=%an <%ae> %B";
    let shown = git(&fixture.root, &["log", "-1", format, rebased.as_str()]);
    assert_eq!(shown, "Grace <grace@example.com> Add more\n\nBecause.");
    // Nothing moved and no file was written.
    assert_eq!(git(&fixture.root, &["rev-parse", "main"]), onto.as_str());
    assert_eq!(git(&fixture.root, &["status", "--porcelain"]), "");
    assert!(!fixture.root.join("topic.txt").exists());
}

#[tokio::test]
async fn a_conflict_names_the_files_and_makes_nothing() {
    let (fixture, onto, head) = forked("main.txt");
    let repository = fixture.repository().await;
    for method in MergeMethod::ALL {
        let error = repository
            .combine(*method, &onto, &head, "Title\n")
            .await
            .unwrap_err();
        let GitError::Conflict { files } = error else {
            panic!("{error}");
        };
        assert_eq!(files, ["main.txt"], "{method}");
    }
}

#[tokio::test]
async fn what_is_there_already_is_not_made_again() {
    let (fixture, onto, head) = forked("topic.txt");
    let repository = fixture.repository().await;
    let squashed = repository
        .combine(MergeMethod::Squash, &onto, &head, "Title\n")
        .await
        .unwrap();
    for method in [MergeMethod::Squash, MergeMethod::Rebase] {
        let again = repository
            .combine(method, &squashed, &head, "Title\n")
            .await;
        assert_eq!(again.unwrap(), squashed, "{method}");
    }
    let below = repository.resolve("topic~1").await.unwrap();
    for method in MergeMethod::ALL {
        let nothing = repository.combine(*method, &head, &below, "Title\n").await;
        assert_eq!(nothing.unwrap(), head, "{method}");
    }
    let ahead = repository.combine(MergeMethod::Rebase, &below, &head, "");
    assert_eq!(
        ahead.await.unwrap(),
        head,
        "a straight line is taken as it is"
    );
}

#[tokio::test]
async fn a_series_too_long_to_rebase_is_refused_and_not_cut() {
    let (fixture, onto, _) = forked("topic.txt");
    let mut stream = String::new();
    for number in 1..=1_001 {
        use std::fmt::Write as _;
        let from = if number == 1 { "from main~1\n" } else { "" };
        let name = format!("f{number}");
        writeln!(
            stream,
            "commit refs/heads/long\ncommitter Ada <ada@example.com> 1700000000 +0000\ndata {}\n{name}\n{from}M 644 inline {name}\ndata 1\nx\n",
            name.len()
        )
        .unwrap();
    }
    let mut import = git_command(&fixture.root, &["fast-import", "--quiet"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut import.stdin.take().unwrap(), stream.as_bytes()).unwrap();
    assert!(import.wait().unwrap().success());
    let repository = fixture.repository().await;
    let head = repository.resolve("long").await.unwrap();
    let error = repository
        .combine(MergeMethod::Rebase, &onto, &head, "")
        .await
        .unwrap_err();
    assert!(error.to_string().contains("1001 commits"), "{error}");
    let merged = repository
        .combine(MergeMethod::Squash, &onto, &head, "Title\n")
        .await
        .unwrap();
    let files = git(
        &fixture.root,
        &["ls-tree", "--name-only", merged.as_str(), "f1"],
    );
    assert_eq!(files, "f1");
}

#[tokio::test]
async fn a_rebase_that_would_lose_what_a_merge_commit_changed_is_refused() {
    let (fixture, onto, _) = forked("topic.txt");
    let root = &fixture.root;
    git(root, &["switch", "--quiet", "-c", "side", "topic~1"]);
    commit(root, "side.txt", "side\n");
    git(root, &["merge", "--quiet", "--no-commit", "topic"]);
    std::fs::write(root.join("only-in-the-merge.txt"), "x\n").unwrap();
    git(root, &["add", "."]);
    git(root, &["commit", "--quiet", "-m", "merge with a change"]);
    git(root, &["switch", "--quiet", "main"]);
    let repository = fixture.repository().await;
    let head = repository.resolve("side").await.unwrap();
    let error = repository
        .combine(MergeMethod::Rebase, &onto, &head, "")
        .await
        .unwrap_err();
    assert!(error.to_string().contains("merge commit"), "{error}");
}

#[tokio::test]
async fn what_a_commit_says_is_read_the_same_whatever_encoding_is_configured() {
    let (fixture, onto, _) = forked("topic.txt");
    git(&fixture.root, &["switch", "--quiet", "topic"]);
    let words = [
        "commit",
        "--quiet",
        "--allow-empty",
        "--amend",
        "-m",
        "Größe",
    ];
    git(&fixture.root, &words);
    let head = Oid::parse(&git(&fixture.root, &["rev-parse", "HEAD"])).unwrap();
    git(
        &fixture.root,
        &["config", "i18n.commitEncoding", "ISO-8859-1"],
    );
    let repository = fixture.repository().await;
    for (method, subject) in [
        (MergeMethod::Merge, "Grüße"),
        (MergeMethod::Squash, "Grüße"),
        (MergeMethod::Rebase, "Größe"),
    ] {
        let made = repository.combine(method, &onto, &head, "Grüße\n").await;
        let made = made.unwrap();
        let words = [
            "log",
            "-1",
            "--format=%s",
            "--encoding=UTF-8",
            made.as_str(),
        ];
        assert_eq!(git(&fixture.root, &words), subject, "{method}");
    }
}
