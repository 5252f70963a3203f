//! Sending work back: the verdict, and feedback that is owed from then on.

use std::time::Duration;

use super::deliver::deliver;
use super::headless::tdd_run_of;
use super::review_round::{hand_over_commits, undecided};
use super::{Context, Run, detach, wording};
use crate::error::{Code, Error};
use crate::model::hidden::{drop_hidden, drop_hidden_in_line};
use crate::model::text::check_block;
use crate::model::{
    Finding, Instance, InstanceId, MessageId, MessageKind, MessageState, Review, StatusChange,
    StatusEvent, Verdict, WaitReason,
};
use crate::process;
use crate::store::{NewMessage, StoreError, Writer};

/// How long `request_changes` waits for the coder to take the feedback before it says "queued".
const ACKNOWLEDGEMENT: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(50);

/// What is known of a message a moment after it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receipt {
    Taken,
    /// It was typed, and nothing proves that the agent has it.
    Unconfirmed,
    /// It is stored and waits, if that is known for what.
    Waiting(Option<WaitReason>),
}

/// What became of feedback.
#[derive(Debug, Clone)]
pub struct SentBack {
    pub coder: Instance,
    pub receipt: Receipt,
    pub round: u32,
}

fn without_hidden(finding: &Finding) -> Finding {
    Finding {
        file: drop_hidden_in_line(&finding.file),
        message: drop_hidden(&finding.message),
        ..finding.clone()
    }
}

/// Stores a reviewer's feedback, owes it to the coder, and waits a moment for it to be taken.
pub async fn request_changes(
    context: &Context,
    run: &Run,
    reviewer: &InstanceId,
    feedback: &str,
    findings: Vec<Finding>,
) -> Result<SentBack, Error> {
    let feedback =
        check_block(feedback, 20_000).map_err(|problem| Error::argument("feedback", problem))?;
    let findings: Vec<Finding> = findings.iter().map(without_hidden).collect();
    if findings.len() > 100 {
        return Err(Error::argument("findings", "has more than 100 entries"));
    }
    run.step("Storing the feedback")?;
    let wanted = reviewer.clone();
    let (reviewer, review) = context
        .store
        .read(move |r| Ok((r.instance(&wanted)?, r.review_by(&wanted)?)))
        .await?;
    let review = undecided(review)?;
    let id = review.coding_instance_id.clone();
    let coder = context.store.read(move |r| r.instance(&id)).await?;
    if !coder.status.is_live() {
        return Err(Error::new(
            Code::AgentEnded,
            format!("the coding agent {} has ended ({})", coder.id, coder.status),
        )
        .hint("Nothing was changed. You are done; end your turn."));
    }
    let commits = hand_over_commits(context, &reviewer, &coder, &review).await?;
    let message = MessageId::random();
    let body = wording::feedback(
        &message,
        &review,
        &wording::Reply {
            max_rounds: coder.max_reviews,
            by_handoff: tdd_run_of(context, &coder.id).await?.is_some(),
        },
        &feedback,
        &findings,
        commits.as_deref(),
    );
    let changes = decide(
        context,
        &reviewer.id,
        review.clone(),
        feedback,
        findings,
        NewMessage {
            id: message.clone(),
            instance: coder.id.clone(),
            sender: reviewer.id.to_string(),
            kind: MessageKind::Feedback,
            body,
        },
    )
    .await?;
    for change in changes {
        run.changed(change);
    }
    // The verdict stands: from here on nothing may fail the call or leave the reviewer behind.
    if let Err(error) = run.step("Handing the feedback over") {
        tracing::info!(code = %error.code, "the feedback is stored; nobody waits for its receipt");
    }
    let receipt = run
        .unless_cancelled(await_receipt(context, &coder.id, &message))
        .await;
    let receipt = receipt.unwrap_or_else(|error| {
        tracing::warn!(code = %error.code, %error, "cannot tell whether the feedback was taken");
        Receipt::Waiting(None)
    });
    if let Err(error) = detach::finish_later(context, &reviewer.id).await {
        tracing::warn!(code = %error.code, %error, "the reviewer is put away by reconcile");
    }
    let id = coder.id.clone();
    let coder = context.store.read(move |r| r.instance(&id)).await?;
    Ok(SentBack {
        coder,
        receipt,
        round: review.round,
    })
}

/// Verdict, message and both moves, all in one transaction.
async fn decide(
    context: &Context,
    reviewer: &InstanceId,
    review: Review,
    feedback: String,
    findings: Vec<Finding>,
    message: NewMessage,
) -> Result<Vec<StatusChange>, Error> {
    let reviewer = reviewer.clone();
    let decided = context
        .store
        .write(move |w: &Writer<'_>| {
            let news = w.decide_review(
                &review,
                Verdict::ChangesRequested,
                Some(&feedback),
                &findings,
            )?;
            if !news {
                return Ok::<_, StoreError>(None);
            }
            let coder = w.transition(&review.coding_instance_id, StatusEvent::ChangesRequested)?;
            w.insert_message(&message)?;
            // Whoever finds this row after a crash sees that the reviewer is still to be put away.
            w.set_owner(&reviewer, Some(&process::this_process()))?;
            let reviewer = w.transition(&reviewer, StatusEvent::VerdictGiven)?;
            Ok(Some(vec![coder, reviewer]))
        })
        .await?;
    decided.ok_or_else(|| {
        Error::new(Code::ReviewDecided, "this review was decided a moment ago")
            .hint("Nothing was changed. You are done; end your turn.")
    })
}

/// Waits for the coder to take a message, delivering in its server's stead if that is gone.
pub(super) async fn await_receipt(
    context: &Context,
    coder: &InstanceId,
    message: &MessageId,
) -> Result<Receipt, Error> {
    if tdd_run_of(context, coder).await?.is_some() {
        // It is told when its turn ends or the next one begins; nobody waits for that here.
        return Ok(Receipt::Waiting(Some(WaitReason::NextTurn)));
    }
    let deadline = tokio::time::Instant::now() + ACKNOWLEDGEMENT;
    loop {
        let (id, target) = (message.clone(), coder.clone());
        let (found, instance) = context
            .store
            .read(move |r| Ok((r.message(&id)?, r.instance(&target)?)))
            .await?;
        let Some(found) = found else {
            return Ok(Receipt::Waiting(None));
        };
        match found.state {
            MessageState::Taken => return Ok(Receipt::Taken),
            MessageState::Unconfirmed => return Ok(Receipt::Unconfirmed),
            MessageState::Owed | MessageState::Typed | MessageState::Dropped => {}
        }
        if tokio::time::Instant::now() >= deadline {
            return Ok(Receipt::Waiting(found.waiting_for));
        }
        if !instance.server.as_ref().is_some_and(process::is_running) {
            deliver(context, coder).await?;
        }
        tokio::time::sleep(POLL).await;
    }
}
