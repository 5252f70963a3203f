//! Pull requests: found by branch, created once, updated, closed, fetched by `ETag`, listed.

use http::StatusCode;
use octocrab::models::{self, IssueState};
use octocrab::params::State;
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::Github;
use super::list::{Listed, PAGE_SIZE};
use super::refusal::{ErrorBody, Subject};
use super::request::{Request, Response, query};
use super::retry::Deadline;
use crate::forge::ForgeError;
use crate::model::hidden::drop_hidden_in_line;
use crate::model::{Mergeable, NewPullRequest, PullRequest, PullState, Timestamp};

/// The result of a conditional request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched<T> {
    /// The resource still has the `ETag` that was sent.
    Unchanged,
    New {
        value: T,
        /// The `ETag` for the next request.
        etag: Option<String>,
    },
}

/// A pull request as GitHub returns it.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct GithubPull {
    pub(super) pull: PullRequest,
    /// `owner:branch` of the head.
    head_label: Option<String>,
    /// Only in the response for a single pull request.
    pub(super) mergeable_state: Option<models::pulls::MergeableState>,
}

/// The fields of octocrab's model that are used. Others are dropped before it parses a response: it rejects a pull request
/// because of any field that it does not know exactly, such as an incomplete account.
const FIELDS: [&str; 16] = [
    "id",
    "number",
    "url",
    "html_url",
    "title",
    "body",
    "state",
    "draft",
    "head",
    "base",
    "created_at",
    "updated_at",
    "merged_at",
    "merge_commit_sha",
    "mergeable",
    "mergeable_state",
];

fn without_unused_fields(mut value: Value) -> Value {
    let Some(fields) = value.as_object_mut() else {
        return value;
    };
    fields.retain(|name, _| FIELDS.contains(&name.as_str()));
    for side in ["head", "base"] {
        if let Some(Value::Object(side)) = fields.get_mut(side) {
            side.retain(|name, _| ["label", "ref", "sha"].contains(&name.as_str()));
        }
    }
    let state = fields.get("mergeable_state");
    if state.is_some_and(|state| models::pulls::MergeableState::deserialize(state).is_err()) {
        fields.remove("mergeable_state");
    }
    value
}

impl TryFrom<Value> for GithubPull {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let github: models::pulls::PullRequest =
            serde_json::from_value(without_unused_fields(value))
                .map_err(|error| error.to_string())?;
        // GitHub reports merged pull requests as closed.
        let state = match (&github.merged_at, github.state) {
            (Some(_), _) => PullState::Merged,
            (None, Some(IssueState::Open)) => PullState::Open,
            (None, _) => PullState::Closed,
        };
        let pull = PullRequest {
            number: github.number,
            url: drop_hidden_in_line(github.html_url.ok_or("it has no html_url")?.as_str()),
            title: drop_hidden_in_line(&github.title.ok_or("it has no title")?),
            body: github.body.unwrap_or_default(),
            state,
            draft: github.draft.unwrap_or_default(),
            head_branch: github.head.ref_field,
            base_branch: github.base.ref_field,
            head_commit: github.head.sha,
            // Before the merge it is a test commit that shows whether there are conflicts.
            merge_commit: github
                .merge_commit_sha
                .filter(|_| state == PullState::Merged),
            created_at: time(
                &github
                    .created_at
                    .ok_or("it has no created_at")?
                    .to_rfc3339(),
            )?,
            updated_at: time(
                &github
                    .updated_at
                    .ok_or("it has no updated_at")?
                    .to_rfc3339(),
            )?,
            merged_at: match github.merged_at {
                Some(merged_at) => Some(time(&merged_at.to_rfc3339())?),
                None => None,
            },
            mergeable: mergeable(github.mergeable, github.mergeable_state.as_ref()),
        };
        Ok(Self {
            pull,
            head_label: github.head.label,
            mergeable_state: github.mergeable_state,
        })
    }
}

/// Returns what GitHub says of a single pull request; none of one in a list. `null` means that it has yet to find out.
fn mergeable(
    is_mergeable: Option<bool>,
    state: Option<&models::pulls::MergeableState>,
) -> Option<Mergeable> {
    use models::pulls::MergeableState as State;
    Some(match (is_mergeable, state) {
        (None, None) => return None,
        // A draft, or one that a rule blocks too, may conflict all the same.
        (Some(false), _) | (_, Some(State::Dirty)) => Mergeable::Conflicting,
        (_, Some(State::Behind | State::Blocked | State::Draft)) => Mergeable::Blocked,
        (_, Some(State::Clean | State::HasHooks | State::Unstable)) | (Some(true), _) => {
            Mergeable::Clean
        }
        (None, Some(_)) => Mergeable::Unknown,
    })
}

/// Keeps GitHub's precision of whole seconds.
fn time(text: &str) -> Result<Timestamp, &'static str> {
    text.parse().map_err(|_| "it has an invalid time")
}

impl GithubPull {
    /// Returns whether it comes from the branch with this label. GitHub ignores the case of owners.
    fn is_from(&self, label: &str) -> bool {
        let Some((owner, branch)) = label.split_once(':') else {
            return false;
        };
        self.pull.head_branch == branch
            && self.head_label.as_deref().is_none_or(|theirs| {
                theirs
                    .split_once(':')
                    .is_none_or(|(theirs, _)| theirs.eq_ignore_ascii_case(owner))
            })
    }
}

impl Github {
    pub(super) fn pull_handler(&self) -> octocrab::pulls::PullRequestHandler<'_> {
        self.client
            .pulls(&self.remote.owner, &self.remote.repository)
    }

    /// Returns the open pull request from a branch of this repository, or of a fork as `owner:branch`.
    pub async fn open_pull(&self, head_branch: &str) -> Result<Option<PullRequest>, ForgeError> {
        let open = self.pulls_with(State::Open, head_branch, self.deadline());
        Ok(open.await?.into_iter().next())
    }

    /// Returns the newest pull requests from a branch, in any state.
    pub async fn pulls_from(&self, head_branch: &str) -> Result<Vec<PullRequest>, ForgeError> {
        self.pulls_with(State::All, head_branch, self.deadline())
            .await
    }

    async fn pulls_with(
        &self,
        state: State,
        head: &str,
        deadline: Deadline,
    ) -> Result<Vec<PullRequest>, ForgeError> {
        let label = if head.contains(':') {
            head.to_owned()
        } else {
            format!("{}:{head}", self.remote.owner)
        };
        let handler = self.pull_handler();
        let list = handler.list().state(state).head(&label).per_page(PAGE_SIZE);
        let path = format!("pulls?{}", query(&list)?);
        let found: Vec<GithubPull> = self.get(&path, Subject::Repository, deadline).await?;
        // GitHub ignores a filter that it does not understand.
        let from_branch = found.into_iter().filter(|found| found.is_from(&label));
        Ok(from_branch.map(|found| found.pull).collect())
    }

    /// Opens a pull request once: after a lost response it looks for the pull request before another try.
    pub async fn create_pull(&self, new: &NewPullRequest) -> Result<PullRequest, ForgeError> {
        let deadline = self.deadline();
        let handler = self.pull_handler();
        let body = handler
            .create(&new.title, &new.head_branch, &new.base_branch)
            .body(new.body.clone())
            .draft(new.draft);
        let request = Request::post(self.path("pulls"), json!(body));
        let mut tries = 0;
        let mut may_have_happened = false;
        loop {
            tries += 1;
            let error = match self.send(&request, deadline).await {
                Ok(response) => {
                    let created = self.parse_created(&response, new);
                    // The existing one may be ours, from the request whose response was lost.
                    let exists = matches!(created, Err(ForgeError::PullRequestExists { .. }));
                    if !(may_have_happened && exists) {
                        return created;
                    }
                    return self.matching_pull(new, deadline).await?.map_or(created, Ok);
                }
                Err(unanswered) if !unanswered.may_have_happened => return Err(unanswered.error),
                Err(unanswered) => unanswered.error,
            };
            may_have_happened = true;
            // Whatever fails from here on, the lost response is the cause.
            match self.matching_pull(new, deadline).await {
                Ok(Some(pull)) => return Ok(pull),
                Ok(None) => {}
                Err(_) => return Err(error),
            }
            if !self.pause_before(tries, deadline).await {
                return Err(error);
            }
        }
    }

    /// Returns the open pull request with the branches and the text of `new`.
    async fn matching_pull(
        &self,
        new: &NewPullRequest,
        deadline: Deadline,
    ) -> Result<Option<PullRequest>, ForgeError> {
        let pulls = self.pulls_with(State::Open, &new.head_branch, deadline);
        Ok(pulls.await?.into_iter().find(|pull| {
            pull.base_branch == new.base_branch
                && same_text(&pull.title, &drop_hidden_in_line(&new.title))
                && same_text(&pull.body, &new.body)
        }))
    }

    fn parse_created(
        &self,
        response: &Response,
        new: &NewPullRequest,
    ) -> Result<PullRequest, ForgeError> {
        if response.status != StatusCode::UNPROCESSABLE_ENTITY {
            let created: GithubPull = self.parse(response, Subject::Repository)?;
            return Ok(created.pull);
        }
        let error = ErrorBody::of(response);
        let text = error.text();
        let (head, base) = (new.head_branch.clone(), new.base_branch.clone());
        Err(if text.contains("A pull request already exists") {
            ForgeError::PullRequestExists { head }
        } else if text.contains("No commits between") {
            ForgeError::NothingToCompare { head, base }
        } else if error.blames("base") {
            ForgeError::BaseNotFound { base }
        } else if error.blames("head") {
            ForgeError::HeadNotFound { head }
        } else if text.contains("Draft pull requests are not supported") {
            ForgeError::DraftsNotOffered
        } else {
            self.refusal(response, Subject::Repository)
        })
    }

    /// Sets title and body of a pull request.
    pub async fn update_pull(
        &self,
        number: u64,
        title: &str,
        body: &str,
    ) -> Result<PullRequest, ForgeError> {
        self.patch_pull(number, json!({"title": title, "body": body}))
            .await
    }

    /// Closes a pull request without merging it.
    pub async fn close_pull(&self, number: u64) -> Result<PullRequest, ForgeError> {
        self.patch_pull(number, json!({"state": "closed"})).await
    }

    async fn patch_pull(&self, number: u64, fields: Value) -> Result<PullRequest, ForgeError> {
        let request = Request::patch(self.path(&format!("pulls/{number}")), fields);
        let response = self.fetch(&request, self.deadline()).await?;
        let found: GithubPull = self.parse(&response, Subject::Pull(number))?;
        Ok(found.pull)
    }

    /// Returns a pull request, unless it still has the `ETag` `known_etag`.
    pub async fn pull(
        &self,
        number: u64,
        known_etag: Option<&str>,
    ) -> Result<Fetched<PullRequest>, ForgeError> {
        let request = Request::get(self.path(&format!("pulls/{number}"))).if_none_match(known_etag);
        let response = self.fetch(&request, self.deadline()).await?;
        if response.status == StatusCode::NOT_MODIFIED {
            return Ok(Fetched::Unchanged);
        }
        let found: GithubPull = self.parse(&response, Subject::Pull(number))?;
        Ok(Fetched::New {
            value: found.pull,
            etag: response.header("etag").map(str::to_owned),
        })
    }

    /// Lists pull requests, newest first.
    pub async fn pulls(
        &self,
        state: Option<PullState>,
        limit: usize,
    ) -> Result<Listed<PullRequest>, ForgeError> {
        let asked = match state {
            None => State::All,
            Some(PullState::Open) => State::Open,
            Some(PullState::Closed | PullState::Merged) => State::Closed,
        };
        let handler = self.pull_handler();
        let list = handler.list().state(asked).per_page(PAGE_SIZE);
        let path = format!("pulls?{}", query(&list)?);
        self.list(&path, limit, |GithubPull { pull, .. }| {
            state
                .is_none_or(|state| state == pull.state)
                .then_some((pull.number, pull))
        })
        .await
    }

    /// Returns the diff of a pull request. A longer one is cut after a whole line, and ends with a line that says so.
    pub async fn pull_diff(&self, number: u64, limit_bytes: usize) -> Result<String, ForgeError> {
        let request = Request::get(self.path(&format!("pulls/{number}")))
            .accept("application/vnd.github.diff")
            .at_most(limit_bytes);
        let response = self.fetch(&request, self.deadline()).await?;
        if response.status == StatusCode::NOT_ACCEPTABLE {
            return Err(ForgeError::DiffTooLarge { number });
        }
        if !response.status.is_success() {
            return Err(self.refusal(&response, Subject::Pull(number)));
        }
        let text = String::from_utf8_lossy(&response.body).into_owned();
        if !response.truncated {
            return Ok(text);
        }
        let whole_lines = text.rfind('\n').map_or(0, |end| end + 1);
        Ok(format!(
            "{}[… cut: the diff has more than {limit_bytes} bytes]\n",
            &text[..whole_lines]
        ))
    }
}

/// Returns whether two texts differ only in line endings and surrounding white space.
fn same_text(one: &str, other: &str) -> bool {
    one.replace("\r\n", "\n").trim() == other.replace("\r\n", "\n").trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_and_states_do_not_make_a_pull_request_unreadable() {
        let pull: GithubPull = serde_json::from_value(json!({
            "id": 1, "number": 7, "url": "https://api.github.com/p/7", "html_url": "https://github.com/o/r/pull/7",
            "title": "t", "body": null, "state": "open", "draft": false,
            "head": {"label": "o:b", "ref": "b", "sha": "a1", "user": {"login": "x"}, "repo": {"new": 1}},
            "base": {"label": "o:main", "ref": "main", "sha": "b2", "user": null, "repo": 3},
            "created_at": "2026-07-28T12:34:56Z", "updated_at": "2026-07-28T12:34:56Z", "merged_at": null,
            "mergeable_state": "queued", "user": {"login": "incomplete"}, "stack": "new",
        }))
        .unwrap();
        assert_eq!((pull.pull.number, pull.mergeable_state), (7, None));
    }

    #[test]
    fn what_github_has_yet_to_find_out_is_unknown_and_a_conflict_is_one_whatever_else_it_is() {
        let said = |fields: Value| {
            let mut value = json!({
                "id": 7, "number": 7, "url": "https://api.github.com/repos/octo/hello/pulls/7",
                "html_url": "https://github.com/octo/hello/pull/7",
                "title": "t", "state": "open", "created_at": "2026-01-01T00:00:00Z",
                "updated_at": "2026-01-01T00:00:00Z",
                "head": {"label": "octo:work", "ref": "work", "sha": "a".repeat(40)},
                "base": {"label": "octo:main", "ref": "main", "sha": "b".repeat(40)},
            });
            let more = fields.as_object().unwrap().clone();
            value.as_object_mut().unwrap().extend(more);
            GithubPull::try_from(value).unwrap().pull.mergeable
        };
        assert_eq!(said(json!({})), None, "a list says nothing");
        for (is_mergeable, state, expected) in [
            (Value::Null, "unknown", Mergeable::Unknown),
            (json!(false), "dirty", Mergeable::Conflicting),
            (json!(false), "draft", Mergeable::Conflicting),
            (json!(false), "blocked", Mergeable::Conflicting),
            (json!(true), "blocked", Mergeable::Blocked),
            (json!(true), "behind", Mergeable::Blocked),
            (json!(true), "clean", Mergeable::Clean),
            (json!(true), "unstable", Mergeable::Clean),
            (json!(true), "new to us", Mergeable::Clean),
        ] {
            let fields = json!({"mergeable": is_mergeable, "mergeable_state": state});
            assert_eq!(said(fields), Some(expected), "{is_mergeable} {state}");
        }
    }
}
