//! The client for GitHub, and pushes, against a GitHub on loopback.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking, also in its helper functions"
)]

mod faults;
mod issues;
mod limits;
mod merges;
mod openapi;

mod pulls;
mod pushes;

use std::time::Duration;

use scripted_github::{ScriptedGithub, TOKEN};
use shared::forge::{ForgeError, Github, RetryPolicy, parse_remote};
use shared::model::{NewPullRequest, Secret};

/// Short pauses, and room enough for a machine that is busy.
const QUICK: RetryPolicy = RetryPolicy {
    total: Duration::from_secs(20),
    one_try: Duration::from_secs(10),
    tries: 4,
    first_pause: Duration::from_millis(5),
};

fn with_token(url: &str, token: &str) -> Github {
    let remote = parse_remote("git@github.com:octo/hello.git").unwrap();
    Github::new(remote, Some(url), &Secret::new(token))
        .unwrap()
        .with_retry_policy(QUICK)
}

fn client(server: &ScriptedGithub) -> Github {
    with_token(&server.url(), TOKEN)
}

fn new_pull(branch: &str) -> NewPullRequest {
    NewPullRequest {
        title: "Add a greeting".to_owned(),
        body: "Says hello.\n\nCloses #1".to_owned(),
        head_branch: branch.to_owned(),
        base_branch: "main".to_owned(),
        draft: false,
    }
}

/// Returns all of an error that could ever be shown.
fn all_of(error: ForgeError) -> String {
    let debug = format!("{error:?} {error}");
    let shown = shared::error::Error::from(error);
    format!(
        "{debug} {shown:?} {}",
        serde_json::to_string(&shown).unwrap()
    )
}
