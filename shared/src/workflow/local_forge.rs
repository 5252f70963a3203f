//! The built-in forge: rows for what pull requests say, references for what they hold.

use super::Context;
use super::publish::Work;
use crate::error::{Code, Error};
use crate::git::{DiffText, FastForward, GitError, Oid, Repository};
use crate::model::{MergeMethod, NewPullRequest, PullRequest, PullState};

/// How much of a description goes into the message of a commit.
const MESSAGE: usize = 10_000;

fn key(repository: &Repository) -> String {
    Context::repository_key(repository.root())
}

/// The reference that keeps a pull request's commits when its branch is gone.
fn head_reference(number: u64) -> String {
    format!("refs/codex/pull/{number}/head")
}

/// Opens a pull request, or brings the open one of the branch up to date; tells whether it is new.
pub(super) async fn publish(
    context: &Context,
    repository: &Repository,
    work: &Work,
    new: &NewPullRequest,
) -> Result<(PullRequest, bool), Error> {
    let (key, new) = (key(repository), new.clone());
    let (commit, instance) = (work.commit.clone(), work.coder.id.clone());
    let (pull, created) = context
        .store
        .write(move |w| {
            let commit = commit.as_str();
            match w.open_pull_request(&key, &new.head_branch)? {
                Some(open) => {
                    let number = open.number;
                    let pull = w.update_pull_request(&key, number, &new, commit, &instance)?;
                    Ok((pull, false))
                }
                None => {
                    let pull = w.insert_pull_request(&key, &new, commit, &instance)?;
                    Ok((pull, true))
                }
            }
        })
        .await?;
    repository
        .update_ref(&head_reference(pull.number), &work.commit)
        .await?;
    Ok((pull, created))
}

/// Returns a pull request as it stands; one whose commits its base has got by other means is merged.
pub(super) async fn get(
    context: &Context,
    repository: &Repository,
    number: u64,
) -> Result<PullRequest, Error> {
    let wanted = key(repository);
    let pull = context
        .store
        .read(move |r| r.pull_request(&wanted, number))
        .await?;
    if pull.state != PullState::Open {
        return Ok(pull);
    }
    let (Some(base), Ok(head)) = (
        repository.branch_tip(&pull.base_branch).await?,
        head_of(repository, &pull).await,
    ) else {
        return Ok(pull);
    };
    if repository
        .ahead_behind(base.as_str(), head.as_str())
        .await?
        .ahead
        > 0
    {
        return Ok(pull);
    }
    merged(context, repository, number, &base).await
}

pub(super) async fn list(
    context: &Context,
    repository: &Repository,
    state: Option<PullState>,
    limit: usize,
) -> Result<Vec<PullRequest>, Error> {
    let key = key(repository);
    let listed = context
        .store
        .read(move |r| r.pull_requests(&key, state, limit))
        .await?;
    Ok(listed)
}

/// Returns what a pull request changes; of a merged one, what it changed.
pub(super) async fn diff(
    repository: &Repository,
    pull: &PullRequest,
    limit: usize,
) -> Result<DiffText, Error> {
    let head = head_of(repository, pull).await?;
    let base = match &pull.merge_commit {
        Some(commit) => {
            let before = repository.resolve(&format!("{commit}^")).await;
            match before {
                Ok(before) => before,
                Err(_) => base_tip(repository, pull).await?,
            }
        }
        None => base_tip(repository, pull).await?,
    };
    Ok(repository
        .diff_text(base.as_str(), head.as_str(), limit)
        .await?)
}

pub(super) async fn close(
    context: &Context,
    repository: &Repository,
    number: u64,
) -> Result<PullRequest, Error> {
    let key = key(repository);
    let closed = context
        .store
        .write(move |w| w.close_pull_request(&key, number))
        .await?;
    Ok(closed)
}

pub(super) async fn reopen(
    context: &Context,
    repository: &Repository,
    number: u64,
) -> Result<PullRequest, Error> {
    let key = key(repository);
    let opened = context
        .store
        .write(move |w| w.reopen_pull_request(&key, number))
        .await?;
    Ok(opened)
}

/// Merges a pull request into its base branch. A conflict, or a worktree in the way, changes nothing.
pub(super) async fn merge(
    context: &Context,
    repository: &Repository,
    number: u64,
    method: MergeMethod,
) -> Result<PullRequest, Error> {
    let pull = get(context, repository, number).await?;
    match pull.state {
        PullState::Open => {}
        PullState::Merged => return Ok(pull),
        PullState::Closed => {
            return Err(Error::new(
                Code::PullRequestNotOpen,
                format!("pull request {number} is closed"),
            )
            .hint(format!("`claude-codex pr reopen {number}` opens it again.")));
        }
    }
    let reference = format!("refs/heads/{}", pull.base_branch);
    let Some(base) = repository.read_ref(&reference).await? else {
        return Err(base_gone(&pull));
    };
    let checked_out = repository.branch_checked_out_at(&pull.base_branch).await?;
    if let Some(worktree) = &checked_out
        && repository.status(worktree, 0).await?.has_tracked_changes()
    {
        return Err(GitError::WorktreeDirty {
            path: worktree.clone(),
        }
        .into());
    }
    let head = head_of(repository, &pull).await?;
    let message = message(&pull, method);
    let commit = repository.combine(method, &base, &head, &message).await?;
    if commit != base {
        match &checked_out {
            None => {
                repository
                    .move_branch(&pull.base_branch, &base, &commit)
                    .await?
            }
            Some(worktree) => match repository.fast_forward(worktree, &commit).await? {
                FastForward::Done { .. } | FastForward::AlreadyThere => {}
                FastForward::NotFastForward => {
                    return Err(Error::new(
                        Code::GitFailed,
                        format!("`{}` has moved meanwhile", pull.base_branch),
                    )
                    .hint("Nothing was changed. Try again."));
                }
            },
        }
    }
    merged(context, repository, number, &commit).await
}

async fn merged(
    context: &Context,
    repository: &Repository,
    number: u64,
    commit: &Oid,
) -> Result<PullRequest, Error> {
    let (key, commit) = (key(repository), commit.clone());
    let merged = context
        .store
        .write(move |w| w.merge_pull_request(&key, number, commit.as_str()))
        .await?;
    Ok(merged)
}

fn message(pull: &PullRequest, method: MergeMethod) -> String {
    let body: String = pull.body.chars().take(MESSAGE).collect();
    match method {
        MergeMethod::Merge => format!(
            "Merge pull request #{} from {}\n\n{}\n",
            pull.number, pull.head_branch, pull.title
        ),
        MergeMethod::Squash => format!("{} (#{})\n\n{body}\n", pull.title, pull.number),
        // Each commit keeps its own.
        MergeMethod::Rebase => String::new(),
    }
}

/// Returns the commit that a pull request stands for.
async fn head_of(repository: &Repository, pull: &PullRequest) -> Result<Oid, Error> {
    let kept = repository.read_ref(&head_reference(pull.number)).await?;
    match kept {
        // The row is written first; a reference that lags behind it is an interrupted publication.
        Some(kept) if kept.as_str() == pull.head_commit => Ok(kept),
        Some(_) | None => Ok(repository.resolve(&pull.head_commit).await?),
    }
}

async fn base_tip(repository: &Repository, pull: &PullRequest) -> Result<Oid, Error> {
    let tip = repository.branch_tip(&pull.base_branch).await?;
    tip.ok_or_else(|| base_gone(pull))
}

fn base_gone(pull: &PullRequest) -> Error {
    let base = &pull.base_branch;
    Error::new(
        Code::BaseNotFound,
        format!("the base branch `{base}` is gone"),
    )
    .hint(format!("Bring it back: `git branch {base} COMMIT`."))
}
