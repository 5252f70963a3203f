//! What goes wrong on the way is mended where it can be, and said where it can't; the token never shows.

use std::time::{Duration, Instant};

use scripted_github::{Fault, ScriptedGithub, TOKEN, Trouble};
use serde_json::json;
use shared::error::{Code, Error};
use shared::forge::{ForgeError, Github, NewIssue, RetryPolicy, parse_remote};
use shared::model::Secret;

use super::{QUICK, all_of, client, new_pull, with_token};

#[tokio::test]
async fn questions_are_asked_again() {
    for fault in [
        Fault::status(500),
        Fault::status(502),
        Fault::status(503),
        Fault::once(Trouble::DropBefore),
        Fault::once(Trouble::DropAfter),
    ] {
        let server = ScriptedGithub::start().await.unwrap();
        server.state().add_issue("title", "", &[]);
        let shown = format!("{fault:?}");
        server.fail(fault.times(3));
        assert_eq!(
            client(&server).issue(1).await.unwrap().title,
            "title",
            "{shown}"
        );
        assert_eq!(server.requests().len(), 4, "{shown}");
    }
    let server = ScriptedGithub::start().await.unwrap();
    server.fail(Fault::status(503).times(100));
    let error = client(&server).issue(1).await.unwrap_err();
    assert!(
        matches!(error, ForgeError::ServerFailed { status: 503, .. }),
        "{error}"
    );
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_lost_answer_never_makes_a_second_pull_request() {
    for trouble in [Trouble::DropAfter, Trouble::AnswerAfter { status: 502 }] {
        let server = ScriptedGithub::start().await.unwrap();
        server.fail(Fault::once(trouble).method("POST"));
        let made = client(&server)
            .create_pull(&new_pull("codex/a"))
            .await
            .unwrap();
        assert_eq!((made.number, server.state().pulls.len()), (1, 1));
        assert_eq!(server.count("POST", "/pulls"), 1);
    }
    // What was not processed is tried again, after a look.
    for fault in [Fault::once(Trouble::DropBefore), Fault::status(502)] {
        let server = ScriptedGithub::start().await.unwrap();
        server.fail(fault.method("POST").times(2));
        let made = client(&server)
            .create_pull(&new_pull("codex/a"))
            .await
            .unwrap();
        assert_eq!((made.number, server.state().pulls.len()), (1, 1));
        let methods: Vec<String> = server
            .requests()
            .into_iter()
            .map(|seen| seen.method)
            .collect();
        assert_eq!(methods, ["POST", "GET", "POST", "GET", "POST"]);
    }
}

#[tokio::test]
async fn a_pull_request_that_says_something_else_is_not_taken_for_ours() {
    let server = ScriptedGithub::start().await.unwrap();
    server.state().add_pull("by somebody", "codex/a", "main");
    server.fail(Fault::once(Trouble::DropBefore).method("POST"));
    let error = client(&server)
        .create_pull(&new_pull("codex/a"))
        .await
        .unwrap_err();
    assert!(
        matches!(error, ForgeError::PullRequestExists { .. }),
        "{error}"
    );
    assert_eq!(server.state().pulls.len(), 1);
}

#[tokio::test]
async fn nobody_waits_longer_than_allowed() {
    let server = ScriptedGithub::start().await.unwrap();
    server.fail(Fault::once(Trouble::Delay(Duration::from_mins(1))).times(100));
    let retry_policy = RetryPolicy {
        total: Duration::from_millis(700),
        one_try: Duration::from_millis(300),
        tries: 1_000,
        ..QUICK
    };
    let github = client(&server).with_retry_policy(retry_policy);
    for call in 0..2 {
        let began = Instant::now();
        let error = match call {
            0 => github.issue(1).await.unwrap_err(),
            _ => github.create_pull(&new_pull("codex/a")).await.unwrap_err(),
        };
        assert!(matches!(error, ForgeError::TimedOut { .. }), "{error}");
        let took = began.elapsed();
        assert!(took < Duration::from_secs(8), "{took:?}");
    }
    assert!(server.state().pulls.len() <= 1);
}

#[tokio::test]
async fn nobody_listening_is_unreachable() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let github = with_token(&url, TOKEN);
    let issue = NewIssue {
        title: "title".to_owned(),
        body: String::new(),
        labels: Vec::new(),
        mark: "<!-- claude-codex: t-1 -->".to_owned(),
    };
    // Nobody can have made it.
    let error = github.create_issue(&issue).await.unwrap_err();
    assert!(matches!(error, ForgeError::Unreachable { .. }), "{error}");
    let error = github.create_pull(&new_pull("codex/a")).await.unwrap_err();
    assert!(
        matches!(&error, ForgeError::Unreachable { reason } if reason.contains("refused")),
        "{error}"
    );
    assert_eq!(Error::from(error).code, Code::ForgeUnavailable);
}

#[tokio::test]
async fn a_server_that_comes_up_late_gets_the_request_once() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let retry_policy = RetryPolicy {
        tries: 50,
        first_pause: Duration::from_millis(40),
        ..QUICK
    };
    let github =
        with_token(&format!("http://127.0.0.1:{port}"), TOKEN).with_retry_policy(retry_policy);
    let call = tokio::spawn(async move { github.create_pull(&new_pull("codex/a")).await });
    // Not a synchronisation: however late or early it is, the outcome is the same.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let server = ScriptedGithub::serve(scripted_github::State::default(), port)
        .await
        .unwrap();
    call.await.unwrap().unwrap();
    assert_eq!(server.count("POST", "/pulls"), 1);
}

#[tokio::test]
async fn a_page_in_place_of_json_is_named_as_such() {
    let server = ScriptedGithub::start().await.unwrap();
    server.fail(Fault::once(Trouble::Page));
    let error = client(&server).issue(1).await.unwrap_err();
    assert!(matches!(error, ForgeError::NotUnderstood { .. }), "{error}");
    server.fail(Fault::once(Trouble::AnswerAfter { status: 418 }));
    let error = client(&server).issue(1).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "GitHub answered with status 418: I'm a teapot"
    );
}

#[tokio::test]
async fn tokens_that_are_wrong_or_weak_are_told_apart() {
    let server = ScriptedGithub::start().await.unwrap();
    let stranger = with_token(&server.url(), "ghp_wrong");
    let error = stranger.open_pull("codex/a").await.unwrap_err();
    assert!(matches!(error, ForgeError::Unauthorized), "{error}");
    assert_eq!(server.requests().len(), 1, "it would not get better");

    server.state().read_only = true;
    let error = client(&server)
        .create_pull(&new_pull("codex/a"))
        .await
        .unwrap_err();
    let error = Error::from(error);
    assert_eq!(error.code, Code::ForgeForbidden);
    assert!(error.hint.unwrap().contains("pull_requests=write"));

    server.state().read_only = false;
    server.state().name = "other".to_owned();
    let error = client(&server).open_pull("codex/a").await.unwrap_err();
    assert!(
        matches!(&error, ForgeError::RepositoryNotFound { repository } if repository == "octo/hello"),
        "{error}"
    );
    let archived = json!({"message": "Repository was archived so is read-only."});
    server.fail(Fault::once(Trouble::Answer {
        status: 403,
        headers: Vec::new(),
        body: archived,
    }));
    let error = client(&server).close_pull(1).await.unwrap_err();
    assert!(matches!(error, ForgeError::Archived), "{error}");

    let remote = parse_remote("git@github.com:octo/hello.git").unwrap();
    for token in ["", "two words", "line\nend", "ümlaut"] {
        let github = Github::new(remote.clone(), None, &Secret::new(token));
        assert!(matches!(github, Err(ForgeError::InvalidToken)), "{token}");
    }
    for url in [
        "",
        "github.com",
        "ftp://x",
        "https://",
        "https://me:pw@host/api",
        "http://h/?q",
    ] {
        let error = Github::new(remote.clone(), Some(url), &Secret::new("t")).unwrap_err();
        assert!(matches!(error, ForgeError::InvalidAddress { .. }), "{url}");
        assert!(!error.to_string().contains("pw"), "{error}");
    }
}

#[tokio::test]
async fn the_token_and_floods_of_text_are_in_no_error() {
    let server = ScriptedGithub::start().await.unwrap();
    let github = client(&server);
    assert!(!format!("{github:?}").contains(TOKEN));
    let echo = format!("\u{1b}[31m{TOKEN} {}", "x".repeat(100_000));
    for status in [400, 401, 403, 404, 405, 409, 410, 418, 422, 429, 500, 503] {
        let body = json!({"message": echo, "errors": [echo, {"message": echo}, {"field": echo, "code": echo}]});
        let headers = vec![(
            "x-accepted-oauth-scopes".to_owned(),
            format!("repo, {TOKEN}"),
        )];
        server.fail(
            Fault::once(Trouble::Answer {
                status,
                headers,
                body,
            })
            .times(1_000),
        );
        let calls = [
            github.issue(1).await.err(),
            github.create_pull(&new_pull("codex/a")).await.err(),
            github
                .merge_pull(1, shared::model::MergeMethod::Merge, "a")
                .await
                .err(),
        ];
        for error in calls {
            let text = all_of(error.unwrap());
            assert!(!text.contains(TOKEN), "{status}: {text}");
            assert!(
                !text.contains('\u{1b}') && text.len() < 5_000,
                "{status}: {text}"
            );
        }
        server.forgive();
    }
}

#[tokio::test]
async fn enterprise_servers_have_their_api_below_a_path() {
    let server = ScriptedGithub::start().await.unwrap();
    server.state().add_issue("title", "", &[]);
    let github = with_token(&format!("{}/api/v3/", server.url()), TOKEN);
    assert_eq!(github.issue(1).await.unwrap().title, "title");
    assert_eq!(
        server.requests()[0].path,
        "/api/v3/repos/octo/hello/issues/1"
    );
}
