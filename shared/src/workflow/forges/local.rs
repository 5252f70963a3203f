//! The local forge: pull requests as rows in the database, their commits under `refs/codex/pull/N/head`.

use std::path::Path;

use super::base_problem::{base_gone, no_common_history};
use super::publication::{MergeTerms, Work, check_seen};
use crate::error::{Code, Error};
use crate::git::{DiffText, GitError, MergeLock, Oid, Repository, Resumed};
use crate::model::pull_request::is_local_url;
use crate::model::{Instance, MergeMethod, NewPullRequest, PullRequest, PullState};
use crate::store::LocalMerge;
use crate::workflow::Context;
use crate::workflow::preconditions::merged_before;

/// How much of a description goes into the message of a commit.
const MAX_MESSAGE_CHARS: usize = 10_000;
/// How many interrupted merges one look finishes; the next one goes on.
const MAX_AT_ONCE: usize = 20;

fn key(repository: &Repository) -> String {
    Context::repository_key(repository.root())
}

/// The reference that keeps a pull request's commits when its branch is gone.
fn head_reference(number: u64) -> String {
    format!("refs/codex/pull/{number}/head")
}

/// Opens a pull request, or brings the open one of the branch up to date; tells whether it is new.
pub(crate) async fn publish(
    context: &Context,
    repository: &Repository,
    work: &Work,
    new: &NewPullRequest,
) -> Result<(PullRequest, bool), Error> {
    let (key, new) = (key(repository), new.clone());
    let (commit, instance) = (work.commit.clone(), work.coder.id.clone());
    let last = last_number(repository).await?;
    let base = new.base_branch.clone();
    let published = context
        .store
        .write(move |w| {
            let commit = commit.as_str();
            if let Some(merged) = w.merged_pull_request(&key, &new, commit)? {
                return Ok(Err(merged.number));
            }
            if let Some(open) = w.open_pull_request(&key, &new.head_branch)? {
                let pull = w.update_pull_request(&key, open.number, &new, commit, &instance)?;
                return Ok(Ok((pull, Oid::parse(&open.head_commit), false)));
            }
            let pull = w.insert_pull_request(&key, &new, commit, &instance, last)?;
            Ok(Ok((pull, None, true)))
        })
        .await?;
    let (pull, before, created) = published.map_err(|number| merged_before(number, &base))?;
    // Another database may have given the same number at the same moment: what is kept for it stays.
    repository
        .keep(&head_reference(pull.number), &work.commit, before.as_ref())
        .await?;
    Ok((pull, created))
}

/// Returns the highest number whose commits are kept: a database may be younger than they are, or one of several.
async fn last_number(repository: &Repository) -> Result<u64, Error> {
    let kept = repository.kept_refs().await?;
    let numbers = kept.iter().filter_map(|(name, _)| {
        let number = name.strip_prefix("refs/codex/pull/")?.split('/').next()?;
        number.parse().ok()
    });
    Ok(numbers.max().unwrap_or(0))
}

/// Returns a pull request as it stands; one whose commits its base has got by other means is merged.
pub(crate) async fn get(
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

pub(crate) async fn list(
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
pub(crate) async fn diff(
    context: &Context,
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
                Err(_) => base_tip(context, repository, pull).await?,
            }
        }
        None => base_tip(context, repository, pull).await?,
    };
    Ok(repository
        .diff_text(base.as_str(), head.as_str(), limit)
        .await?)
}

/// Gives an open pull request another head, if it still has the one that was seen.
pub(crate) async fn update(
    context: &Context,
    repository: &Repository,
    pull: &PullRequest,
    head: &Oid,
) -> Result<PullRequest, Error> {
    let (number, before) = (pull.number, pull.head_commit.clone());
    let (key, after) = (key(repository), head.clone());
    let replaces = Oid::parse(&before);
    let moved = context
        .store
        .write(move |w| w.move_pull_request(&key, number, &before, after.as_str()))
        .await?;
    let moved = moved.ok_or_else(|| {
        Error::new(
            Code::PullRequestOutdated,
            format!("pull request {number} was changed a moment ago"),
        )
        .hint(format!(
            "Nothing was changed. `claude-codex pr show {number}` shows it; `claude-codex pr update {number}` updates it again."
        ))
    })?;
    repository
        .keep(&head_reference(number), head, replaces.as_ref())
        .await?;
    Ok(moved)
}

pub(crate) async fn close(
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

pub(crate) async fn reopen(
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
///
/// Merges of one repository take turns. What a merge is about to do is recorded first: if its process
/// is killed, the next pass completes it.
pub(crate) async fn merge(
    context: &Context,
    repository: &Repository,
    number: u64,
    terms: &MergeTerms,
) -> Result<PullRequest, Error> {
    let method = terms.method;
    let turn = repository.lock_merges().await?;
    settle(context, repository, &turn).await?;
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
    check_seen(&pull, terms)?;
    let reference = format!("refs/heads/{}", pull.base_branch);
    let Some(base) = repository.read_ref(&reference).await? else {
        return Err(base_gone(context, repository, &pull).await);
    };
    let head = head_of(repository, &pull).await?;
    let message = message(&pull, method);
    let combined = repository.combine(method, &base, &head, &message).await;
    let commit = match combined {
        Err(GitError::Conflict { files }) => {
            let only_rebased = method == MergeMethod::Rebase
                && repository.conflicts(&base, &head).await?.is_empty();
            return Err(conflict(&pull, files, only_rebased));
        }
        Err(GitError::NoCommonHistory { .. }) => return Err(no_common_history(&pull)),
        combined => combined?,
    };
    if commit == base {
        return merged(context, repository, number, &commit).await;
    }
    let begun = LocalMerge {
        repository: key(repository),
        number,
        base_branch: pull.base_branch.clone(),
        old_commit: base.as_str().to_owned(),
        new_commit: commit.as_str().to_owned(),
    };
    let (record, seen) = (begun.clone(), pull.head_commit.clone());
    let recorded = context
        .store
        .write(move |w| w.begin_local_merge(&record, &seen))
        .await?;
    if !recorded {
        return Err(Error::new(
            Code::NotMergeable,
            format!("pull request {number} was changed a moment ago"),
        )
        .hint("Nothing was changed. Look at what is new, then merge it again."));
    }
    let advanced = repository
        .advance(&turn, &pull.base_branch, &base, &commit)
        .await;
    match advanced {
        Ok(moved) => {
            let merged = mark_merged(context, &begun).await?;
            // The merge stands, whatever becomes of its hook.
            if let Err(error) = moved.release().await {
                tracing::warn!(%error, "the hook post-merge");
            }
            forget(context, &begun).await?;
            Ok(merged)
        }
        // This finds out how far it got: mostly nowhere.
        Err(error) => match settle(context, repository, &turn).await? {
            Some(merged) => Ok(merged),
            None => Err(error.into()),
        },
    }
}

/// Finishes merges that a killed process has begun, in all repositories in which nobody is merging.
pub(crate) async fn settle_merges(context: &Context) -> Result<(), Error> {
    let begun = context.store.read(|r| r.local_merges(MAX_AT_ONCE)).await?;
    for merge in begun {
        let repository = match Repository::at(Path::new(&merge.repository)).await {
            Ok(repository) => repository,
            Err(error) => {
                tracing::warn!(%error, "the merge of {} waits", merge.number);
                continue;
            }
        };
        let settled = match repository.try_lock_merges().await {
            Ok(Some(turn)) => settle(context, &repository, &turn).await,
            Ok(None) => continue,
            Err(error) => Err(error.into()),
        };
        if let Err(error) = settled {
            tracing::warn!(%error, "the merge of {} waits", merge.number);
        }
    }
    Ok(())
}

/// Finishes the merge that was begun in a repository, if there is one; returns what it has merged.
async fn settle(
    context: &Context,
    repository: &Repository,
    turn: &MergeLock,
) -> Result<Option<PullRequest>, Error> {
    let wanted = key(repository);
    let begun = context.store.read(move |r| r.local_merge(&wanted)).await?;
    let Some(begun) = begun else {
        return Ok(None);
    };
    let (wanted, number) = (begun.repository.clone(), begun.number);
    let pull = context
        .store
        .read(move |r| r.pull_request(&wanted, number))
        .await?;
    let merged = if pull.state == PullState::Merged {
        // The worktrees have followed, and may have gone on since.
        repository.unlock_merged(turn);
        Some(pull)
    } else {
        let commits = Oid::parse(&begun.old_commit).zip(Oid::parse(&begun.new_commit));
        let resumed = match commits {
            Some((old, new)) => {
                repository
                    .resume_advance(turn, &begun.base_branch, &old, &new)
                    .await?
            }
            None => Resumed::NotBegun,
        };
        match resumed {
            Resumed::Finished => Some(mark_merged(context, &begun).await?),
            Resumed::NotBegun => None,
        }
    };
    forget(context, &begun).await?;
    Ok(merged)
}

async fn mark_merged(context: &Context, begun: &LocalMerge) -> Result<PullRequest, Error> {
    let begun = begun.clone();
    let merged = context
        .store
        .write(move |w| w.mark_locally_merged(&begun))
        .await?;
    Ok(merged)
}

async fn forget(context: &Context, begun: &LocalMerge) -> Result<(), Error> {
    let repository = begun.repository.clone();
    context
        .store
        .write(move |w| w.forget_local_merge(&repository))
        .await?;
    Ok(())
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
    let body: String = pull.body.chars().take(MAX_MESSAGE_CHARS).collect();
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

/// Returns the head of an agent's pull request, if that is on this forge: its branch may be gone.
pub(crate) async fn published_head(
    context: &Context,
    instance: &Instance,
) -> Result<Option<Oid>, Error> {
    let (Some(number), Some(url)) = (instance.pr_number, &instance.pr_url) else {
        return Ok(None);
    };
    if !is_local_url(url) {
        return Ok(None);
    }
    let repository = Repository::at(&instance.repository).await?;
    let wanted = key(&repository);
    let pull = context
        .store
        .read(move |r| r.pull_request(&wanted, number))
        .await?;
    head_of(&repository, &pull).await.map(Some)
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

/// Says how a conflicting pull request goes on. A series of commits may conflict where all of it together does not.
fn conflict(pull: &PullRequest, files: Vec<String>, only_rebased: bool) -> Error {
    let (number, base, branch) = (pull.number, &pull.base_branch, &pull.head_branch);
    let hint = if only_rebased {
        format!(
            "Nothing was changed. Only its single commits conflict: `claude-codex pr merge {number} --method squash` merges all of them as one."
        )
    } else {
        format!(
            "Nothing was changed. `claude-codex pr resolve {number}` lets its agent merge `{base}` and resolve the conflict. By hand: merge `{base}` into `{branch}`, commit, then `claude-codex pr update {number}`."
        )
    };
    Error::from(GitError::Conflict { files }).hint(hint)
}

async fn base_tip(
    context: &Context,
    repository: &Repository,
    pull: &PullRequest,
) -> Result<Oid, Error> {
    match repository.branch_tip(&pull.base_branch).await? {
        Some(tip) => Ok(tip),
        None => Err(base_gone(context, repository, pull).await),
    }
}
