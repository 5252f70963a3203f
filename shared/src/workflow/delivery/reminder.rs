//! Reminders by the Stop hook: a reviewer without a verdict, a coder with uncommitted or unpublished work. Once in a turn.
//!
//! The agent may have good reasons, so every text says that ending the turn again is fine.

use crate::error::Error;
use crate::git::{GitError, Repository};
use crate::model::{Instance, InstanceId, InstanceKind, Origin, SessionMode, Status, Verdict};
use crate::store::Store;

/// What an agent has left undone at the end of its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Undone {
    Verdict,
    /// Files are not committed.
    Commit {
        files: usize,
    },
    /// Commits are neither under review nor published.
    Publish {
        needs_review: bool,
    },
}

impl Undone {
    fn text(&self) -> String {
        let what = match self {
            Self::Verdict => {
                "you have not decided this review yet. Call create_pr to approve and publish the work, or request_changes, now".to_owned()
            }
            Self::Commit { files: 1 } => {
                "1 changed file is not committed. If the work is done, commit it, then call request_review or create_pr"
                    .to_owned()
            }
            Self::Commit { files } => format!(
                "{files} changed files are not committed. If the work is done, commit them, then call request_review or create_pr"
            ),
            Self::Publish { needs_review: true } => {
                "your commits are not reviewed. If the work is done, call request_review now".to_owned()
            }
            Self::Publish {
                needs_review: false,
            } => {
                "your commits are neither under review nor published. If the work is done, call request_review or create_pr now"
                    .to_owned()
            }
        };
        format!(
            "Reminder by claude-codex: {what}; or end your turn again if you wait for an answer."
        )
    }
}

/// Returns what to remind an agent of that ends its turn, marked as said first. `None` if there is nothing, or it was reminded
/// since its last prompt.
pub async fn remind_at_end_of_turn(
    store: &Store,
    id: &InstanceId,
) -> Result<Option<String>, Error> {
    let (instance, was_reminded) =
        store.read_now(|r| Ok((r.instance(id)?, r.was_reminded(id)?)))?;
    let is_ours = instance.origin == Origin::Launched
        && instance.session_mode == SessionMode::Interactive
        && instance.status == Status::Running
        && instance.owner.is_none();
    if was_reminded || !is_ours {
        return Ok(None);
    }
    let undone = match instance.kind {
        InstanceKind::Review => undecided(store, id)?,
        InstanceKind::Coding => unfinished(store, &instance).await?,
        InstanceKind::Planning => None,
    };
    let Some(undone) = undone else {
        return Ok(None);
    };
    let is_first = store.write_now(|w| w.remind(id))?;
    Ok(is_first.then(|| undone.text()))
}

fn undecided(store: &Store, reviewer: &InstanceId) -> Result<Option<Undone>, Error> {
    let review = store.read_now(|r| r.review_by(reviewer))?;
    let is_pending = review.is_some_and(|review| review.verdict == Verdict::Pending);
    Ok(is_pending.then_some(Undone::Verdict))
}

async fn unfinished(store: &Store, coder: &Instance) -> Result<Option<Undone>, Error> {
    let (reviews, published) = store.read_now(|r| {
        let repository = coder.repository.to_string_lossy();
        // Of a pull request on GitHub, only what was pushed says which commit it is at.
        let pull = coder
            .pr_number
            .and_then(|number| r.pull_request(&repository, number).ok());
        Ok((r.reviews(&coder.id)?, pull.map(|pull| pull.head_commit)))
    })?;
    let rounds = reviews.iter().filter(|review| review.counts()).count();
    if rounds > 0 && rounds >= usize::try_from(coder.max_reviews).unwrap_or(usize::MAX) {
        // It was told that a person decides.
        return Ok(None);
    }
    let repository = Repository::discover(&coder.worktree_path).await?;
    let status = repository.status(&coder.worktree_path, 0).await?;
    if status.total > 0 {
        return Ok(Some(Undone::Commit {
            files: status.total,
        }));
    }
    let Some(head) = status.commit else {
        return Ok(None);
    };
    let is_pushed = || {
        let upstream = status.upstream.as_ref();
        let distance = upstream.and_then(|upstream| upstream.ahead_behind.as_ref());
        distance.is_some_and(|distance| distance.ahead == 0)
    };
    let is_published = match published {
        Some(commit) => commit == head.as_str(),
        None => coder.pr_url.is_some() && is_pushed(),
    };
    let reviewed = reviews
        .iter()
        .rfind(|review| review.commit_id == head.as_str());
    let is_approved = reviewed.is_some_and(|review| review.verdict == Verdict::Approved);
    if is_published || (reviewed.is_some() && !is_approved) {
        return Ok(None);
    }
    let ahead = match repository
        .ahead_behind(&coder.base_branch, head.as_str())
        .await
    {
        Ok(distance) => distance.ahead,
        // Its base may be gone.
        Err(GitError::RevisionNotFound { .. }) => 0,
        Err(error) => return Err(error.into()),
    };
    Ok((ahead > 0).then_some(Undone::Publish {
        needs_review: coder.require_review && !is_approved,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reminder_leaves_the_choice_to_the_agent() {
        for undone in [
            Undone::Verdict,
            Undone::Commit { files: 1 },
            Undone::Commit { files: 2 },
            Undone::Publish { needs_review: true },
            Undone::Publish {
                needs_review: false,
            },
        ] {
            let text = undone.text();
            assert!(
                text.ends_with("or end your turn again if you wait for an answer."),
                "{text}"
            );
        }
    }
}
