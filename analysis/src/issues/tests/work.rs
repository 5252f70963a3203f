//! Issues, pull requests and tasks: groups, duplicates, readiness.

use super::*;
use model::Missing;

#[test]
fn labels_ages_and_staleness() {
    let folder = repository();
    let mut input = input(folder.path());
    for (number, label, created, updated) in
        [(1, "bug", 400, 100), (2, "bug", 5, 1), (3, "", 50, 89)]
    {
        let mut issue = issue(number, "t", "");
        issue.labels = if label.is_empty() {
            vec![]
        } else {
            vec![label.to_owned()]
        };
        issue.created_at = days_ago(created);
        issue.updated_at = days_ago(updated);
        input.work.issues.push(issue);
    }
    input.work.pulls.push(pull(4, "x"));
    let report = issues(&input, Depth::Shallow, &patient()).unwrap();
    assert_eq!(
        (report.issues, report.pulls, report.stale),
        (Some(3), Some(1), 2)
    );
    let [bug, unlabelled] = &report.labels[..] else {
        panic!("{:?}", report.labels);
    };
    assert_eq!(
        (bug.label.as_str(), bug.issues, bug.stale, bug.oldest_days),
        ("bug", 2, 1, 400)
    );
    assert_eq!(bug.numbers, [2, 1]);
    // The labels of the pull request were not read.
    assert_eq!((unlabelled.label.as_str(), unlabelled.issues), ("", 1));
    assert_eq!(unlabelled.numbers, [3]);
    let ages: Vec<(AgeBand, u32, u32)> = report
        .ages
        .iter()
        .map(|age| (age.age, age.issues, age.pulls))
        .collect();
    assert_eq!(
        ages,
        [
            (AgeBand::Week, 1, 0),
            (AgeBand::Quarter, 1, 1),
            (AgeBand::Older, 1, 0)
        ]
    );
    assert_eq!(
        report
            .items
            .iter()
            .map(|item| item.number)
            .collect::<Vec<_>>(),
        [2, 4, 3, 1]
    );
    assert!(report.incomplete.is_empty(), "{:?}", report.incomplete);
}

#[test]
fn ready_blocked_critical_and_circular_tasks() {
    let folder = repository();
    let mut input = input(folder.path());
    input.work.tasks = vec![
        task("done", TaskStatus::Done, &[], Some(1.0)),
        task("a", TaskStatus::Open, &["done"], Some(2.0)),
        task("b", TaskStatus::Open, &["a"], None),
        task("c", TaskStatus::Open, &["b", "a"], Some(3.0)),
        task("d", TaskStatus::Open, &[], Some(8.0)),
        task("e", TaskStatus::Open, &["missing"], Some(1.0)),
        task("x", TaskStatus::Open, &["y"], Some(1.0)),
        task("y", TaskStatus::Open, &["x"], Some(1.0)),
    ];
    let report = issues(&input, Depth::Shallow, &patient()).unwrap();
    let ready: Vec<(&str, u32, bool)> = report
        .ready
        .iter()
        .map(|task| (task.id.as_str(), task.unblocks, task.on_critical_path))
        .collect();
    assert_eq!(ready, [("a", 2, true), ("d", 0, false)]);
    let path = report.critical_path.unwrap();
    assert_eq!(
        (path.tasks, path.hours, path.unestimated),
        (vec!["a".to_owned(), "b".to_owned(), "c".to_owned()], 9.0, 1)
    );
    assert_eq!(*report.cycles, ["x", "y"]);
    let hopeless: Vec<&str> = report
        .blocked
        .iter()
        .filter(|task| task.hopeless)
        .map(|task| task.id.as_str())
        .collect();
    assert_eq!(hopeless, ["e", "x", "y"]);
    assert_eq!(
        report
            .blocked
            .iter()
            .find(|task| task.id == "c")
            .unwrap()
            .waiting_for,
        ["b", "a"]
    );
    assert_eq!(
        report
            .tasks
            .iter()
            .map(|count| (count.status, count.tasks))
            .collect::<Vec<_>>(),
        [(TaskStatus::Open, 7), (TaskStatus::Done, 1)]
    );
}

#[test]
fn likely_duplicates_share_rare_words() {
    let folder = repository();
    let mut input = input(folder.path());
    input.work.issues = vec![
        issue(
            1,
            "Parser crashes on empty header",
            "When the header is empty the parser crashes with index out of bounds.",
        ),
        issue(2, "Add dark mode", "The settings page needs a dark theme."),
        issue(
            3,
            "Crash in parser with empty headers",
            "An empty header makes the parser crash: index out of bounds.",
        ),
        issue(4, "Settings page is slow", "Loading takes ten seconds."),
    ];
    let report = issues(&input, Depth::Deep, &patient()).unwrap();
    assert_eq!(report.duplicates.len(), 1, "{:?}", report.duplicates);
    let found = &report.duplicates[0];
    assert_eq!((found.first, found.second), (1, 3));
    assert!(found.similarity >= report.duplicate_threshold && found.similarity <= 1.0);
    assert!(
        found.words.iter().any(|word| word == "header"),
        "{:?}",
        found.words
    );
}

#[test]
fn an_unavailable_forge_is_said() {
    let folder = repository();
    let mut input = input(folder.path());
    input.work.source = OpenWorkSource::Unavailable {
        why: "no token".to_owned(),
    };
    let report = issues(&input, Depth::Shallow, &patient()).unwrap();
    assert_eq!(report.source, SourceKind::Unavailable);
    assert_eq!(report.incomplete[0].why, "no token");
    assert!(
        report
            .headline()
            .starts_with("Open issues and pull requests unknown")
    );
}

#[test]
fn what_was_not_read_is_unknown_and_not_zero() {
    let folder = repository();
    write(folder.path(), "a.rs", "// TODO(#7): this\n");
    let missing = |what, why: &str| Missing {
        what,
        why: why.to_owned(),
    };
    let report_of = |source, missing: Vec<Missing>, open: Vec<OpenIssue>| {
        let mut input = input(folder.path());
        input.work.source = source;
        input.work.missing = missing;
        input.work.issues = open;
        issues(&input, Depth::Medium, &patient()).unwrap()
    };
    let unknown = "Open issues and pull requests unknown; the newest commit is 300 days old; 1 TODO; incomplete, see the list";
    let why = "no token".to_owned();
    let unavailable = report_of(OpenWorkSource::Unavailable { why }, Vec::new(), Vec::new());
    assert_eq!(unavailable.headline(), unknown);
    assert_eq!((unavailable.issues, unavailable.pulls), (None, None));
    // The number may be that of an open issue.
    assert_eq!(unavailable.todos[0].names_issue, None);
    let no_token = vec![missing("issues and pull requests on GitHub", "no token")];
    let local = report_of(OpenWorkSource::Local, no_token, Vec::new());
    assert_eq!(local.headline(), unknown);
    let alone = report_of(OpenWorkSource::Local, Vec::new(), Vec::new());
    assert_eq!(
        alone.headline(),
        "Open issues unknown; 0 open pull requests; the newest commit is 300 days old; 1 TODO"
    );
    let failed = vec![missing("issues", "503")];
    let half = report_of(OpenWorkSource::Github, failed, Vec::new());
    assert_eq!((half.issues, half.pulls), (None, Some(0)));
    let more = vec![missing("issues", "only the newest 1 were read")];
    let many = report_of(OpenWorkSource::Github, more, vec![issue(3, "x", "y")]);
    assert!(
        many.headline()
            .starts_with("at least 1 open issue, 0 open pull requests (0 stale); the newest commit is 300 days old; 1 TODO without"),
        "{}",
        many.headline()
    );
    assert_eq!(many.todos[0].names_issue, None);
    let all = report_of(OpenWorkSource::Github, Vec::new(), Vec::new());
    assert_eq!(all.todos[0].names_issue, Some(7));
}

#[test]
fn a_task_that_was_not_read_is_not_hopeless() {
    let folder = repository();
    let mut input = input(folder.path());
    input.work.tasks = vec![task("a", TaskStatus::Open, &["elsewhere"], None)];
    let report = issues(&input, Depth::Shallow, &patient()).unwrap();
    assert!(report.blocked[0].hopeless);
    input.work.missing = vec![Missing {
        what: "tasks",
        why: "only 1 of 2 were read".to_owned(),
    }];
    let report = issues(&input, Depth::Shallow, &patient()).unwrap();
    assert!(!report.blocked[0].hopeless);
}
