//! A branch that moved: commits that its pull request does not have.

use super::pull_agent::agent_of;
use crate::error::{Code, Error};
use crate::git::{Oid, Repository};
use crate::model::pull_request::is_local_url;
use crate::model::{PullRequest, PullState, counted, plural};
use crate::workflow::Context;

/// Where the branch of a pull request is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MovedBranch {
    pub(crate) tip: Oid,
    /// How many of its commits the pull request lacks.
    pub(crate) commits: usize,
}

/// Returns where the branch of an open pull request is, if that has commits which the pull request lacks.
///
/// On GitHub a branch of the same name may be that of somebody's fork: there it has to be the branch of an agent.
pub(crate) async fn moved_branch(
    context: &Context,
    repository: &Repository,
    pull: &PullRequest,
) -> Result<Option<MovedBranch>, Error> {
    if pull.state != PullState::Open || !has_own_branch(context, pull).await? {
        return Ok(None);
    }
    moved_tip(repository, pull).await
}

/// Does the same, of a pull request that is known to be of this repository's branch.
pub(crate) async fn moved_tip(
    repository: &Repository,
    pull: &PullRequest,
) -> Result<Option<MovedBranch>, Error> {
    let reference = format!("refs/heads/{}", pull.head_branch);
    let Some(tip) = repository.read_ref(&reference).await? else {
        return Ok(None);
    };
    if tip.as_str() == pull.head_commit {
        return Ok(None);
    }
    // Somebody may have pushed to GitHub what nobody has fetched.
    let apart = repository.ahead_behind(&pull.head_commit, tip.as_str());
    let Ok(apart) = apart.await else {
        return Ok(None);
    };
    let commits = apart.ahead;
    Ok((commits > 0).then_some(MovedBranch { tip, commits }))
}

/// Tells whether the branch of a pull request is the one of that name in this repository.
pub(crate) async fn has_own_branch(context: &Context, pull: &PullRequest) -> Result<bool, Error> {
    if is_local_url(&pull.url) {
        return Ok(true);
    }
    let agent = agent_of(context, pull).await?;
    Ok(agent.is_some_and(|agent| agent.branch_name.as_ref() == Some(&pull.head_branch)))
}

/// Returns a number of commits, in words.
pub(crate) fn commits(count: usize) -> String {
    counted(count, "commit", "commits")
}

/// Refuses to merge without the commits that a branch has got since.
pub(crate) fn outdated(pull: &PullRequest, moved: &MovedBranch) -> Error {
    let (number, branch) = (pull.number, &pull.head_branch);
    let are = plural(moved.commits, "is", "are");
    Error::new(
        Code::PullRequestOutdated,
        format!(
            "`{branch}` has {} that {are} not in pull request {number}",
            commits(moved.commits)
        ),
    )
    .hint(format!(
        "Nothing was changed. `claude-codex pr update {number}` brings the pull request up to its branch; `claude-codex pr merge {number} --as-published` merges it as it is."
    ))
    .details(serde_json::json!({ "commits": moved.commits, "tip": moved.tip.as_str() }))
}
