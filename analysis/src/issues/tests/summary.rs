//! The summary of an issue report within its token budget.

use super::*;

fn crowded(root: &Path) -> IssuesInput {
    let mut input = input(root);
    for number in 0..600 {
        let mut issue = issue(
            number,
            &format!("Title {number} {}", "long ".repeat(60)),
            &format!("word{} word{} shared", number % 700, number % 900),
        );
        issue.labels = vec![format!("label{}", number % 50), "all".to_owned()];
        input.work.issues.push(issue);
        input.work.tasks.push(task(
            &format!("t{number}"),
            TaskStatus::Open,
            &[&format!("t{}", number + 1)],
            Some(1.0),
        ));
    }
    input
}

#[test]
fn thousands_of_issues_fit_every_budget() {
    let folder = repository();
    let report = issues(&crowded(folder.path()), Depth::Deep, &patient()).unwrap();
    for tokens in [2_000, 8_000, 20_000, 500_000] {
        let summary = summarise(&report, tokens);
        let size = serde_json::to_string(&summary).unwrap().len();
        assert!(
            size <= tokens.min(20_000) * 3,
            "{size} bytes for {tokens} tokens"
        );
        assert_eq!(summary.items.total(), 600);
        assert_eq!(summary.headline(), report.headline());
    }
}

#[test]
fn the_schema_describes_what_is_sent() {
    let schema = serde_json::to_value(schemars::schema_for!(IssueReport)).unwrap();
    assert!(schema["properties"]["coveredTodos"]["description"].is_string());
    let folder = repository();
    let report = issues(&input(folder.path()), Depth::Shallow, &patient()).unwrap();
    let sent = serde_json::to_value(&report).unwrap();
    assert_eq!(serde_json::from_value::<IssueReport>(sent).unwrap(), report);
}
