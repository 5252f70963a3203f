//! A review that a person overrules: decided with the person's word, and its reviewer put away.

use crate::model::{InstanceId, StatusChange, StatusEvent, Verdict};
use crate::process;
use crate::store::{StoreError, Writer};
use crate::workflow::lifecycle::finish::finish;
use crate::workflow::{Context, Run};

/// Decides a review that a person overrules, as part of recording the person's word; returns its reviewer, which is to be put
/// away by [`end_overruled`]. The caller moves the coder.
pub(super) fn overrule_review(
    writer: &Writer<'_>,
    coder: &InstanceId,
) -> Result<Option<(InstanceId, Vec<StatusChange>)>, StoreError> {
    let Some(review) = writer.pending_review(coder)? else {
        return Ok(None);
    };
    writer.decide_review(&review, Verdict::Lost, None, &[])?;
    let Some(reviewer) = review.review_instance_id else {
        return Ok(None);
    };
    let mut changes = Vec::new();
    if writer.instance(&reviewer)?.status.is_live() {
        changes.push(writer.transition(&reviewer, StatusEvent::Terminated)?);
        // Owned by this process: after a crash, reconcile sees that the reviewer has yet to be finished.
        writer.set_owner(&reviewer, Some(&process::this_process()))?;
    }
    Ok(Some((reviewer, changes)))
}

/// Ends the session of a reviewer that a person has overruled.
pub(super) async fn end_overruled(
    context: &Context,
    run: &Run,
    reviewer: &InstanceId,
    reason: &str,
) {
    let event = Some(StatusEvent::Terminated);
    let ended = finish(context, run, reviewer, event, Some(reason.to_owned())).await;
    if let Err(error) = ended {
        tracing::warn!(code = %error.code, %error, "reconcile finishes {reviewer}");
    }
}
