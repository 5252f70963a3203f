//! `send_back`: a person requests changes, of work that may be published already.
//!
//! Text and pending line comments become one round. If the session of the coder has ended, it is started again in its worktree
//! and its conversation, and gets the feedback like any other message.

use super::placed_comments::PlacedComments;
use super::request_changes::checked_findings;
use super::reviewed_work::{check_send_back, checked, coder_to_review, reviewed_commit};
use crate::error::Error;
use crate::git::Repository;
use crate::model::review::MAX_FEEDBACK_CHARS;
use crate::model::{Finding, Instance, InstanceId, MessageId, MessageKind, Review, Verdict};
use crate::store::{NewMessage, PersonReview, StoreError, Writer};
use crate::workflow::agent_messages::{self, NextStep};
use crate::workflow::delivery::receipt::{Receipt, await_receipt};
use crate::workflow::instance::ownership::wait_until_unowned;
use crate::workflow::put_to_work::put_to_work;
use crate::workflow::restate_reviews::restate_reviews;
use crate::workflow::{Context, Run, Step};

/// The sender of what a person says.
pub(crate) const PERSON: &str = "person";

/// What became of a person's feedback.
#[derive(Debug, Clone)]
pub struct FeedbackSent {
    pub coder: Instance,
    pub message: MessageId,
    pub receipt: Receipt,
    /// Counted among the rounds of a person.
    pub round: u32,
    /// How many line comments it has.
    pub comments: usize,
    /// Whether the agent's session had ended and was started again.
    pub restarted: bool,
}

/// What a person says about the work.
struct Said {
    message: MessageId,
    commit: String,
    feedback: String,
    findings: Vec<Finding>,
    comments: PlacedComments,
}

/// Sends a coder's work back with a person's feedback and all pending comments, and waits a moment for it to be taken.
pub async fn send_back(
    context: &Context,
    run: &Run,
    coder: &InstanceId,
    feedback: &str,
    findings: Vec<Finding>,
) -> Result<FeedbackSent, Error> {
    let feedback = checked("feedback", feedback, MAX_FEEDBACK_CHARS)?;
    let findings = checked_findings(&findings)?;
    run.step(Step::SendingWorkBack)?;
    // Its session may be ending right now, because it has just published.
    wait_until_unowned(context, run, coder).await?;
    let coder = coder_to_review(context, coder).await?;
    check_send_back(&coder)?;
    let id = coder.id.clone();
    let pending = context.store.read(move |r| r.draft_comments(&id)).await?;
    if feedback.is_empty() && findings.is_empty() && pending.is_empty() {
        return Err(
            Error::argument("feedback", "is empty, and no comments are pending")
                .hint("Say what is to be changed."),
        );
    }
    let commit = reviewed_commit(context, &coder).await?;
    let repository = Repository::at(&coder.repository).await?;
    let said = Said {
        message: MessageId::random(),
        comments: PlacedComments::at(&repository, &commit, pending).await,
        commit: commit.as_str().to_owned(),
        feedback,
        findings,
    };
    let message = said.message.clone();
    let restarted = put_to_work(context, run, &coder.id, &message, move |w, id| {
        record(w, id, &said)
    })
    .await?;
    // It is committed: from here on no error may fail the call.
    let receipt = run
        .unless_cancelled(await_receipt(context, &coder.id, &message))
        .await;
    let receipt = receipt.unwrap_or_else(|error| {
        tracing::warn!(code = %error.code, %error, "cannot tell whether the feedback was taken");
        Receipt::Waiting(None)
    });
    let id = coder.id.clone();
    let (coder, last) = context
        .store
        .read(move |r| {
            let rounds = r.reviews(&id)?;
            Ok((
                r.instance(&id)?,
                rounds.into_iter().rfind(Review::is_by_person),
            ))
        })
        .await?;
    Ok(FeedbackSent {
        coder,
        message,
        receipt,
        round: last.as_ref().map_or(1, |review| review.round),
        comments: last.map_or(0, |review| review.findings.len()),
        restarted,
    })
}

/// Stores the round and owes the message; the comments are not pending any more.
fn record(writer: &Writer<'_>, id: &InstanceId, said: &Said) -> Result<(), StoreError> {
    let mut findings = said.findings.clone();
    findings.extend(said.comments.take(writer, id)?);
    // Another request may have taken the comments meanwhile.
    if said.feedback.is_empty() && findings.is_empty() {
        return Err(StoreError::NothingPending { coder: id.clone() });
    }
    let coder = writer.instance(id)?;
    let next = next_step(&coder, &writer.reviews(id)?);
    writer.insert_person_review(&PersonReview {
        coder: id.clone(),
        commit: said.commit.clone(),
        verdict: Verdict::ChangesRequested,
        feedback: said.feedback.clone(),
        findings: findings.clone(),
    })?;
    restate_reviews(writer, id, &said.commit)?;
    writer.insert_message(&NewMessage {
        body: agent_messages::sent_back(
            &said.message,
            &said.feedback,
            &findings,
            coder.pr_number,
            next,
        ),
        id: said.message.clone(),
        instance: id.clone(),
        sender: PERSON.to_owned(),
        kind: MessageKind::Feedback,
    })
}

/// Returns what the coder has to call when it is done; the same rule as that of `create_pr`.
pub(crate) fn next_step(coder: &Instance, reviews: &[Review]) -> NextStep {
    let used = reviews.iter().filter(|review| review.counts()).count();
    let can_be_reviewed = used < coder.max_reviews as usize;
    match coder.pr_number {
        pull if coder.require_review && can_be_reviewed => NextStep::AskForReview { pull },
        Some(number) => NextStep::UpdatePull(number),
        None => NextStep::GoOn,
    }
}
