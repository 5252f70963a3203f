//! Issues: read, listed, made.

use serde_json::json;

use super::client::Github;
use super::list::{Listed, MOST_PAGES, PAGE, names_next};
use super::refusal::Subject;
use super::request::{Lost, Request};
use super::wire::{WireIssue, WireLabel};
use crate::forge::ForgeError;
use crate::model::hidden::drop_hidden_in_line;

/// An issue, as far as an agent needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    pub number: u64,
    pub title: String,
    pub body: String,
}

/// What a new issue is to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIssue {
    pub title: String,
    pub body: String,
    pub labels: Vec<String>,
    /// A line that only this issue has in its body, by which it is found again.
    pub mark: String,
}

/// An issue that was just made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedIssue {
    pub number: u64,
    pub url: String,
}

/// An open issue in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenIssue {
    pub number: u64,
    pub title: String,
    pub body: String,
    pub labels: Vec<String>,
    /// Nobody, if the account is gone.
    pub author: Option<String>,
    pub created_at: String,
    pub updated_at: String,
    pub comments: u64,
    pub url: String,
}

impl Github {
    /// Returns one issue.
    pub async fn issue(&self, number: u64) -> Result<Issue, ForgeError> {
        let request = Request::get(self.path(&format!("issues/{number}")));
        let answer = self
            .ask(&request, self.clock())
            .await
            .map_err(|lost| lost.error)?;
        let issue: WireIssue = self.read(&answer, Subject::Issue(number))?;
        Ok(Issue {
            number: issue.number,
            title: drop_hidden_in_line(&issue.title),
            body: issue.body.unwrap_or_default(),
        })
    }

    /// Lists open issues, the newest first, without pull requests.
    pub async fn issues(&self, limit: usize) -> Result<Listed<OpenIssue>, ForgeError> {
        self.list("issues", "state=open", limit, |issue: WireIssue| {
            issue
                .pull_request
                .is_none()
                .then(|| (issue.number, issue.into()))
        })
        .await
    }

    /// Makes an issue, never two: if the answer got lost and the issue can't be found, it says so.
    ///
    /// Whoever calls again after `Uncertain`, or after a call that was broken off, looks with [`Self::marked_issue`] first.
    pub async fn create_issue(&self, new: &NewIssue) -> Result<CreatedIssue, ForgeError> {
        let clock = self.clock();
        let text = format!("{}\n\n{}", new.body.trim_end(), new.mark);
        let body = json!({"title": new.title, "body": text, "labels": new.labels});
        let request = Request::post(self.path("issues"), body);
        let issue: WireIssue = match self.ask(&request, clock).await {
            Ok(answer) => self.read(&answer, Subject::Repository)?,
            Err(Lost {
                error,
                unclear: false,
            }) => return Err(error),
            Err(Lost {
                error,
                unclear: true,
            }) => {
                let found = self.marked_issue(&new.mark).await.unwrap_or_default();
                return found.ok_or_else(|| ForgeError::Uncertain {
                    what: format!("the issue `{}`", drop_hidden_in_line(&new.title)),
                    source: Box::new(error),
                });
            }
        };
        Ok(CreatedIssue {
            number: issue.number,
            url: drop_hidden_in_line(&issue.html_url),
        })
    }

    /// Returns the issue that ends with a mark, open or closed, if there is one among the newest 2,000.
    ///
    /// Others may quote it or be copied from it; the oldest is the one.
    pub async fn marked_issue(&self, mark: &str) -> Result<Option<CreatedIssue>, ForgeError> {
        let clock = self.clock();
        let mut oldest: Option<CreatedIssue> = None;
        for page in 1..=MOST_PAGES {
            let path =
                format!("issues?state=all&sort=created&direction=desc&per_page={PAGE}&page={page}");
            let answer = self
                .ask(&Request::get(self.path(&path)), clock)
                .await
                .map_err(|lost| lost.error)?;
            let issues: Vec<WireIssue> = self.read(&answer, Subject::Repository)?;
            let marked = issues.into_iter().filter(|issue| {
                let body = issue.body.as_deref().unwrap_or_default().trim_end();
                issue.pull_request.is_none() && body.lines().next_back() == Some(mark)
            });
            match marked.min_by_key(|issue| issue.number) {
                Some(issue) => {
                    oldest = Some(CreatedIssue {
                        number: issue.number,
                        url: drop_hidden_in_line(&issue.html_url),
                    });
                }
                None if oldest.is_some() => break,
                None => {}
            }
            if !answer.header("link").is_some_and(names_next) {
                break;
            }
        }
        Ok(oldest)
    }
}

impl From<WireIssue> for OpenIssue {
    fn from(issue: WireIssue) -> Self {
        let labels = issue.labels.into_iter().filter_map(|label| match label {
            WireLabel::Name(name) => Some(name),
            WireLabel::Label { name } => name,
        });
        Self {
            number: issue.number,
            title: drop_hidden_in_line(&issue.title),
            body: issue.body.unwrap_or_default(),
            labels: labels.map(|label| drop_hidden_in_line(&label)).collect(),
            author: issue.user.map(|user| user.login),
            created_at: issue.created_at,
            updated_at: issue.updated_at,
            comments: issue.comments,
            url: drop_hidden_in_line(&issue.html_url),
        }
    }
}
