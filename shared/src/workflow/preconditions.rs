//! Preconditions of reviews and pull requests: a clean worktree, on a branch, with commits ahead of the base.

use serde_json::json;

use crate::error::{Code, Error};
use crate::git::{GitError, Oid, Repository};
use crate::model::{Instance, Origin, counted};

/// Files that an error names.
const MAX_NAMED_FILES: usize = 40;

/// Refuses work that is not committed; returns the commit that the worktree stands on.
pub(super) async fn check_clean(repository: &Repository, coder: &Instance) -> Result<Oid, Error> {
    let status = repository
        .status(&coder.worktree_path, MAX_NAMED_FILES)
        .await?;
    if !status.is_clean() {
        let files: Vec<String> = status
            .entries
            .iter()
            .map(|entry| entry.path.to_string_lossy().into_owned())
            .collect();
        return Err(Error::new(
            Code::WorktreeDirty,
            format!(
                "{} not committed",
                counted(status.total, "file is", "files are")
            ),
        )
        .hint(format!(
            "Commit or remove what is not, then call again: {}",
            files.join(", ")
        ))
        .details(json!({ "files": files, "total": status.total })));
    }
    // Not what HEAD is by now: the commit that was found clean.
    status.commit.ok_or_else(|| {
        GitError::EmptyRepository {
            path: coder.worktree_path.clone(),
        }
        .into()
    })
}

/// Refuses to review a commit that has nothing new.
pub(super) async fn check_reviewable(
    repository: &Repository,
    coder: &Instance,
    head: &Oid,
) -> Result<(), Error> {
    let base = review_base(coder);
    if repository.ahead_behind(base, head.as_str()).await?.ahead > 0 {
        return Ok(());
    }
    Err(Error::new(
        Code::NothingToReview,
        format!("the branch has no commits that {base} lacks"),
    )
    .hint("Commit your work on this branch, then call again."))
}

/// Refuses to publish a commit that its base branch has already, or whose base branch is gone.
pub(super) async fn check_publishable(
    repository: &Repository,
    coder: &Instance,
    head: &Oid,
) -> Result<(), Error> {
    let base = &coder.base_branch;
    let Some(tip) = repository.branch_tip(base).await? else {
        if Oid::parse(base).is_some() {
            return Err(began_at_commit(repository, coder).await?);
        }
        return Err(Error::new(
            Code::BaseNotFound,
            format!("the base branch `{base}` is gone"),
        )
        .hint(format!(
            "Bring it back (`git fetch`, or `git branch {base} COMMIT`), or ask a person which branch this belongs on."
        )));
    };
    let apart = repository.ahead_behind(tip.as_str(), head.as_str()).await?;
    if apart.ahead > 0 {
        return Ok(());
    }
    // A branch that has grown and has nothing left was merged; one that never grew was not.
    let has_grown = coder
        .base_commit
        .as_deref()
        .is_some_and(|start| start != head.as_str());
    if has_grown {
        return Err(Error::new(
            Code::BranchMerged,
            format!("`{base}` has all commits of this branch already"),
        )
        .hint("There is nothing left to publish. For more work, commit on this branch and call again."));
    }
    Err(Error::new(
        Code::NothingToPublish,
        format!("the branch has no commits that {base} lacks"),
    )
    .hint("Commit your work on this branch, then call again."))
}

/// What is said of work that began at a commit which was on no branch: no branch can take it.
async fn began_at_commit(repository: &Repository, coder: &Instance) -> Result<Error, Error> {
    let base = &coder.base_branch;
    let error = Error::new(
        Code::BaseNotFound,
        format!(
            "the work began at the commit {}, and not on a branch that it could be merged into",
            base.get(..10).unwrap_or(base)
        ),
    );
    let branch = coder.branch_name.as_deref().unwrap_or("HEAD");
    Ok(match repository.default_branch().await? {
        Some(default) => error.hint(format!(
            "Your commits are safe on `{branch}`. End your turn and ask a person: `git merge {branch}` in a checkout of `{default}` takes them in."
        )),
        None => error.hint(format!(
            "Your commits are safe on `{branch}`. End your turn and ask a person which branch they belong on."
        )),
    })
}

/// What is said of work that a pull request has brought into its base already, be it as other commits.
pub(super) fn merged_before(number: u64, base: &str) -> Error {
    Error::new(
        Code::BranchMerged,
        format!("pull request {number} has brought all of this into `{base}`"),
    )
    .hint("There is nothing left to publish. For more work, commit on this branch and call again.")
}

/// Returns the branch that carries the work: the one it was launched on, or the one checked out now
/// in a person's own session.
pub(super) async fn branch_of(repository: &Repository, coder: &Instance) -> Result<String, Error> {
    let head = repository.head(&coder.worktree_path).await?;
    let base = &coder.base_branch;
    let (problem, hint) = match (coder.origin, head.branch(), coder.branch_name.as_deref()) {
        (_, None, _) => (
            "HEAD is detached".to_owned(),
            match &coder.branch_name {
                Some(own) => format!("Go back to your branch: `git switch {own}`."),
                None => "Make a branch for the work: `git switch -c NAME`.".to_owned(),
            },
        ),
        (Origin::Launched, Some(now), Some(own)) if now != own => (
            format!("`{now}` is checked out, but the work belongs on `{own}`"),
            format!("Bring your commits to `{own}` and go back to it: `git switch {own}`."),
        ),
        (_, Some(now), _) if now == base => (
            format!("the work is on the base branch `{base}` itself"),
            "Give it a branch of its own: `git switch -c NAME`.".to_owned(),
        ),
        (_, Some(now), _) => return Ok(now.to_owned()),
    };
    Err(Error::new(
        Code::NoBranch,
        format!("there is no branch to publish: {problem}"),
    )
    .hint(hint))
}

/// Refuses a commit that is not of the branch: another one was checked out between two looks.
pub(super) async fn check_on_branch(
    repository: &Repository,
    branch: &str,
    commit: &Oid,
) -> Result<(), Error> {
    let tip = repository.read_ref(&format!("refs/heads/{branch}")).await?;
    if let Some(tip) = tip
        && repository
            .ahead_behind(tip.as_str(), commit.as_str())
            .await?
            .ahead
            == 0
    {
        return Ok(());
    }
    Err(Error::new(
        Code::NoBranch,
        format!("there is no branch to publish: `{branch}` does not have the commit {} that was checked out a moment ago", commit.short()),
    )
    .hint("Go to the branch that the work belongs on, then call again."))
}

/// What the work is compared with: the base branch, or for work on the base branch itself its start.
pub(super) fn review_base(coder: &Instance) -> &str {
    match (&coder.branch_name, &coder.base_commit) {
        (Some(branch), Some(commit)) if *branch == coder.base_branch => commit,
        _ => &coder.base_branch,
    }
}
