//! Merges a pull request, and finds out why that is not possible.

use serde_json::json;

use super::client::Github;
use super::refusal::Subject;
use super::request::{Answer, Lost, Request};
use super::retry::Clock;
use super::wire::WirePull;
use crate::forge::ForgeError;
use crate::model::{MergeMethod, PullState};

impl Github {
    /// Merges a pull request, once: after an answer that got lost, it looks before it tries again.
    ///
    /// GitHub refuses if the pull request's head is not (or no longer) `head`.
    pub async fn merge_pull(
        &self,
        number: u64,
        method: MergeMethod,
        head: &str,
    ) -> Result<(), ForgeError> {
        let clock = self.clock();
        let path = self.path(&format!("pulls/{number}/merge"));
        let request = Request::put(path, json!({"merge_method": method.as_str(), "sha": head}));
        let mut tries = 0;
        loop {
            tries += 1;
            let error = match self.ask(&request, clock).await {
                Ok(answer) if answer.status.is_success() => return Ok(()),
                Ok(answer) => {
                    let error = self.not_merged(&answer, number, clock).await;
                    let merged = tries > 1 && self.is_merged(number, clock).await;
                    return if merged { Ok(()) } else { Err(error) };
                }
                Err(Lost {
                    error,
                    unclear: false,
                }) => return Err(error),
                Err(Lost {
                    error,
                    unclear: true,
                }) => error,
            };
            if self.is_merged(number, clock).await {
                return Ok(());
            }
            if !self.pause_before(tries, clock).await {
                return Err(error);
            }
        }
    }

    /// Whether it is merged, as far as that can be found out.
    async fn is_merged(&self, number: u64, clock: Clock) -> bool {
        let pull = self.look(number, clock).await;
        pull.is_ok_and(|pull| pull.state() == PullState::Merged)
    }

    async fn look(&self, number: u64, clock: Clock) -> Result<WirePull, ForgeError> {
        let request = Request::get(self.path(&format!("pulls/{number}")));
        let answer = self.ask(&request, clock).await.map_err(|lost| lost.error)?;
        self.read(&answer, Subject::Pull(number))
    }

    async fn not_merged(&self, answer: &Answer, number: u64, clock: Clock) -> ForgeError {
        let message = self.message(answer);
        match answer.status.as_u16() {
            409 => return ForgeError::Moved { number, message },
            405 => {}
            _ => return self.refusal(answer, Subject::Pull(number)),
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
        // "Pull Request is not mergeable" says too little; the pull request itself says why.
        let Ok(pull) = self.look(number, clock).await else {
            return ForgeError::NotMergeable { number, message };
        };
        let because = |text: &str| ForgeError::NotMergeable {
            number,
            message: text.to_owned(),
        };
        match (pull.state(), pull.mergeable_state.as_deref()) {
            (PullState::Merged, _) => because("it is merged already"),
            (PullState::Closed, _) => because("it is closed"),
            (PullState::Open, Some("dirty")) => ForgeError::Conflict { number },
            (PullState::Open, Some("draft")) => because("it is a draft"),
            (PullState::Open, Some("blocked" | "behind")) => {
                ForgeError::Protected { number, message }
            }
            (PullState::Open, _) => ForgeError::NotMergeable { number, message },
        }
    }
}
