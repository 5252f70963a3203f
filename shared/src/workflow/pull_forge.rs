//! Pull requests of a repository, on whichever forge is in force.

use super::github_forge::GithubForge;
use super::publication::Work;
use super::{Context, Forge, Run, forge, local_forge};
use crate::error::{Code, Error};
use crate::git::Repository;
use crate::model::{MergeMethod, NewPullRequest, PullRequest, PullState};

/// The forge of a repository, ready to be asked.
#[derive(Debug)]
pub(super) enum Pulls {
    Github(Box<GithubForge>),
    Local,
}

impl Pulls {
    pub(super) async fn open(context: &Context, repository: &Repository) -> Result<Self, Error> {
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
    pub(super) async fn publish(
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
                run.step("Opening the pull request")?;
                local_forge::publish(context, repository, work, new).await
            }
        }
    }

    pub(super) async fn get(
        &self,
        context: &Context,
        repository: &Repository,
        number: u64,
    ) -> Result<PullRequest, Error> {
        match self {
            Self::Github(github) => github.get(context, number).await,
            Self::Local => local_forge::get(context, repository, number).await,
        }
    }

    /// Returns the open pull request of a branch.
    pub(super) async fn open_of(
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

    pub(super) async fn list(
        &self,
        context: &Context,
        repository: &Repository,
        state: Option<PullState>,
        limit: usize,
    ) -> Result<Vec<PullRequest>, Error> {
        match self {
            Self::Github(github) => github.list(context, state, limit).await,
            Self::Local => local_forge::list(context, repository, state, limit).await,
        }
    }

    /// Returns what a pull request changes, with a last line that says so if it was cut.
    pub(super) async fn diff(
        &self,
        context: &Context,
        repository: &Repository,
        number: u64,
        limit: usize,
    ) -> Result<String, Error> {
        match self {
            Self::Github(github) => github.diff(context, number, limit).await,
            Self::Local => {
                let pull = local_forge::get(context, repository, number).await?;
                let diff = local_forge::diff(repository, &pull, limit).await?;
                Ok(if diff.truncated {
                    diff.text + &format!("[… cut: the diff has more than {limit} bytes]\n")
                } else {
                    diff.text
                })
            }
        }
    }

    pub(super) async fn merge(
        &self,
        context: &Context,
        repository: &Repository,
        number: u64,
        method: MergeMethod,
    ) -> Result<PullRequest, Error> {
        match self {
            Self::Github(github) => github.merge(context, number, method).await,
            Self::Local => local_forge::merge(context, repository, number, method).await,
        }
    }

    pub(super) async fn close(
        &self,
        context: &Context,
        repository: &Repository,
        number: u64,
    ) -> Result<PullRequest, Error> {
        match self {
            Self::Github(github) => github.close(context, number).await,
            Self::Local => local_forge::close(context, repository, number).await,
        }
    }

    pub(super) async fn reopen(
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
            Self::Local => local_forge::reopen(context, repository, number).await,
        }
    }
}
