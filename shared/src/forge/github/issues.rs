//! Issues: read, listed, created at most once.

use octocrab::params::{Direction, State, issues::Sort};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use super::client::Github;
use super::list::{Listed, MAX_PAGES, PAGE_SIZE};
use super::refusal::Subject;
use super::request::{Request, query};
use crate::forge::ForgeError;
use crate::model::hidden::drop_hidden_in_line;
use crate::model::{OpenIssue, Timestamp};

/// The part of an issue that an agent needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    pub number: u64,
    pub title: String,
    pub body: String,
}

/// An issue to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIssue {
    pub title: String,
    pub body: String,
    pub labels: Vec<String>,
    /// The last line of the body, unique to this issue, by which it is found again.
    pub mark: String,
}

/// An issue that was just created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedIssue {
    pub number: u64,
    pub url: String,
}

/// An issue as GitHub returns it.
#[derive(Debug, Deserialize)]
struct GithubIssue {
    number: u64,
    html_url: String,
    title: String,
    body: Option<String>,
    #[serde(default)]
    labels: Vec<GithubLabel>,
    user: Option<GithubUser>,
    created_at: Timestamp,
    updated_at: Timestamp,
    #[serde(default)]
    comments: u64,
    /// Set if it is a pull request, which GitHub lists among the issues.
    #[serde(default)]
    pull_request: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum GithubLabel {
    /// Old issues.
    Name(String),
    Label {
        name: Option<String>,
    },
}

#[derive(Debug, Deserialize)]
struct GithubUser {
    login: String,
}

impl Github {
    fn issue_handler(&self) -> octocrab::issues::IssueHandler<'_> {
        self.client
            .issues(&self.remote.owner, &self.remote.repository)
    }

    /// Returns one issue.
    pub async fn issue(&self, number: u64) -> Result<Issue, ForgeError> {
        let path = format!("issues/{number}");
        let found = self.get(&path, Subject::Issue(number), self.deadline());
        let issue: GithubIssue = found.await?;
        Ok(Issue {
            number: issue.number,
            title: drop_hidden_in_line(&issue.title),
            body: issue.body.unwrap_or_default(),
        })
    }

    /// Lists open issues, newest first, without pull requests.
    pub async fn issues(&self, limit: usize) -> Result<Listed<OpenIssue>, ForgeError> {
        let handler = self.issue_handler();
        let list = handler.list().state(State::Open).per_page(PAGE_SIZE);
        let path = format!("issues?{}", query(&list)?);
        self.list(&path, limit, |issue: GithubIssue| {
            let is_issue = issue.pull_request.is_none();
            is_issue.then(|| (issue.number, issue.into()))
        })
        .await
    }

    /// Creates an issue at most once. If the response is lost and the issue can't be found, the error is `Uncertain`.
    ///
    /// After `Uncertain`, or after a call that was aborted, call [`Self::marked_issue`] before another try.
    pub async fn create_issue(&self, new: &NewIssue) -> Result<CreatedIssue, ForgeError> {
        let handler = self.issue_handler();
        let body = handler
            .create(&new.title)
            .body(format!("{}\n\n{}", new.body.trim_end(), new.mark))
            .labels(new.labels.clone());
        let request = Request::post(self.path("issues"), json!(body));
        match self.send(&request, self.deadline()).await {
            Ok(response) => {
                let issue: GithubIssue = self.parse(&response, Subject::Repository)?;
                Ok(issue.into())
            }
            Err(unanswered) if !unanswered.may_have_happened => Err(unanswered.error),
            Err(unanswered) => {
                let found = self.marked_issue(&new.mark).await.unwrap_or_default();
                found.ok_or_else(|| ForgeError::Uncertain {
                    what: format!("the issue `{}`", drop_hidden_in_line(&new.title)),
                    source: Box::new(unanswered.error),
                })
            }
        }
    }

    /// Returns the issue whose body ends with a mark, open or closed, among the newest 2,000.
    ///
    /// Of several, the oldest is returned: the others quote or copy it.
    pub async fn marked_issue(&self, mark: &str) -> Result<Option<CreatedIssue>, ForgeError> {
        let deadline = self.deadline();
        let handler = self.issue_handler();
        let list = handler
            .list()
            .state(State::All)
            .sort(Sort::Created)
            .direction(Direction::Descending)
            .per_page(PAGE_SIZE);
        let path = format!("issues?{}", query(&list)?);
        let mut oldest: Option<CreatedIssue> = None;
        for page in 1..=MAX_PAGES {
            let (issues, has_next) = self.page::<GithubIssue>(&path, page, deadline).await?;
            let marked = issues.into_iter().filter(|issue| {
                let body = issue.body.as_deref().unwrap_or_default().trim_end();
                issue.pull_request.is_none() && body.lines().next_back() == Some(mark)
            });
            match marked.min_by_key(|issue| issue.number) {
                Some(issue) => oldest = Some(issue.into()),
                None if oldest.is_some() => break,
                None => {}
            }
            if !has_next {
                break;
            }
        }
        Ok(oldest)
    }
}

impl From<GithubIssue> for CreatedIssue {
    fn from(issue: GithubIssue) -> Self {
        Self {
            number: issue.number,
            url: drop_hidden_in_line(&issue.html_url),
        }
    }
}

impl From<GithubIssue> for OpenIssue {
    fn from(issue: GithubIssue) -> Self {
        let labels = issue.labels.into_iter().filter_map(|label| match label {
            GithubLabel::Name(name) => Some(name),
            GithubLabel::Label { name } => name,
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
