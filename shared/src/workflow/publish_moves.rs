//! How a coder moves while its work is published, each move in one transaction.

use super::publication::{CreatePr, Work};
use super::{Context, Run, wording};
use crate::config::Cleanup;
use crate::error::Error;
use crate::model::{
    Instance, InstanceId, MessageId, MessageKind, Origin, PullRequest, Status, StatusChange,
    StatusEvent, Verdict,
};
use crate::process;
use crate::store::{NewMessage, StoreError, Writer};

/// Whether the beginning was a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begun {
    Moved,
    /// Its pull request stands; only what it says changes.
    StaysPublished,
    /// Another call has begun, or was faster altogether.
    Busy,
}

/// Moves the coder to `creating_pr`; this process answers for it until the end.
pub(super) async fn begin(context: &Context, run: &Run, work: &Work) -> Result<Begun, Error> {
    let (id, branch, by_reviewer) = (
        work.coder.id.clone(),
        work.branch.clone(),
        work.review.is_some(),
    );
    let change = context
        .store
        .write(move |w| {
            let coder = w.instance(&id)?;
            let published = coder.status == Status::PrCreated;
            if published && !by_reviewer {
                return Ok(Err(Begun::StaysPublished));
            }
            if published || coder.status == Status::CreatingPr {
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
pub(super) async fn take_back(context: &Context, run: &Run, id: &InstanceId) -> Result<(), Error> {
    let id = id.clone();
    let changes = context.store.write(move |w| publish_failed(w, &id)).await?;
    for change in changes {
        run.changed(change);
    }
    Ok(())
}

/// Moves a coder back that is in `creating_pr`; if its reviewer was lost meanwhile, on to work.
pub(super) fn publish_failed(
    writer: &Writer<'_>,
    id: &InstanceId,
) -> Result<Vec<StatusChange>, StoreError> {
    let coder = writer.instance(id)?;
    if coder.status != Status::CreatingPr {
        // Somebody has ended it.
        return Ok(Vec::new());
    }
    let before = coder.status_before.unwrap_or(Status::Running);
    let mut changes = vec![writer.transition(id, StatusEvent::PublishFailed { before })?];
    writer.set_owner(id, None)?;
    let waits = matches!(before, Status::WaitingReview | Status::UnderReview);
    if waits && writer.pending_review(id)?.is_none() {
        changes.push(writer.transition(id, StatusEvent::ReviewerLost)?);
        if let Some(review) = writer.reviews(id)?.pop() {
            let message = MessageId::random();
            writer.insert_message(&NewMessage {
                body: wording::review_lost(&message, &review, "it ended while publishing"),
                id: message,
                instance: id.clone(),
                sender: review.review_instance_id.to_string(),
                kind: MessageKind::ReviewLost,
            })?;
        }
    }
    Ok(changes)
}

/// Records the pull request: coder, reviewer, verdict and message in one transaction.
///
/// Returns the coder, and whether its session is over.
pub(super) async fn finish(
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
    let (coder, changes) = context
        .store
        .write(move |w| {
            let me = process::this_process();
            let mut changes = Vec::new();
            w.set_pull_request(&id, number, &url)?;
            let standing = w.instance(&id)?.status;
            if standing == Status::CreatingPr {
                changes.push(w.transition(&id, StatusEvent::Published)?);
                w.set_owner(&id, ends.then_some(&me))?;
            }
            if let Some(review) = &review {
                w.decide_review(review, Verdict::Approved, Some(&approval), &[])?;
                if w.instance(&author)?.status == Status::Running {
                    // Whoever finds this row after a crash sees that the reviewer is still to be put away.
                    w.set_owner(&author, Some(&me))?;
                    changes.push(w.transition(&author, StatusEvent::VerdictGiven)?);
                }
                if !ends {
                    let message = MessageId::random();
                    w.insert_message(&NewMessage {
                        body: wording::published(&message, review, number, &url),
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
