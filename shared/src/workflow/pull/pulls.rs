//! List, diff, merge, close and reopen pull requests, on either forge.

use super::fresh_standings::refresh_after;
use super::moved_branch::{moved_branch, outdated};
use super::resolve::{can_resolve, resolve_by_new_agent};
use super::sync::{Synced, follow_pull};
use crate::error::{Code, Error};
use crate::model::{MergeMethod, PullRequest, PullState};
use crate::workflow::forges::publication::{MergeTerms, NewCommits};
use crate::workflow::forges::pull_backend::PullBackend;
use crate::workflow::{Context, Run, Step};

/// A pull request after something was done with it, and the agents that moved with it.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedPull {
    #[serde(flatten)]
    pub pull: PullRequest,
    pub instances: Vec<Synced>,
}

/// Lists the newest pull requests, in one state or in all.
pub async fn pulls(
    context: &Context,
    state: Option<PullState>,
    limit: usize,
) -> Result<Vec<PullRequest>, Error> {
    let repository = context.repository()?;
    let forge = PullBackend::open(context, repository).await?;
    forge.list(context, repository, state, limit).await
}

/// Returns one pull request.
pub async fn pull(context: &Context, number: u64) -> Result<PullRequest, Error> {
    let repository = context.repository()?;
    let forge = PullBackend::open(context, repository).await?;
    forge.get(context, repository, number).await
}

/// Returns what a pull request changes, as a diff of bounded size.
pub async fn pull_diff(context: &Context, number: u64, limit: usize) -> Result<String, Error> {
    let repository = context.repository()?;
    let forge = PullBackend::open(context, repository).await?;
    forge.diff(context, repository, number, limit).await
}

/// Merges a pull request, and puts its agent away.
pub async fn merge_pull(
    context: &Context,
    run: &Run,
    number: u64,
    terms: &MergeTerms,
) -> Result<ChangedPull, Error> {
    let repository = context.repository()?;
    let forge = PullBackend::open(context, repository).await?;
    run.step(Step::Merging)?;
    if terms.new_commits == NewCommits::Refuse {
        let pull = forge.get(context, repository, number).await?;
        if let Some(moved) = moved_branch(context, repository, &pull).await? {
            return Err(outdated(&pull, &moved));
        }
    }
    let merged = match forge.merge(context, repository, number, terms).await {
        Err(error) if error.code == Code::MergeConflict && terms.method != MergeMethod::Rebase => {
            let pull = forge.get(context, repository, number).await?;
            return Err(if can_resolve(context, &pull).await? {
                error
            } else {
                error.hint(format!(
                    "Nothing was changed. {}",
                    resolve_by_new_agent(&pull)
                ))
            });
        }
        merged => merged?,
    };
    let changed = followed(context, run, merged).await?;
    // The base has moved for the others.
    refresh_after(context, repository.root()).await;
    Ok(changed)
}

/// Closes a pull request without merging it, and puts its agent away.
pub async fn close_pull(context: &Context, run: &Run, number: u64) -> Result<ChangedPull, Error> {
    let repository = context.repository()?;
    let forge = PullBackend::open(context, repository).await?;
    run.step(Step::Closing)?;
    let closed = forge.close(context, repository, number).await?;
    followed(context, run, closed).await
}

/// Opens a closed pull request again.
pub async fn reopen_pull(context: &Context, run: &Run, number: u64) -> Result<ChangedPull, Error> {
    let repository = context.repository()?;
    let forge = PullBackend::open(context, repository).await?;
    run.step(Step::Reopening)?;
    let opened = forge.reopen(context, repository, number).await?;
    followed(context, run, opened).await
}

async fn followed(context: &Context, run: &Run, pull: PullRequest) -> Result<ChangedPull, Error> {
    let instances = follow_pull(context, run, &pull).await?;
    Ok(ChangedPull { pull, instances })
}
