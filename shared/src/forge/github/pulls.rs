//! Pull requests: looked for, made, changed, read.

use http::StatusCode;
use serde_json::{Value, json};

use super::client::Github;
use super::list::Listed;
use super::refusal::{Complaint, Subject};
use super::request::{Answer, Lost, Request, encoded};
use super::retry::Clock;
use super::wire::WirePull;
use crate::forge::ForgeError;
use crate::model::hidden::drop_hidden_in_line;
use crate::model::{NewPullRequest, PullRequest, PullState};

/// The answer to a question that was asked before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched<T> {
    /// It is as it was when the tag was given.
    Unchanged,
    New {
        value: T,
        /// To be given the next time.
        etag: Option<String>,
    },
}

impl Github {
    /// Returns the open pull request from a branch of this repository, or of a fork as `owner:branch`.
    pub async fn open_pull(&self, head_branch: &str) -> Result<Option<PullRequest>, ForgeError> {
        let mut open = self.open_pulls(head_branch, self.clock()).await?;
        Ok((!open.is_empty()).then(|| open.swap_remove(0).into()))
    }

    /// Returns the newest pull requests from a branch, in whatever state they are.
    pub async fn pulls_from(&self, head_branch: &str) -> Result<Vec<PullRequest>, ForgeError> {
        let pulls = self.pulls_in("all", head_branch, self.clock()).await?;
        Ok(pulls.into_iter().map(PullRequest::from).collect())
    }

    async fn open_pulls(&self, head: &str, clock: Clock) -> Result<Vec<WirePull>, ForgeError> {
        self.pulls_in("open", head, clock).await
    }

    async fn pulls_in(
        &self,
        state: &str,
        head: &str,
        clock: Clock,
    ) -> Result<Vec<WirePull>, ForgeError> {
        let label = self.label(head);
        let query = format!("pulls?state={state}&per_page=100&head={}", encoded(&label));
        let answer = self
            .ask(&Request::get(self.path(&query)), clock)
            .await
            .map_err(|lost| lost.error)?;
        let mut pulls: Vec<WirePull> = self.read(&answer, Subject::Repository)?;
        // A filter that GitHub does not understand filters nothing.
        pulls.retain(|pull| is_from(pull, &label));
        Ok(pulls)
    }

    /// Returns a branch as GitHub labels it: `owner:branch`.
    fn label(&self, head: &str) -> String {
        if head.contains(':') {
            head.to_owned()
        } else {
            format!("{}:{head}", self.remote.owner)
        }
    }

    /// Opens a pull request, once: after an answer that got lost, it looks before it tries again.
    pub async fn create_pull(&self, new: &NewPullRequest) -> Result<PullRequest, ForgeError> {
        let clock = self.clock();
        let request = Request::post(
            self.path("pulls"),
            json!({
                "title": new.title,
                "body": new.body,
                "head": new.head_branch,
                "base": new.base_branch,
                "draft": new.draft,
            }),
        );
        let mut tries = 0;
        let mut unclear = false;
        loop {
            tries += 1;
            let error = match self.ask(&request, clock).await {
                Ok(answer) => {
                    let created = self.created(&answer, new);
                    // It may be our own, made by the request whose answer was lost.
                    if !(unclear && matches!(created, Err(ForgeError::PullRequestExists { .. }))) {
                        return created;
                    }
                    return self.own_pull(new, clock).await?.map_or(created, Ok);
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
            unclear = true;
            // Whatever goes wrong now, the lost answer is the reason.
            match self.own_pull(new, clock).await {
                Ok(Some(pull)) => return Ok(pull),
                Ok(None) => {}
                Err(_) => return Err(error),
            }
            if !self.pause_before(tries, clock).await {
                return Err(error);
            }
        }
    }

    /// Returns the open pull request that says what `new` wants said.
    async fn own_pull(
        &self,
        new: &NewPullRequest,
        clock: Clock,
    ) -> Result<Option<PullRequest>, ForgeError> {
        let pulls = self.open_pulls(&new.head_branch, clock).await?;
        Ok(pulls.into_iter().map(PullRequest::from).find(|pull| {
            pull.base_branch == new.base_branch
                && same_text(&pull.title, &drop_hidden_in_line(&new.title))
                && same_text(&pull.body, &new.body)
        }))
    }

    fn created(&self, answer: &Answer, new: &NewPullRequest) -> Result<PullRequest, ForgeError> {
        if answer.status != StatusCode::UNPROCESSABLE_ENTITY {
            let pull: WirePull = self.read(answer, Subject::Repository)?;
            return Ok(pull.into());
        }
        let complaint = Complaint::of(answer);
        let text = complaint.text();
        let (head, base) = (new.head_branch.clone(), new.base_branch.clone());
        Err(if text.contains("A pull request already exists") {
            ForgeError::PullRequestExists { head }
        } else if text.contains("No commits between") {
            ForgeError::NothingToCompare { head, base }
        } else if complaint.blames("base") {
            ForgeError::BaseNotFound { base }
        } else if complaint.blames("head") {
            ForgeError::HeadNotFound { head }
        } else if text.contains("Draft pull requests are not supported") {
            ForgeError::DraftsNotOffered
        } else {
            self.refusal(answer, Subject::Repository)
        })
    }

    /// Gives a pull request another title and body.
    pub async fn update_pull(
        &self,
        number: u64,
        title: &str,
        body: &str,
    ) -> Result<PullRequest, ForgeError> {
        self.change(number, json!({"title": title, "body": body}))
            .await
    }

    /// Closes a pull request without merging it.
    pub async fn close_pull(&self, number: u64) -> Result<PullRequest, ForgeError> {
        self.change(number, json!({"state": "closed"})).await
    }

    async fn change(&self, number: u64, fields: Value) -> Result<PullRequest, ForgeError> {
        let request = Request::patch(self.path(&format!("pulls/{number}")), fields);
        let answer = self
            .ask(&request, self.clock())
            .await
            .map_err(|lost| lost.error)?;
        let pull: WirePull = self.read(&answer, Subject::Pull(number))?;
        Ok(pull.into())
    }

    /// Returns a pull request, unless it is as it was when `known_etag` was given.
    pub async fn pull(
        &self,
        number: u64,
        known_etag: Option<&str>,
    ) -> Result<Fetched<PullRequest>, ForgeError> {
        let request = Request::get(self.path(&format!("pulls/{number}"))).unless(known_etag);
        let answer = self
            .ask(&request, self.clock())
            .await
            .map_err(|lost| lost.error)?;
        if answer.status == StatusCode::NOT_MODIFIED {
            return Ok(Fetched::Unchanged);
        }
        let pull: WirePull = self.read(&answer, Subject::Pull(number))?;
        Ok(Fetched::New {
            value: pull.into(),
            etag: answer.header("etag").map(str::to_owned),
        })
    }

    /// Lists pull requests, the newest first.
    pub async fn pulls(
        &self,
        state: Option<PullState>,
        limit: usize,
    ) -> Result<Listed<PullRequest>, ForgeError> {
        let query = match state {
            None => "state=all",
            Some(PullState::Open) => "state=open",
            Some(PullState::Closed | PullState::Merged) => "state=closed",
        };
        self.list("pulls", query, limit, |pull: WirePull| {
            let pull = PullRequest::from(pull);
            state
                .is_none_or(|state| state == pull.state)
                .then_some((pull.number, pull))
        })
        .await
    }

    /// Returns the diff of a pull request; a longer one is cut after a whole line, with a line that says so.
    pub async fn pull_diff(&self, number: u64, limit_bytes: usize) -> Result<String, ForgeError> {
        let request = Request::get(self.path(&format!("pulls/{number}")))
            .accept("application/vnd.github.diff")
            .at_most(limit_bytes);
        let answer = self
            .ask(&request, self.clock())
            .await
            .map_err(|lost| lost.error)?;
        if answer.status == StatusCode::NOT_ACCEPTABLE {
            return Err(ForgeError::DiffTooLarge { number });
        }
        if !answer.status.is_success() {
            return Err(self.refusal(&answer, Subject::Pull(number)));
        }
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        if !answer.cut {
            return Ok(text);
        }
        let whole_lines = text.rfind('\n').map_or(0, |end| end + 1);
        Ok(format!(
            "{}[… cut: the diff has more than {limit_bytes} bytes]\n",
            &text[..whole_lines]
        ))
    }
}

/// Whether a pull request comes from the branch of that label. Owners are the same in any case.
fn is_from(pull: &WirePull, label: &str) -> bool {
    let Some((owner, branch)) = label.split_once(':') else {
        return false;
    };
    pull.head.name == branch
        && pull.head.label.as_deref().is_none_or(|theirs| {
            theirs
                .split_once(':')
                .is_none_or(|(theirs, _)| theirs.eq_ignore_ascii_case(owner))
        })
}

/// Whether two texts are the same but for line ends and the space around them.
pub(super) fn same_text(one: &str, other: &str) -> bool {
    one.replace("\r\n", "\n").trim() == other.replace("\r\n", "\n").trim()
}
