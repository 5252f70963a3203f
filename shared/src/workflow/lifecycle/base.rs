//! Base of a launch: the branch that is checked out here, and warnings about it (uncommitted changes, detached HEAD).

use std::fmt;

use serde::{Serialize, Serializer};

use super::launch_request::LaunchRequest;
use crate::error::Error;
use crate::git::{GitError, Head, Oid, Repository};
use crate::workflow::Context;

/// What a person should know about where an agent begins. Its JSON is the sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaseWarning {
    /// Uncommitted changes are not in the agent's worktree.
    Uncommitted { files: usize },
    /// Nothing can be merged into a commit; the base is the default branch, if that has the commit.
    Detached {
        commit: String,
        base: Option<String>,
    },
}

impl fmt::Display for BaseWarning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uncommitted { files: 1 } => formatter.write_str(
                "1 uncommitted file here is not in the agent's worktree; commit it first if the agent needs it",
            ),
            Self::Uncommitted { files } => write!(
                formatter,
                "{files} uncommitted files here are not in the agent's worktree; commit them first if the agent needs them"
            ),
            Self::Detached {
                commit,
                base: Some(base),
            } => write!(
                formatter,
                "HEAD is detached: the agent begins at {commit}, and its work is for {base}; `--base BRANCH` names another"
            ),
            Self::Detached { commit, base: None } => write!(
                formatter,
                "HEAD is detached: the agent begins at {commit}, and its work has no branch to be merged into; `--base BRANCH` names one"
            ),
        }
    }
}

impl Serialize for BaseWarning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Returns what a person should know before an agent is launched from what is checked out here.
pub async fn base_warnings(
    context: &Context,
    request: &LaunchRequest,
) -> Result<Vec<BaseWarning>, Error> {
    let repository = context.repository()?;
    let Some(worktree) = repository.worktree() else {
        return Ok(Vec::new());
    };
    let head = repository.head(worktree).await?;
    let continues = match &request.branch {
        Some(branch) => repository.branch_exists(branch).await?,
        None => false,
    };
    let base = request.base.as_deref();
    if matches!(head, Head::Unborn(_)) || continues || (base.is_some() && base != head.branch()) {
        return Ok(Vec::new());
    }
    let mut warnings = Vec::new();
    if let Head::Detached(commit) = &head {
        let base = branch_with(repository, commit).await?;
        let commit = commit.short().to_owned();
        warnings.push(BaseWarning::Detached { commit, base });
    }
    let status = repository.status(worktree, 0).await?;
    if !status.is_clean() {
        // Of very many untracked files none is counted.
        let files = status.total.max(1);
        warnings.push(BaseWarning::Uncommitted { files });
    }
    Ok(warnings)
}

/// Returns what is checked out here as the name of a base, and as a revision.
pub(super) async fn checked_out_here(
    context: &Context,
    repository: &Repository,
) -> Result<(String, String), Error> {
    let here = repository
        .worktree()
        .unwrap_or(context.environment.directory());
    let head = match repository.worktree() {
        Some(worktree) => repository.head(worktree).await?,
        None => repository.main_head().await?,
    };
    match head {
        Head::Unborn(_) => Err(GitError::EmptyRepository {
            path: here.to_owned(),
        }
        .into()),
        Head::Branch(name) => Ok((name.clone(), name)),
        Head::Detached(commit) => {
            let revision = commit.as_str().to_owned();
            let branch = branch_with(repository, &commit).await?;
            Ok((branch.unwrap_or_else(|| revision.clone()), revision))
        }
    }
}

/// Returns the default branch if it has a commit: work that begins at a detached HEAD needs a branch to be merged into.
async fn branch_with(repository: &Repository, commit: &Oid) -> Result<Option<String>, Error> {
    let Some(branch) = repository.default_branch().await? else {
        return Ok(None);
    };
    let Some(tip) = repository.branch_tip(&branch).await? else {
        return Ok(None);
    };
    let apart = repository
        .ahead_behind(tip.as_str(), commit.as_str())
        .await?;
    Ok((apart.ahead == 0).then_some(branch))
}
