//! A review round: whether it is undecided, the reviewer's own commits, and a reviewer that is lost.

use crate::error::{Code, Error};
use crate::git::{FastForward, Head, Repository};
use crate::model::{
    Instance, InstanceId, MessageId, MessageKind, Review, Status, StatusChange, StatusEvent,
    Verdict,
};
use crate::store::{NewMessage, StoreError, Writer};
use crate::workflow::{Context, agent_messages};

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

/// Error for a session that has nothing to review.
pub(super) fn not_a_reviewer() -> Error {
    Error::new(
        Code::ReviewDecided,
        "this session was not started to review anything",
    )
    .hint("A coding agent starts a review with request_review.")
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
pub(super) fn mark_review_lost(
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
        body: agent_messages::review_lost(&id, &review, reason),
        id,
        instance: coder.id.clone(),
        sender: reviewer.id.to_string(),
        kind: MessageKind::ReviewLost,
    })?;
    Ok(vec![
        writer.transition(&coder.id, StatusEvent::ReviewerLost)?,
    ])
}

/// Moves a coder back that is in `creating_pr`; if its reviewer was lost meanwhile, on to work.
pub(crate) fn publish_failed(
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
        let last = writer.reviews(id)?;
        if let Some(review) = last.into_iter().rfind(|review| !review.is_by_person()) {
            let message = MessageId::random();
            writer.insert_message(&NewMessage {
                body: agent_messages::review_lost(&message, &review, "it ended while publishing"),
                id: message,
                instance: id.clone(),
                sender: review.reviewer_name().to_owned(),
                kind: MessageKind::ReviewLost,
            })?;
        }
    }
    Ok(changes)
}
