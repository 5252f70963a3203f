//! Sending work back: the verdict, and feedback that is owed from then on.

use std::time::Duration;

use super::deliver::deliver;
use super::tdd::tdd_run_of;
use super::{Context, Run, detach, wording};
use crate::error::{Code, Error};
use crate::git::{FastForward, Head, Repository};
use crate::model::hidden::{drop_hidden, drop_hidden_in_line};
use crate::model::text::check_block;
use crate::model::{
    Finding, Instance, InstanceId, MessageId, MessageKind, MessageState, Review, Status,
    StatusChange, StatusEvent, Verdict, WaitReason,
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

pub(super) fn undecided(review: Option<Review>) -> Result<Review, Error> {
    match review {
        Some(review) if review.verdict == Verdict::Pending => Ok(review),
        Some(review) => Err(Error::new(
            Code::ReviewDecided,
            format!("this review is over: {}", review.verdict),
        )
        .hint("Nothing was changed. You are done; end your turn.")),
        None => Err(not_a_reviewer()),
    }
}

/// What a session is told that has nothing to review.
pub(super) fn not_a_reviewer() -> Error {
    Error::new(
        Code::ReviewDecided,
        "this session was not started to review anything",
    )
    .hint("A coding agent starts a review with request_review.")
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

/// Brings commits that the reviewer made to the coder, or says where they are.
pub(super) async fn hand_over_commits(
    context: &Context,
    reviewer: &Instance,
    coder: &Instance,
    review: &Review,
) -> Result<Option<String>, Error> {
    if !context.settings().review.preserve_changes || !reviewer.worktree_path.exists() {
        return Ok(None);
    }
    let repository = Repository::discover(&reviewer.worktree_path).await?;
    let head = repository.head_commit(&reviewer.worktree_path).await?;
    let of_coder = match &coder.branch_name {
        Some(branch) => repository.read_ref(&format!("refs/heads/{branch}")).await?,
        None => None,
    };
    let known = match &of_coder {
        Some(tip) => {
            repository
                .ahead_behind(tip.as_str(), head.as_str())
                .await?
                .ahead
                == 0
        }
        None => false,
    };
    if known || head.as_str() == review.commit_id {
        return Ok(None);
    }
    let kept = format!("refs/codex/reviews/{}", reviewer.id);
    let kept = repository.keep(&kept, &head, None).await?;
    let merged = if stands_where_reviewed(&repository, coder, review).await {
        repository.fast_forward(&coder.worktree_path, &head).await
    } else {
        Ok(FastForward::NotFastForward)
    };
    Ok(Some(match merged {
        Ok(FastForward::Done { .. } | FastForward::AlreadyThere) => {
            "The reviewer made commits (a failing test, say); they are on your branch now."
                .to_owned()
        }
        Ok(FastForward::NotFastForward) | Err(_) => format!(
            "The reviewer made commits; they are at {kept}. Look at them with `git log {}..{kept}`.",
            review.commit_id
        ),
    }))
}

/// Tells whether a coder's worktree has its branch checked out, with the commit that was reviewed.
///
/// Elsewhere it must not be moved: whoever has gone to another branch, or taken commits back, would get them there.
async fn stands_where_reviewed(repository: &Repository, coder: &Instance, review: &Review) -> bool {
    let Ok(Head::Branch(branch)) = repository.head(&coder.worktree_path).await else {
        return false;
    };
    if coder.branch_name.as_ref() != Some(&branch) {
        return false;
    }
    let tip = format!("refs/heads/{branch}");
    let missing = repository.ahead_behind(&tip, &review.commit_id).await;
    missing.is_ok_and(|missing| missing.ahead == 0)
}

/// Tells a coder that its reviewer came to nothing; part of ending a reviewer.
pub(super) fn lose_review(
    writer: &Writer<'_>,
    reviewer: &Instance,
    reason: &str,
) -> Result<Vec<StatusChange>, StoreError> {
    let Some(review) = writer.review_by(&reviewer.id)? else {
        return Ok(Vec::new());
    };
    if !writer.decide_review(&review, Verdict::Lost, None, &[])? {
        return Ok(Vec::new());
    }
    let coder = writer.instance(&review.coding_instance_id)?;
    if !matches!(coder.status, Status::WaitingReview | Status::UnderReview) {
        return Ok(Vec::new());
    }
    let id = MessageId::random();
    writer.insert_message(&NewMessage {
        body: wording::review_lost(&id, &review, reason),
        id,
        instance: coder.id.clone(),
        sender: reviewer.id.to_string(),
        kind: MessageKind::ReviewLost,
    })?;
    Ok(vec![
        writer.transition(&coder.id, StatusEvent::ReviewerLost)?,
    ])
}
