//! Base branches that are gone, or were rewritten: why a pull request of the built-in forge cannot be merged, and what to do.

use crate::error::{Code, Error};
use crate::git::Repository;
use crate::model::PullRequest;
use crate::workflow::Context;

/// Says that the base branch is gone, and where it was last.
pub(crate) async fn base_gone(
    context: &Context,
    repository: &Repository,
    pull: &PullRequest,
) -> Error {
    let (number, base) = (pull.number, &pull.base_branch);
    let hint = match last_base(context, repository, pull).await {
        Some(commit) => format!(
            "`git branch {base} {commit}` brings it back as it was; `claude-codex pr close {number}` closes the pull request."
        ),
        None => format!(
            "Bring it back with `git branch {base}` and the commit where it was; `claude-codex pr close {number}` closes the pull request."
        ),
    };
    Error::new(
        Code::BaseNotFound,
        format!("the base branch `{base}` is gone"),
    )
    .hint(hint)
}

/// Says that there is nothing that a merge could begin at. No agent can resolve that.
pub(crate) fn no_common_history(pull: &PullRequest) -> Error {
    let (number, base) = (pull.number, &pull.base_branch);
    Error::new(
        Code::NotMergeable,
        format!("pull request {number} has no common history with `{base}`"),
    )
    .hint(format!(
        "Nothing was changed. `claude-codex pr close {number}` closes it, and keeps its commits. If `{base}` was rewritten by mistake, `git reflog {base}` shows where it was."
    ))
}

/// Returns where the base branch is on the remote, or was when the pull request was looked at last.
async fn last_base(
    context: &Context,
    repository: &Repository,
    pull: &PullRequest,
) -> Option<String> {
    if let Ok(Some(tip)) = repository.branch_tip(&pull.base_branch).await {
        return Some(tip.as_str().to_owned());
    }
    let (key, number) = (Context::repository_key(repository.root()), pull.number);
    let kept = context
        .store
        .read(move |r| r.pull_standing(&key, true, number));
    let commit = kept.await.ok().flatten()?.base_commit?;
    // Git throws away what nothing leads to, sooner or later.
    repository.resolve(&commit).await.ok()?;
    Some(commit)
}
