//! TODOs, branches and file pointers of a real repository.

use std::sync::atomic::Ordering;

use super::*;

#[test]
fn branches_left_over() {
    let folder = repository();
    let root = folder.path();
    git(root, &["branch", "merged"], now());
    git(root, &["checkout", "-q", "-b", "old"], now());
    commit(root, "old work", days_ago(120));
    git(root, &["checkout", "-q", "-b", "fresh", "main"], now());
    commit(root, "fresh work", days_ago(2));
    git(root, &["checkout", "-q", "-b", "gone", "main"], now());
    commit(root, "work whose upstream went", days_ago(3));
    git(root, &["config", "branch.gone.remote", "origin"], now());
    git(
        root,
        &["config", "branch.gone.merge", "refs/heads/gone"],
        now(),
    );
    git(
        root,
        &["config", "remote.origin.url", "https://example.invalid/x"],
        now(),
    );
    git(
        root,
        &[
            "config",
            "remote.origin.fetch",
            "+refs/heads/*:refs/remotes/origin/*",
        ],
        now(),
    );
    git(
        root,
        &["update-ref", "refs/remotes/origin/remote-old", "old"],
        now(),
    );
    git(root, &["checkout", "-q", "main"], now());
    commit(root, "later", days_ago(1));
    let report = issues(&input(root), Depth::Shallow, &patient()).unwrap();
    assert!(report.incomplete.is_empty(), "{:?}", report.incomplete);
    assert_eq!(report.base_branch.as_deref(), Some("main"));
    let mut found: Vec<(&str, &[BranchReason], u32)> = report
        .branches
        .iter()
        .map(|branch| {
            (
                branch.name.as_str(),
                branch.reasons.as_slice(),
                branch.idle_days,
            )
        })
        .collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("gone", &[BranchReason::UpstreamGone][..], 3),
            (
                "merged",
                &[BranchReason::Merged, BranchReason::NoRecentCommit][..],
                300
            ),
            ("old", &[BranchReason::NoRecentCommit][..], 120),
            (
                "origin/remote-old",
                &[BranchReason::NoRecentCommit][..],
                120
            ),
        ]
    );
}

/// In a repository that rests, the newest work is old and still no left-over.
#[test]
fn a_branch_is_worked_on_or_left_over_but_not_both() {
    let folder = repository();
    let root = folder.path();
    commit(root, "newest", days_ago(100));
    for branch in ["lately", "gone"] {
        git(root, &["checkout", "-q", "-b", branch, "main"], now());
        write(root, branch, "x");
        git(root, &["add", "-A"], now());
        commit(root, "work", days_ago(95));
    }
    git(
        root,
        &["update-ref", "refs/remotes/origin/lately", "lately"],
        now(),
    );
    for (key, value) in [
        ("branch.gone.remote", "origin"),
        ("branch.gone.merge", "refs/heads/gone"),
        ("remote.origin.url", "https://example.invalid/x"),
        ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
    ] {
        git(root, &["config", key, value], now());
    }
    git(root, &["checkout", "-q", "main"], now());
    let report = issues(&input(root), Depth::Medium, &patient()).unwrap();
    let recent = report.recent.unwrap();
    let active: Vec<&str> = recent.branches.iter().map(|it| it.name.as_str()).collect();
    let left: Vec<&str> = report.branches.iter().map(|it| it.name.as_str()).collect();
    assert_eq!((active, left), (vec!["lately"], vec!["gone"]));
}

#[test]
fn lately_and_left_over_count_from_the_same_commit() {
    let folder = repository();
    let root = folder.path();
    commit(root, "newest", days_ago(185));
    for (branch, days) in [("near", 187), ("far", 280), ("between", 250)] {
        git(root, &["checkout", "-q", "-b", branch, "main"], now());
        write(root, branch, "x");
        git(root, &["add", "-A"], now());
        commit(root, "work", days_ago(days));
    }
    git(root, &["checkout", "-q", "main"], now());
    let report = issues(&input(root), Depth::Medium, &patient()).unwrap();
    let recent = report.recent.as_ref().unwrap();
    let active: Vec<&str> = recent.branches.iter().map(|it| it.name.as_str()).collect();
    let left: Vec<&str> = report.branches.iter().map(|it| it.name.as_str()).collect();
    assert_eq!((active, left), (vec!["near"], vec!["far"]));
    let headline = report.headline();
    assert!(
        headline.contains("the newest commit is 185 days old"),
        "{headline}"
    );
}

#[test]
fn branches_that_stay_or_are_worked_on_are_not_left_over() {
    let folder = repository();
    let root = folder.path();
    let kept = [
        "releases/5.4.x",
        "6.2",
        "v10.x",
        "release-0.101.0",
        "redis-7.0",
        "stable",
        "develop",
        "4.0-stable",
        "REL_15_STABLE",
        "open",
    ];
    for name in kept
        .iter()
        .chain(&["issue-123", "2021-idea", "fix/release-notes2/x"])
    {
        git(root, &["branch", name], now());
    }
    commit(root, "later", days_ago(1));
    git(root, &["branch", "begun"], now());
    let mut input = input(root);
    input.work.pulls.push(pull(1, "open"));
    let report = issues(&input, Depth::Shallow, &patient()).unwrap();
    let mut found: Vec<&str> = report
        .branches
        .iter()
        .map(|branch| branch.name.as_str())
        .collect();
    found.sort_unstable();
    assert_eq!(found, ["2021-idea", "issue-123"]);
}

#[test]
fn the_same_remark_in_many_places_is_one() {
    let folder = repository();
    for name in ["a", "b", "c"] {
        let text = "// TODO: make this work on Windows\nfn x() {}\n// TODO\n// see x/y#7 TODO: x/y#8 and https://github.com/x/y/issues/9\n";
        write(folder.path(), &format!("{name}.rs"), text);
    }
    let report = issues(&input(folder.path()), Depth::Medium, &patient()).unwrap();
    let found: Vec<(&str, u32, Option<u64>)> = report
        .todos
        .iter()
        .map(|todo| (todo.text.as_str(), todo.more_places, todo.names_issue))
        .collect();
    assert_eq!(
        found,
        [
            ("make this work on Windows", 2, None),
            ("x/y#8 and https://github.com/x/y/issues/9", 2, None),
            ("", 0, None),
            ("", 0, None),
            ("", 0, None),
        ]
    );
}

#[test]
fn lately_says_where_people_work() {
    let folder = repository();
    let root = folder.path();
    let change = |path: &str, text: &str, days: i64| {
        write(root, path, text);
        git(root, &["add", "-A"], days_ago(days));
        commit(root, "change", days_ago(days));
    };
    change("old/a.rs", "1", 200);
    change("core/store/deep/er/rows.rs", "1", 30);
    change("core/store/deep/er/rows.rs", "2", 20);
    for number in 0..3 {
        change("dropped/x.rs", &number.to_string(), 15);
    }
    git(root, &["rm", "-q", "dropped/x.rs"], days_ago(12));
    commit(root, "drop it", days_ago(12));
    change("README", "1", 10);
    git(root, &["checkout", "-q", "-b", "agent/rows", "main"], now());
    change("core/store/deep/more.rs", "1", 9);
    change("ui/page.rs", "1", 8);
    git(root, &["checkout", "-q", "main"], now());
    git(root, &["branch", "same"], now());
    let mut input = input(root);
    input.work.pulls.push(pull(5, "agent/rows"));
    let report = issues(&input, Depth::Medium, &patient()).unwrap();
    let recent = report.recent.as_ref().unwrap();
    assert_eq!(
        (
            recent.days,
            report.newest_commit_days,
            recent.commits,
            recent.authors
        ),
        (42, Some(10), 7, 1)
    );
    let areas: Vec<(&str, u32, String)> = recent
        .areas
        .iter()
        .map(|area| (area.folder.as_str(), area.commits, area.branches.join(" ")))
        .collect();
    assert_eq!(
        areas,
        [
            ("core/store/deep", 2, "agent/rows".to_owned()),
            (".", 1, String::new())
        ]
    );
    assert_eq!(recent.areas[0].files, ["core/store/deep/er/rows.rs"]);
    let [branch] = &recent.branches[..] else {
        panic!("{:?}", recent.branches);
    };
    assert_eq!(
        (
            branch.name.as_str(),
            branch.commits,
            branch.files,
            branch.idle_days,
            branch.pull
        ),
        ("agent/rows", 2, 2, 8, Some(5))
    );
    assert_eq!(branch.areas, ["core/store/deep", "ui"]);
    let shallow = issues(&input, Depth::Shallow, &patient()).unwrap();
    assert_eq!(shallow.recent, None);
}

#[test]
fn a_folder_without_git_is_incomplete() {
    let folder = tempfile::tempdir().unwrap();
    // A folder above may be a repository; a broken one here is the nearest.
    std::fs::write(folder.path().join(".git"), "gitdir: /nonexistent\n").unwrap();
    let report = issues(&input(folder.path()), Depth::Shallow, &patient()).unwrap();
    assert_eq!(report.incomplete[0].what, "stale branches");
}

#[test]
fn remarks_that_nobody_knows_of() {
    let folder = repository();
    let root = folder.path();
    write(
        root,
        "src/a.rs",
        "fn a() {}\n// TODO: handle timeouts of the upload queue\nlet todo = \"TODO in a text\";\n// FIXME(#7): closed long ago\n",
    );
    write(
        root,
        "src/b.py",
        "# HACK see #5\nx = 1  # XXX rewrite this frobnicator\n",
    );
    write(root, "notes.md", "# TODO everything\n");
    write(root, ".gitignore", "ignored/\n");
    write(root, "ignored/c.rs", "// TODO ignored\n");
    let mut input = input(root);
    input.work.issues = vec![
        issue(5, "Clean up", ""),
        issue(
            6,
            "Upload queue hangs",
            "We must handle timeouts in the upload queue.",
        ),
    ];
    let report = issues(&input, Depth::Medium, &patient()).unwrap();
    let found: Vec<(String, &str, Option<u64>)> = report
        .todos
        .iter()
        .map(|todo| {
            (
                format!("{}:{} {}", todo.path, todo.line, todo.word),
                todo.text.as_str(),
                todo.names_issue,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (
                "src/a.rs:4 FIXME".to_owned(),
                "(#7): closed long ago",
                Some(7)
            ),
            (
                "src/b.py:2 XXX".to_owned(),
                "rewrite this frobnicator",
                None
            ),
        ]
    );
    assert_eq!(report.covered_todos, 2);
    assert!(
        issues(&input, Depth::Shallow, &patient())
            .unwrap()
            .todos
            .is_empty()
    );
}

#[test]
fn words_point_to_files() {
    let folder = repository();
    let root = folder.path();
    write(
        root,
        "src/http/header_parser.rs",
        "pub fn parse_header_line() {}\n",
    );
    write(root, "src/http/body.rs", "fn x() { parse_header_line() }\n");
    write(root, "src/settings/theme.ts", "export const x = 1;\n");
    write(root, "docs/readme.md", "nothing\n");
    let mut input = input(root);
    input.work.issues = vec![
        issue(
            1,
            "HeaderParser loses lines",
            "`parse_header_line` drops the last one",
        ),
        issue(2, "Typo", "in src/settings/theme.ts line 3."),
        issue(3, "Nothing in particular", "at all"),
    ];
    let report = issues(&input, Depth::Deep, &patient()).unwrap();
    let of = |number: u64| {
        report
            .pointers
            .iter()
            .find(|pointer| pointer.number == number)
    };
    let first = &of(1).unwrap().files;
    assert_eq!(first[0].path, "src/http/header_parser.rs");
    assert!(
        first[0].words.contains(&"HeaderParser".to_owned())
            && first[0].words.contains(&"parse_header_line".to_owned()),
        "{first:?}"
    );
    assert_eq!(first[1].path, "src/http/body.rs");
    let second = &of(2).unwrap().files[0];
    assert_eq!(
        (second.path.as_str(), second.score >= 10.0),
        ("src/settings/theme.ts", true)
    );
    assert!(of(3).is_none());
}

#[test]
fn cancelling_ends_it_at_once() {
    let folder = repository();
    for number in 0..400 {
        write(
            folder.path(),
            &format!("d{}/f{number}.rs", number % 40),
            &"// TODO: something about nothing\n".repeat(100),
        );
    }
    // A busy machine may stall any thread; the analysis itself is quick if one try of three is.
    let quick = (0..3).any(|_| {
        let mut budget = patient();
        let cancel = budget.cancel.clone();
        let cancelled_at = Arc::new(std::sync::Mutex::new(None));
        let noted = cancelled_at.clone();
        budget.progress = Arc::new(move |progress: crate::Progress| {
            if progress.step == "searching remarks in the code" {
                cancel.store(true, Ordering::Relaxed);
                *noted.lock().unwrap() = Some(Instant::now());
            }
        });
        let result = issues(&input(folder.path()), Depth::Deep, &budget);
        assert!(matches!(result, Err(AnalysisError::Cancelled)));
        let took = cancelled_at.lock().unwrap().unwrap().elapsed();
        took < Duration::from_millis(100)
    });
    assert!(quick);
}

#[test]
fn a_late_analysis_says_what_is_missing() {
    let folder = repository();
    let mut budget = patient();
    budget.deadline = Instant::now();
    let report = issues(&input(folder.path()), Depth::Deep, &budget).unwrap();
    let missing: Vec<&str> = report
        .incomplete
        .iter()
        .map(|each| each.what.as_str())
        .collect();
    assert!(
        missing.contains(&"stale branches") && missing.contains(&"the list of files"),
        "{missing:?}"
    );
}
