//! Continues an existing branch (`code --branch`): where it left its base, and who has it checked out.

use super::base::checked_out_here;
use super::remove_worktree::summarize;
use crate::error::{Code, Error};
use crate::git::{GitError, Repository, UnsavedWork};
use crate::model::{Instance, Origin, SessionMode, Status};
use crate::process;
use crate::workflow::Context;
use crate::workflow::forges::pull_backend::PullBackend;
use crate::workflow::instance::agent_files;
use crate::workflow::instance::facts::is_own_worktree;
use crate::workflow::instance::ownership::{claim, release};

/// The base of a branch, and the commit at which it left it.
pub(super) struct BranchStart {
    pub(super) base: String,
    pub(super) commit: String,
}

/// Finds where a branch left its base. The base is the one that was named, that of its open pull request, or what is
/// checked out here. Refused while somebody has the branch checked out who needs it.
pub(super) async fn start(
    context: &Context,
    repository: &Repository,
    branch: &str,
    base: Option<&str>,
) -> Result<BranchStart, Error> {
    holder(context, repository, branch).await?;
    let (base, revision) = match base {
        Some(base) => (base.to_owned(), base.to_owned()),
        None => match base_of_pull(context, repository, branch).await {
            Some(base) => (base.clone(), base),
            None => checked_out_here(context, repository).await?,
        },
    };
    if base == branch {
        return Err(Error::argument(
            "base",
            format!("is `{branch}` itself; name the branch that it is to be merged into"),
        ));
    }
    let from = repository.resolve(&revision).await?;
    let tip = repository.resolve(&format!("refs/heads/{branch}")).await?;
    let left = repository.merge_base(from.as_str(), tip.as_str()).await?;
    let commit = left.ok_or_else(|| {
        Error::argument(
            "base",
            format!("`{base}` and the branch `{branch}` have no commit in common"),
        )
    })?;
    Ok(BranchStart {
        base,
        commit: commit.as_str().to_owned(),
    })
}

/// Returns the base of a branch's open pull request. A forge that does not answer knows of none.
async fn base_of_pull(context: &Context, repository: &Repository, branch: &str) -> Option<String> {
    let asked = async {
        let forge = PullBackend::open(context, repository).await?;
        forge.open_of(context, repository, branch).await
    };
    match asked.await {
        Ok(pull) => pull.map(|pull| pull.base_branch),
        Err(error) => {
            tracing::warn!(%error, branch, "the pull request of the branch can't be looked up");
            None
        }
    }
}

/// Takes a branch out of the worktree of an ended agent, so that another can have it. Nothing is lost by that.
pub(super) async fn free(
    context: &Context,
    repository: &Repository,
    branch: &str,
) -> Result<(), Error> {
    let Some(holder) = holder(context, repository, branch).await? else {
        return Ok(());
    };
    if !claim(context, &holder).await? {
        return Err(in_use(branch, &holder, "is just being started or ended")
            .hint("Nothing was changed. Try again in a moment."));
    }
    let freed = remove(context, repository, branch, &holder).await;
    let id = holder.id.clone();
    match &freed {
        Ok(()) => {
            context
                .store
                .write(move |w| {
                    w.set_put_away(&id)?;
                    w.set_owner(&id, None)
                })
                .await?;
        }
        Err(_) => release(context, &id).await?,
    }
    freed
}

async fn remove(
    context: &Context,
    repository: &Repository,
    branch: &str,
    holder: &Instance,
) -> Result<(), Error> {
    let path = &holder.worktree_path;
    let removed = repository.remove_worktree_beside_branches(path).await?;
    if let Some(unsaved) = removed {
        return Err(unsaved_work(branch, holder, &unsaved));
    }
    agent_files::forget_trust(context, holder).await
}

/// Returns the ended agent in whose worktree a branch is checked out and can be taken from. An error if anybody else has
/// it, or if that worktree has work in it.
async fn holder(
    context: &Context,
    repository: &Repository,
    branch: &str,
) -> Result<Option<Instance>, Error> {
    let Some(at) = repository.branch_checked_out_at(branch).await? else {
        return Ok(None);
    };
    let place = at.clone();
    let found = context
        .store
        .read(move |r| r.launched_in_worktree(&place))
        .await?;
    let agent = match found {
        Some(agent) if is_own_worktree(repository, &agent)? => agent,
        Some(_) | None => {
            let name = branch.to_owned();
            return Err(GitError::BranchCheckedOut { name, at }.into());
        }
    };
    let id = &agent.id;
    if agent.status.is_live() {
        let hint = match agent.session_mode {
            SessionMode::Interactive => {
                format!(
                    "`claude-codex send {id} \"…\"` tells it what to do; `claude-codex stop {id}` ends it."
                )
            }
            SessionMode::Headless => format!("`claude-codex stop {id}` ends it."),
        };
        return Err(in_use(branch, &agent, &format!("is {}", agent.status)).hint(hint));
    }
    if agent.owner.as_ref().is_some_and(process::is_alive) {
        return Err(in_use(branch, &agent, "is just being ended")
            .hint("Nothing was changed. Try again in a moment."));
    }
    let unsaved = repository.unsaved_beside_branches(&at).await?;
    if unsaved.is_nothing() {
        return Ok(Some(agent));
    }
    Err(unsaved_work(branch, &agent, &unsaved))
}

fn in_use(branch: &str, agent: &Instance, state: &str) -> Error {
    Error::new(
        Code::BranchInUse,
        format!(
            "the branch `{branch}` is checked out by `{}`, which {state}",
            agent.id
        ),
    )
}

fn unsaved_work(branch: &str, agent: &Instance, unsaved: &UnsavedWork) -> Error {
    let (id, work) = (&agent.id, summarize(unsaved));
    let state = format!(
        "has ended and left {work} in {}",
        agent.worktree_path.display()
    );
    let goes_on =
        agent.session_mode == SessionMode::Interactive && agent.origin == Origin::Launched;
    let hint = match (agent.status, agent.pr_number) {
        (Status::Failed | Status::Terminated, _) if goes_on => {
            format!("`claude-codex resume {id}` goes on with it.")
        }
        (Status::PrCreated, Some(number)) if goes_on => {
            format!("`claude-codex pr request-changes {number} \"…\"` sends the agent back to it.")
        }
        _ => "Commit it there, and try again.".to_owned(),
    };
    in_use(branch, agent, &state).hint(hint)
}
