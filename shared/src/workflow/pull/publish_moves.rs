//! Status changes of a publication (`creating_pr`, `pr_created`, or back), each in one transaction.

use crate::config::Cleanup;
use crate::error::Error;
use crate::model::{
    Instance, InstanceId, MessageId, MessageKind, MessageState, Origin, PullRequest, Status,
    StatusEvent, Verdict,
};
use crate::process;
use crate::store::{NewMessage, StoreError, Writer};
use crate::workflow::forges::publication::{CreatePr, Work};
use crate::workflow::review::send_back::PERSON;
use crate::workflow::review_round::publish_failed;
use crate::workflow::{Context, Run, agent_messages};

/// Result of [`begin_publish`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begun {
    Moved,
    /// The pull request exists; only its text and commits are updated.
    StaysPublished,
    /// Another call is publishing, or has already published, or has decided the review.
    Busy,
}

/// Moves the coder to `creating_pr` and makes this process the owner of the row.
pub(crate) async fn begin_publish(
    context: &Context,
    run: &Run,
    work: &Work,
) -> Result<Begun, Error> {
    let (id, branch) = (work.coder.id.clone(), work.branch.clone());
    let review = work.review.as_ref().map(|review| review.id);
    let by_reviewer = review.is_some();
    let change = context
        .store
        .write(move |w| {
            let coder = w.instance(&id)?;
            let published = coder.status == Status::PrCreated;
            if published && !by_reviewer {
                return Ok(Err(Begun::StaysPublished));
            }
            // Somebody else may have decided the review.
            let is_overruled = match review {
                Some(review) => w.pending_review(&id)?.is_none_or(|now| now.id != review),
                None => false,
            };
            if published || coder.status == Status::CreatingPr || is_overruled {
                return Ok(Err(Begun::Busy));
            }
            let change = w.transition(&id, StatusEvent::PublishBegins { by_reviewer })?;
            w.set_owner(&id, Some(&process::this_process()))?;
            if coder.origin == Origin::Adopted {
                // A person may have changed branches since the session was taken in.
                w.set_branch(&id, Some(&branch))?;
            }
            Ok(Ok(change))
        })
        .await?;
    Ok(change.map_or_else(
        |begun| begun,
        |change| {
            run.changed(change);
            Begun::Moved
        },
    ))
}

/// Moves the coder back to where it was: nothing was published.
pub(crate) async fn revert_publish(
    context: &Context,
    run: &Run,
    id: &InstanceId,
) -> Result<(), Error> {
    let id = id.clone();
    let changes = context.store.write(move |w| publish_failed(w, &id)).await?;
    for change in changes {
        run.changed(change);
    }
    Ok(())
}

/// What a person has said that the agent has not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unread {
    Nothing,
    /// Notes, which do not say what to do about the pull request.
    Notes,
    /// Changes are requested.
    Changes,
}

/// Returns what a person has said that the agent has not read; that its commit is approved, and no more, is done with.
fn unread(writer: &Writer<'_>, coder: &Instance, commit: &str) -> Result<Unread, StoreError> {
    let mut unread = Unread::Nothing;
    for message in writer.messages(&coder.id)? {
        let is_unread = matches!(message.state, MessageState::Owed | MessageState::Typed);
        if !is_unread || message.sender != PERSON {
            continue;
        }
        match message.kind {
            MessageKind::Feedback => return Ok(Unread::Changes),
            MessageKind::Note => {
                let bare = |pull| {
                    agent_messages::approved(&message.id, commit, "", &[], pull) == message.body
                };
                if !bare(None) && !bare(coder.pr_number) {
                    unread = Unread::Notes;
                }
            }
            MessageKind::ReviewLost | MessageKind::LimitReached => {}
        }
    }
    Ok(unread)
}

/// Records the pull request: coder, reviewer, verdict and message in one transaction.
///
/// Returns the coder, and whether its session is over.
pub(crate) async fn record_published(
    context: &Context,
    run: &Run,
    author: &Instance,
    work: &Work,
    pull: &PullRequest,
    request: &CreatePr,
) -> Result<(Instance, bool), Error> {
    let settings = context.settings_of(&work.coder.repository);
    let cleanup = settings.map_or(Cleanup::Manual, |settings| settings.resources.cleanup);
    let ends = match (work.coder.origin, cleanup) {
        (Origin::Launched, Cleanup::Auto) => true,
        (Origin::Launched, Cleanup::Manual | Cleanup::Scheduled) | (Origin::Adopted, _) => false,
    };
    let (id, author, review) = (
        work.coder.id.clone(),
        author.id.clone(),
        work.review.clone(),
    );
    let (number, url) = (pull.number, pull.url.clone());
    let approval = request.description.clone();
    let commit = work.commit.as_str().to_owned();
    let (coder, changes) = context
        .store
        .write(move |w| {
            let me = process::this_process();
            let mut goes_on = false;
            let mut changes = Vec::new();
            w.set_pull_request(&id, number, &url)?;
            let standing = w.instance(&id)?.status;
            if standing == Status::CreatingPr {
                changes.push(w.transition(&id, StatusEvent::Published)?);
                // What a person has said meanwhile is still to be read, and done: the agent goes on.
                let unread = unread(w, &w.instance(&id)?, &commit)?;
                if unread != Unread::Nothing {
                    changes.push(w.transition(&id, StatusEvent::SentBack)?);
                    goes_on = true;
                }
                if unread == Unread::Notes {
                    changes.push(w.transition(&id, StatusEvent::FeedbackTaken)?);
                }
                w.set_owner(&id, (ends && !goes_on).then_some(&me))?;
            }
            if let Some(review) = &review {
                w.decide_review(review, Verdict::Approved, Some(&approval), &[])?;
                w.set_approved_commit(review, &commit)?;
                if w.instance(&author)?.status == Status::Running {
                    // Owned by this process: after a crash, reconcile sees that the reviewer has yet to be finished.
                    w.set_owner(&author, Some(&me))?;
                    changes.push(w.transition(&author, StatusEvent::VerdictGiven)?);
                }
                if !ends && !goes_on {
                    let message = MessageId::random();
                    w.insert_message(&NewMessage {
                        body: agent_messages::published(&message, review, number, &url),
                        id: message,
                        instance: id.clone(),
                        sender: author.to_string(),
                        kind: MessageKind::Note,
                    })?;
                }
            }
            let coder = w.instance(&id)?;
            Ok((coder, changes))
        })
        .await?;
    for change in changes {
        run.changed(change);
    }
    let ends = ends && coder.status == Status::PrCreated;
    Ok((coder, ends))
}
