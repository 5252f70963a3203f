//! `approve`: a person approves of exactly one commit of a coder's work.

use super::placed_comments::PlacedComments;
use super::reviewed_work::{check_approve, checked, coder_to_review, reviewed_commit};
use super::send_back::PERSON;
use crate::error::{Code, Error};
use crate::git::Repository;
use crate::model::review::MAX_FEEDBACK_CHARS;
use crate::model::{Instance, InstanceId, MessageId, MessageKind, Status, StatusEvent, Verdict};
use crate::store::{NewMessage, PersonReview};
use crate::workflow::delivery::receipt::{Receipt, await_receipt};
use crate::workflow::forges::publication::is_seen;
use crate::workflow::instance::ownership::wait_until_unowned;
use crate::workflow::overruled_review::{end_overruled, overrule_review};
use crate::workflow::restate_reviews::restate_reviews;
use crate::workflow::{Context, Run, Step, agent_messages};

/// What a person approves.
#[derive(Debug, Clone, Default)]
pub struct Approval {
    pub note: String,
    /// The commit that the person has seen, or its beginning; if the work has changed since, it is not approved.
    pub commit: Option<String>,
}

/// Work that a person has approved.
#[derive(Debug, Clone)]
pub struct Approved {
    pub coder: Instance,
    pub commit: String,
    /// Whether the coder was told, and has it; none if there is nothing for it to do.
    pub receipt: Option<Receipt>,
}

/// Records a person's approval of the head of a coder's work. A coder that has yet to publish it is told to.
pub async fn approve(
    context: &Context,
    run: &Run,
    coder: &InstanceId,
    approval: Approval,
) -> Result<Approved, Error> {
    let note = checked("note", &approval.note, MAX_FEEDBACK_CHARS)?;
    run.step(Step::RecordingApproval)?;
    wait_until_unowned(context, run, coder).await?;
    let coder = coder_to_review(context, coder).await?;
    check_approve(&coder)?;
    let head = reviewed_commit(context, &coder).await?;
    let commit = head.as_str().to_owned();
    if approval.commit.is_some_and(|seen| !is_seen(&commit, &seen)) {
        return Err(Error::new(
            Code::ReviewOutdated,
            format!("`{}` has made commits since you looked", coder.id),
        )
        .hint("Nothing was changed. Look at what is new, then approve it."));
    }
    let id = coder.id.clone();
    let pending = context.store.read(move |r| r.draft_comments(&id)).await?;
    let repository = Repository::at(&coder.repository).await?;
    let comments = PlacedComments::at(&repository, &head, pending).await;
    let (id, message, approved) = (coder.id.clone(), MessageId::random(), commit.clone());
    let told = message.clone();
    let recorded = context
        .store
        .write(move |w| {
            let now = w.instance(&id)?;
            // It may have begun to publish.
            if let Err(refusal) = check_approve(&now) {
                return Ok(Err(refusal));
            }
            let findings = comments.take(w, &id)?;
            // A person's word ends a review that is under way.
            let overruled = overrule_review(w, &id)?;
            let mut changes = Vec::new();
            if matches!(now.status, Status::WaitingReview | Status::UnderReview) {
                changes.push(w.transition(&id, StatusEvent::ReviewerLost)?);
            }
            if now.status.is_live() {
                w.insert_message(&NewMessage {
                    body: agent_messages::approved(
                        &told,
                        &approved,
                        &note,
                        &findings,
                        now.pr_number,
                    ),
                    id: told,
                    instance: id.clone(),
                    sender: PERSON.to_owned(),
                    kind: MessageKind::Note,
                })?;
            }
            w.insert_person_review(&PersonReview {
                coder: id.clone(),
                commit: approved.clone(),
                verdict: Verdict::Approved,
                feedback: note,
                findings,
            })?;
            restate_reviews(w, &id, &approved)?;
            let reviewer = overruled.map(|(reviewer, ended)| {
                changes.extend(ended);
                reviewer
            });
            Ok(Ok((reviewer, now.status.is_live(), changes)))
        })
        .await?;
    let (reviewer, is_told, changes) = recorded?;
    for change in changes {
        run.changed(change);
    }
    if let Some(reviewer) = reviewer {
        end_overruled(context, run, &reviewer, "a person has approved the work").await;
    }
    let receipt = if is_told {
        let receipt = await_receipt(context, &coder.id, &message).await;
        Some(receipt.unwrap_or(Receipt::Waiting(None)))
    } else {
        None
    };
    let id = coder.id.clone();
    let coder = context.store.read(move |r| r.instance(&id)).await?;
    Ok(Approved {
        coder,
        commit,
        receipt,
    })
}
