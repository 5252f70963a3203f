//! Pull-request operations of a repository, on GitHub or the local forge.

use super::github::GithubForge;
use super::local;
use super::publication::{MergeTerms, Work};
use crate::error::{Code, Error};
use crate::git::{Oid, Repository};
use crate::model::{NewPullRequest, PullRequest, PullState};
use crate::workflow::{Context, Forge, Run, Step, forge};

/// The forge of a repository, ready to be asked.
#[derive(Debug)]
pub(crate) enum PullBackend {
    Github(Box<GithubForge>),
    Local,
}

impl PullBackend {
    pub(crate) async fn open(context: &Context, repository: &Repository) -> Result<Self, Error> {
        match forge(&context.environment, &context.settings().forge, repository).await? {
            Forge::Github { remote, token } => {
                let github = GithubForge::open(context, repository, remote, &token).await?;
                Ok(Self::Github(Box::new(github)))
            }
            Forge::Local { .. } => Ok(Self::Local),
        }
    }

    /// Makes the pull request, or brings the open one of the same branch up to date.
    ///
    /// Returns it, and whether it is new.
    pub(crate) async fn publish(
        &self,
        context: &Context,
        run: &Run,
        repository: &Repository,
        work: &Work,
        new: &NewPullRequest,
    ) -> Result<(PullRequest, bool), Error> {
        match self {
            Self::Github(github) => github.publish(context, run, repository, work, new).await,
            Self::Local => {
                run.step(Step::OpeningPullRequest)?;
                local::publish(context, repository, work, new).await
            }
        }
    }

    pub(crate) async fn get(
        &self,
        context: &Context,
        repository: &Repository,
        number: u64,
    ) -> Result<PullRequest, Error> {
        match self {
            Self::Github(github) => github.get(context, number).await,
            Self::Local => local::get(context, repository, number).await,
        }
    }

    /// Returns the open pull request of a branch.
    pub(crate) async fn open_of(
        &self,
        context: &Context,
        repository: &Repository,
        branch: &str,
    ) -> Result<Option<PullRequest>, Error> {
        match self {
            Self::Github(github) => github.open_of(context, branch).await,
            Self::Local => {
                let (key, branch) = (
                    Context::repository_key(repository.root()),
                    branch.to_owned(),
                );
                let open = context
                    .store
                    .read(move |r| r.open_pull_request(&key, &branch))
                    .await?;
                Ok(open)
            }
        }
    }

    pub(crate) async fn list(
        &self,
        context: &Context,
        repository: &Repository,
        state: Option<PullState>,
        limit: usize,
    ) -> Result<Vec<PullRequest>, Error> {
        match self {
            Self::Github(github) => github.list(context, state, limit).await,
            Self::Local => local::list(context, repository, state, limit).await,
        }
    }

    /// Returns what a pull request changes, with a last line that says so if it was cut.
    pub(crate) async fn diff(
        &self,
        context: &Context,
        repository: &Repository,
        number: u64,
        limit: usize,
    ) -> Result<String, Error> {
        match self {
            Self::Github(github) => github.diff(context, number, limit).await,
            Self::Local => {
                let pull = local::get(context, repository, number).await?;
                let diff = local::diff(context, repository, &pull, limit).await?;
                Ok(if diff.truncated {
                    diff.text + &format!("[… cut: the diff has more than {limit} bytes]\n")
                } else {
                    diff.text
                })
            }
        }
    }

    /// Gives an open pull request another head, which its branch has; never by force.
    pub(crate) async fn update(
        &self,
        context: &Context,
        repository: &Repository,
        pull: &PullRequest,
        head: &Oid,
    ) -> Result<PullRequest, Error> {
        match self {
            Self::Github(github) => github.update(context, repository, pull, head).await,
            Self::Local => local::update(context, repository, pull, head).await,
        }
    }

    pub(crate) async fn merge(
        &self,
        context: &Context,
        repository: &Repository,
        number: u64,
        terms: &MergeTerms,
    ) -> Result<PullRequest, Error> {
        match self {
            Self::Github(github) => github.merge(context, number, terms).await,
            Self::Local => local::merge(context, repository, number, terms).await,
        }
    }

    pub(crate) async fn close(
        &self,
        context: &Context,
        repository: &Repository,
        number: u64,
    ) -> Result<PullRequest, Error> {
        match self {
            Self::Github(github) => github.close(context, number).await,
            Self::Local => local::close(context, repository, number).await,
        }
    }

    pub(crate) async fn reopen(
        &self,
        context: &Context,
        repository: &Repository,
        number: u64,
    ) -> Result<PullRequest, Error> {
        match self {
            Self::Github(github) => {
                let pull = github.get(context, number).await?;
                Err(Error::new(
                    Code::NotAvailable,
                    format!("pull request {number} is reopened on GitHub itself"),
                )
                .hint(format!(
                    "Reopen it at {}, then run `claude-codex sync`.",
                    pull.url
                )))
            }
            Self::Local => local::reopen(context, repository, number).await,
        }
    }
}
