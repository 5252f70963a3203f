//! Merges a pull request, and finds out why a merge was refused.

use octocrab::models::pulls::MergeableState;
use octocrab::params;
use serde_json::json;

use super::client::Github;
use super::pulls::GithubPull;
use super::refusal::Subject;
use super::request::{Request, Response};
use super::retry::Deadline;
use crate::forge::ForgeError;
use crate::model::{MergeMethod, PullState};

impl Github {
    /// Merges a pull request once: after a lost response it checks the pull request before another try.
    ///
    /// GitHub refuses if the pull request's head is not `head`.
    pub async fn merge_pull(
        &self,
        number: u64,
        method: MergeMethod,
        head: &str,
    ) -> Result<(), ForgeError> {
        let deadline = self.deadline();
        let method = match method {
            MergeMethod::Merge => params::pulls::MergeMethod::Merge,
            MergeMethod::Squash => params::pulls::MergeMethod::Squash,
            MergeMethod::Rebase => params::pulls::MergeMethod::Rebase,
        };
        let body = json!(self.pull_handler().merge(number).method(method).sha(head));
        let request = Request::put(self.path(&format!("pulls/{number}/merge")), body);
        let mut tries = 0;
        loop {
            tries += 1;
            let error = match self.send(&request, deadline).await {
                Ok(response) if response.status.is_success() => return Ok(()),
                Ok(response) => {
                    let error = self.merge_refusal(&response, number, deadline).await;
                    let merged = tries > 1 && self.is_merged(number, deadline).await;
                    return if merged { Ok(()) } else { Err(error) };
                }
                Err(unanswered) if !unanswered.may_have_happened => return Err(unanswered.error),
                Err(unanswered) => unanswered.error,
            };
            if self.is_merged(number, deadline).await {
                return Ok(());
            }
            if !self.pause_before(tries, deadline).await {
                return Err(error);
            }
        }
    }

    /// Returns whether it is known to be merged.
    async fn is_merged(&self, number: u64, deadline: Deadline) -> bool {
        let found = self.get_pull(number, deadline).await;
        found.is_ok_and(|found| found.pull.state == PullState::Merged)
    }

    async fn get_pull(&self, number: u64, deadline: Deadline) -> Result<GithubPull, ForgeError> {
        let path = format!("pulls/{number}");
        self.get(&path, Subject::Pull(number), deadline).await
    }

    async fn merge_refusal(
        &self,
        response: &Response,
        number: u64,
        deadline: Deadline,
    ) -> ForgeError {
        let message = self.message(response);
        match response.status.as_u16() {
            409 => return ForgeError::Moved { number, message },
            405 => {}
            _ => return self.refusal(response, Subject::Pull(number)),
        }
        let says = |phrases: &[&str]| {
            let message = message.to_lowercase();
            phrases.iter().any(|phrase| message.contains(phrase))
        };
        if says(&["merges are not allowed", "merge commits are not allowed"]) {
            return ForgeError::MethodNotAllowed { message };
        }
        if says(&["was modified"]) {
            return ForgeError::Moved { number, message };
        }
        if says(&["protected", "required", "rule violation", "must be made"]) {
            return ForgeError::Protected { number, message };
        }
        if says(&["conflict"]) {
            return ForgeError::Conflict { number };
        }
        // "Pull Request is not mergeable" gives no reason; the pull request itself does.
        let Ok(found) = self.get_pull(number, deadline).await else {
            return ForgeError::NotMergeable { number, message };
        };
        let because = |text: &str| ForgeError::NotMergeable {
            number,
            message: text.to_owned(),
        };
        match (found.pull.state, found.mergeable_state) {
            (PullState::Merged, _) => because("it is merged already"),
            (PullState::Closed, _) => because("it is closed"),
            (PullState::Open, Some(MergeableState::Dirty)) => ForgeError::Conflict { number },
            (PullState::Open, Some(MergeableState::Draft)) => because("it is a draft"),
            (PullState::Open, Some(MergeableState::Blocked | MergeableState::Behind)) => {
                ForgeError::Protected { number, message }
            }
            (PullState::Open, _) => ForgeError::NotMergeable { number, message },
        }
    }
}
