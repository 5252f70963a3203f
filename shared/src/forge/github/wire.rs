//! GitHub's JSON, as far as we read it. Whatever may be missing or null somewhere is optional.

use serde::Deserialize;

use crate::model::hidden::drop_hidden_in_line;
use crate::model::{PullRequest, PullState};

#[derive(Debug, Deserialize)]
pub(super) struct WirePull {
    number: u64,
    html_url: String,
    title: String,
    body: Option<String>,
    state: String,
    #[serde(default)]
    draft: bool,
    pub(super) head: WireBranch,
    pub(super) base: WireBranch,
    merge_commit_sha: Option<String>,
    created_at: String,
    updated_at: String,
    merged_at: Option<String>,
    /// Only in the answer about a single pull request.
    #[serde(default)]
    pub(super) mergeable_state: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WireBranch {
    #[serde(rename = "ref")]
    pub(super) name: String,
    sha: String,
    /// `owner:branch`.
    #[serde(default)]
    pub(super) label: Option<String>,
}

impl WirePull {
    pub(super) fn state(&self) -> PullState {
        // The field `state` knows only open and closed.
        match (&self.merged_at, self.state.as_str()) {
            (Some(_), _) => PullState::Merged,
            (None, "open") => PullState::Open,
            (None, _) => PullState::Closed,
        }
    }
}

impl From<WirePull> for PullRequest {
    fn from(pull: WirePull) -> Self {
        let state = pull.state();
        Self {
            number: pull.number,
            url: drop_hidden_in_line(&pull.html_url),
            title: drop_hidden_in_line(&pull.title),
            body: pull.body.unwrap_or_default(),
            state,
            draft: pull.draft,
            head_branch: pull.head.name,
            base_branch: pull.base.name,
            head_commit: pull.head.sha,
            // Before the merge it is a commit that only tries whether there are conflicts.
            merge_commit: pull.merge_commit_sha.filter(|_| state == PullState::Merged),
            created_at: pull.created_at,
            updated_at: pull.updated_at,
            merged_at: pull.merged_at,
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct WireIssue {
    pub(super) number: u64,
    pub(super) html_url: String,
    pub(super) title: String,
    pub(super) body: Option<String>,
    #[serde(default)]
    pub(super) labels: Vec<WireLabel>,
    pub(super) user: Option<WireUser>,
    pub(super) created_at: String,
    pub(super) updated_at: String,
    #[serde(default)]
    pub(super) comments: u64,
    /// Every pull request is also listed as an issue.
    #[serde(default)]
    pub(super) pull_request: Option<serde::de::IgnoredAny>,
}

/// Old issues have their labels as plain names.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum WireLabel {
    Name(String),
    Label { name: Option<String> },
}

#[derive(Debug, Deserialize)]
pub(super) struct WireUser {
    pub(super) login: String,
}
