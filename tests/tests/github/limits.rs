//! GitHub's limits are kept: a short wait is waited, a long one is said.

use std::time::{Duration, Instant, SystemTime};

use scripted_github::{Fault, ScriptedGithub, Trouble};
use serde_json::json;
use shared::error::{Code, Error};
use shared::forge::ForgeError;

use super::{client, new_pull};

fn limited(status: u16, message: &str, headers: &[(&str, &str)]) -> Fault {
    let headers = headers
        .iter()
        .map(|&(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    Fault::once(Trouble::Answer {
        status,
        headers,
        body: json!({ "message": message }),
    })
}

#[tokio::test]
async fn a_short_wait_is_waited_also_before_something_is_made() {
    for status in [403, 429] {
        let server = ScriptedGithub::start().await.unwrap();
        let text = "You have exceeded a secondary rate limit.";
        server.fail(limited(status, text, &[("retry-after", "1")]));
        let began = Instant::now();
        client(&server)
            .create_pull(&new_pull("codex/a"))
            .await
            .unwrap();
        assert!(began.elapsed() >= Duration::from_secs(1));
        assert_eq!(server.count("POST", "/pulls"), 2);
        assert_eq!(server.state().pulls.len(), 1);
    }
}

#[tokio::test]
async fn the_reset_of_a_used_up_limit_is_waited_for() {
    let server = ScriptedGithub::start().await.unwrap();
    server.state().add_issue("title", "", &[]);
    server.state().rate.remaining = 0;
    server.state().rate.reset = SystemTime::now() + Duration::from_secs(1);
    assert_eq!(client(&server).issue(1).await.unwrap().title, "title");
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_long_wait_is_said_at_once() {
    let server = ScriptedGithub::start().await.unwrap();
    server.state().rate.remaining = 0;
    server.state().rate.reset = SystemTime::now() + Duration::from_mins(15);
    let began = Instant::now();
    let error = client(&server).issue(1).await.unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(server.requests().len(), 1);
    let ForgeError::RateLimited { retry_after, .. } = &error else {
        unreachable!("{error}")
    };
    let seconds = retry_after.unwrap().as_secs();
    assert!((890..=902).contains(&seconds), "{seconds}");
    let error = Error::from(error);
    assert_eq!(error.code, Code::ForgeRateLimited);
    assert_eq!(error.hint.unwrap(), format!("Try again in {seconds} s."));
}

#[tokio::test]
async fn a_limit_without_a_time_means_a_minute() {
    let server = ScriptedGithub::start().await.unwrap();
    let text = "You have exceeded a secondary rate limit. Please wait a few minutes.";
    server.fail(limited(403, text, &[]));
    let error = client(&server).issue(1).await.unwrap_err();
    assert!(
        matches!(&error, ForgeError::RateLimited { retry_after: Some(wait), .. } if wait.as_secs() == 60),
        "{error:?}"
    );
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn no_permission_is_no_limit() {
    let server = ScriptedGithub::start().await.unwrap();
    let text = "Resource not accessible by personal access token";
    server.fail(limited(403, text, &[("x-ratelimit-remaining", "17")]));
    let error = client(&server).issue(1).await.unwrap_err();
    assert!(matches!(error, ForgeError::Forbidden { .. }), "{error}");
    assert_eq!(server.requests().len(), 1);
}
