//! What a person does with pull requests, on either forge.

use super::pull_forge::Pulls;
use super::sync::{Synced, follow_pull};
use super::{Context, Run};
use crate::error::Error;
use crate::model::{MergeMethod, PullRequest, PullState};

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
    let forge = Pulls::open(context, repository).await?;
    forge.list(context, repository, state, limit).await
}

/// Returns one pull request.
pub async fn pull(context: &Context, number: u64) -> Result<PullRequest, Error> {
    let repository = context.repository()?;
    let forge = Pulls::open(context, repository).await?;
    forge.get(context, repository, number).await
}

/// Returns what a pull request changes, as a diff of bounded size.
pub async fn pull_diff(context: &Context, number: u64, limit: usize) -> Result<String, Error> {
    let repository = context.repository()?;
    let forge = Pulls::open(context, repository).await?;
    forge.diff(context, repository, number, limit).await
}

/// Merges a pull request, and puts its agent away.
pub async fn merge_pull(
    context: &Context,
    run: &Run,
    number: u64,
    method: MergeMethod,
) -> Result<ChangedPull, Error> {
    let repository = context.repository()?;
    let forge = Pulls::open(context, repository).await?;
    run.step("Merging")?;
    let merged = forge.merge(context, repository, number, method).await?;
    followed(context, run, merged).await
}

/// Closes a pull request without merging it, and puts its agent away.
pub async fn close_pull(context: &Context, run: &Run, number: u64) -> Result<ChangedPull, Error> {
    let repository = context.repository()?;
    let forge = Pulls::open(context, repository).await?;
    run.step("Closing")?;
    let closed = forge.close(context, repository, number).await?;
    followed(context, run, closed).await
}

/// Opens a closed pull request again.
pub async fn reopen_pull(context: &Context, run: &Run, number: u64) -> Result<ChangedPull, Error> {
    let repository = context.repository()?;
    let forge = Pulls::open(context, repository).await?;
    run.step("Reopening")?;
    let opened = forge.reopen(context, repository, number).await?;
    followed(context, run, opened).await
}

async fn followed(context: &Context, run: &Run, pull: PullRequest) -> Result<ChangedPull, Error> {
    let instances = follow_pull(context, run, &pull).await?;
    Ok(ChangedPull { pull, instances })
}
