//! Issues are read, listed and made, never twice.

use scripted_github::{Fault, ScriptedGithub, Trouble};
use serde_json::json;
use shared::forge::{ForgeError, NewIssue};

use super::client;

fn new_issue() -> NewIssue {
    NewIssue {
        title: "Greet people".to_owned(),
        body: "By name.".to_owned(),
        labels: vec!["priority: high".to_owned()],
        mark: "<!-- claude-codex: t-1 -->".to_owned(),
    }
}

#[tokio::test]
async fn one_is_made_and_read() {
    let server = ScriptedGithub::start().await.unwrap();
    let github = client(&server);
    let made = github.create_issue(&new_issue()).await.unwrap();
    assert_eq!(made.number, 1);
    assert_eq!(made.url, format!("{}/octo/hello/issues/1", server.url()));
    let sent = &server.requests()[0].body;
    assert_eq!(
        *sent,
        json!({"title": "Greet people", "body": "By name.\n\n<!-- claude-codex: t-1 -->", "labels": ["priority: high"]})
    );
    let read = github.issue(1).await.unwrap();
    assert_eq!(
        (read.title.as_str(), read.body.as_str()),
        ("Greet people", "By name.\n\n<!-- claude-codex: t-1 -->")
    );
}

#[tokio::test]
async fn pull_requests_and_closed_ones_are_not_listed() {
    let server = ScriptedGithub::start().await.unwrap();
    {
        let mut state = server.state();
        for number in 0..150 {
            state.add_issue(&format!("issue {number}"), "", &["bug"]);
            state.add_pull("pull", &format!("codex/{number}"), "main");
        }
        state.issues.get_mut(&1).unwrap().open = false;
    }
    let github = client(&server);
    let all = github.issues(1_000).await.unwrap();
    assert_eq!((all.items.len(), all.more), (149, false));
    let newest = &all.items[0];
    assert_eq!(
        (newest.title.as_str(), newest.labels.as_slice()),
        ("issue 149", &["bug".to_owned()][..])
    );
    assert_eq!(newest.author.as_deref(), Some("octocat"));
    let some = github.issues(148).await.unwrap();
    assert_eq!((some.items.len(), some.more), (148, true));
}

#[tokio::test]
async fn a_lost_answer_never_makes_a_second() {
    for trouble in [Trouble::DropAfter, Trouble::AnswerAfter { status: 502 }] {
        let server = ScriptedGithub::start().await.unwrap();
        server.fail(Fault::once(trouble).method("POST"));
        let made = client(&server).create_issue(&new_issue()).await.unwrap();
        assert_eq!(made.number, 1);
        assert_eq!(server.state().issues.len(), 1);
        assert_eq!(server.count("POST", "/issues"), 1);
    }
    for fault in [Fault::once(Trouble::DropBefore), Fault::status(502)] {
        let server = ScriptedGithub::start().await.unwrap();
        server.fail(fault.method("POST"));
        let error = client(&server)
            .create_issue(&new_issue())
            .await
            .unwrap_err();
        assert!(matches!(error, ForgeError::Uncertain { .. }), "{error}");
        assert_eq!(server.count("POST", "/issues"), 1);
    }
}

#[tokio::test]
async fn an_issue_is_found_by_its_mark_and_by_nothing_else() {
    let server = ScriptedGithub::start().await.unwrap();
    let github = client(&server);
    let mark = new_issue().mark;
    server.state().add_issue("Greet people", "By name.", &[]);
    assert_eq!(github.marked_issue(&mark).await.unwrap(), None);
    let made = github.create_issue(&new_issue()).await.unwrap();
    for number in 0..120 {
        server
            .state()
            .add_issue(&format!("Later {number}"), "", &[]);
    }
    // Closed, and on the second page.
    server.state().issues.get_mut(&made.number).unwrap().open = false;
    assert_eq!(github.marked_issue(&mark).await.unwrap(), Some(made));
}

#[tokio::test]
async fn a_repository_without_issues_says_so() {
    let server = ScriptedGithub::start().await.unwrap();
    server.state().issues_enabled = false;
    let github = client(&server);
    let error = github.create_issue(&new_issue()).await.unwrap_err();
    assert!(
        matches!(&error, ForgeError::Gone { message, .. } if message.contains("disabled")),
        "{error}"
    );
    server.state().issues_enabled = true;
    let error = github.issue(7).await.unwrap_err();
    assert!(
        matches!(&error, ForgeError::NotFound { what } if what == "issue 7 of octo/hello"),
        "{error}"
    );
}
