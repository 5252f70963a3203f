//! `update_pull`: brings a pull request up to its branch (`pr update`), whoever made the new commits.

use super::moved_branch::{has_own_branch, moved_tip};
use super::pull_agent::check_open;
use crate::error::{Code, Error};
use crate::git::{GitError, Repository};
use crate::model::PullRequest;
use crate::workflow::forges::pull_backend::PullBackend;
use crate::workflow::{Context, Run, Step};

/// A pull request that has the commits of its branch.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdatedPull {
    #[serde(flatten)]
    pub pull: PullRequest,
    /// How many commits it did not have before.
    pub new_commits: usize,
}

/// Brings an open pull request up to its branch. Approvals stay with the commits that they were given for.
pub async fn update_pull(context: &Context, run: &Run, number: u64) -> Result<UpdatedPull, Error> {
    let repository = context.repository()?;
    let forge = PullBackend::open(context, repository).await?;
    run.step(Step::LoadingPullRequest)?;
    let pull = forge.get(context, repository, number).await?;
    check_open(&pull)?;
    check_branch(context, repository, &pull).await?;
    let Some(moved) = moved_tip(repository, &pull).await? else {
        return Ok(UpdatedPull {
            pull,
            new_commits: 0,
        });
    };
    run.step(Step::UpdatingPullRequest)?;
    let pull = forge.update(context, repository, &pull, &moved.tip).await?;
    Ok(UpdatedPull {
        pull,
        new_commits: moved.commits,
    })
}

/// Refuses a pull request whose branch is not here.
async fn check_branch(
    context: &Context,
    repository: &Repository,
    pull: &PullRequest,
) -> Result<(), Error> {
    let (number, branch) = (pull.number, &pull.head_branch);
    if !has_own_branch(context, pull).await? {
        return Err(Error::new(
            Code::NotAvailable,
            format!("no agent of this repository made pull request {number}"),
        )
        .hint(format!(
            "Push to `{branch}` with git: the pull request follows its branch on GitHub."
        )));
    }
    let tip = repository.read_ref(&format!("refs/heads/{branch}")).await?;
    if tip.is_some() {
        return Ok(());
    }
    let missing = GitError::BranchNotFound {
        name: branch.clone(),
    };
    Err(Error::from(missing).hint(format!(
        "The pull request keeps its commits. `git branch {branch} {}` brings the branch back as it was published.",
        pull.head_commit
    )))
}
