//! `request_changes`: records the verdict and owes the feedback to the coder, in one transaction.

use crate::error::{Code, Error};
use crate::model::hidden::{drop_hidden, drop_hidden_in_line};
use crate::model::review::{
    MAX_FEEDBACK_CHARS, MAX_FINDING_CHARS, MAX_FINDING_FILE_CHARS, MAX_FINDINGS,
};
use crate::model::text::check_block;
use crate::model::{
    Finding, Instance, InstanceId, MessageId, MessageKind, Review, SessionMode, StatusChange,
    StatusEvent, Verdict,
};
use crate::process;
use crate::store::{NewMessage, StoreError, Writer};
use crate::workflow::delivery::receipt::{Receipt, await_receipt};
use crate::workflow::lifecycle::detached_process;
use crate::workflow::review_round::{hand_over_commits, undecided};
use crate::workflow::{Context, Run, Step, agent_messages};

/// What became of feedback.
#[derive(Debug, Clone)]
pub struct SentBack {
    pub coder: Instance,
    pub receipt: Receipt,
    pub round: u32,
}

/// Checks findings against the limits of the schema, which clients need not keep, and drops hidden characters.
pub(super) fn checked_findings(findings: &[Finding]) -> Result<Vec<Finding>, Error> {
    let refused = |problem: String| Err(Error::argument("findings", problem));
    if findings.len() > MAX_FINDINGS {
        return refused(format!("has more than {MAX_FINDINGS} entries"));
    }
    let findings: Vec<Finding> = findings.iter().map(without_hidden).collect();
    for (index, finding) in findings.iter().enumerate() {
        let texts = [
            ("file", &finding.file, MAX_FINDING_FILE_CHARS),
            ("message", &finding.message, MAX_FINDING_CHARS),
        ];
        for (field, text, most) in texts {
            if text.trim().is_empty() {
                return refused(format!("has an empty `{field}` in entry {}", index + 1));
            }
            if text.chars().count() > most {
                return refused(format!(
                    "has a `{field}` of more than {most} characters in entry {}",
                    index + 1
                ));
            }
        }
    }
    Ok(findings)
}

pub(super) fn without_hidden(finding: &Finding) -> Finding {
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
    let feedback = check_block(feedback, MAX_FEEDBACK_CHARS)
        .map_err(|problem| Error::argument("feedback", problem))?;
    let findings = checked_findings(&findings)?;
    run.step(Step::StoringFeedback)?;
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
    let body = agent_messages::feedback(
        &message,
        &review,
        &agent_messages::Reply {
            max_rounds: coder.max_reviews,
            by_handoff: coder.session_mode == SessionMode::Headless,
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
    // The verdict is committed: from here on no error may fail the call or leave the reviewer running.
    if let Err(error) = run.step(Step::DeliveringFeedback) {
        tracing::info!(code = %error.code, "the feedback is stored; nobody waits for its receipt");
    }
    let receipt = run
        .unless_cancelled(await_receipt(context, &coder.id, &message))
        .await;
    let receipt = receipt.unwrap_or_else(|error| {
        tracing::warn!(code = %error.code, %error, "cannot tell whether the feedback was taken");
        Receipt::Waiting(None)
    });
    if let Err(error) = detached_process::finish_after_turn(context, &reviewer.id).await {
        tracing::warn!(code = %error.code, %error, "reconcile finishes the reviewer");
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
            // Owned by this process: after a crash, reconcile sees that the reviewer has yet to be finished.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Severity;

    #[test]
    fn findings_keep_the_limits_of_the_schema() {
        let finding = |file: &str, message: &str| Finding {
            file: file.to_owned(),
            line: None,
            severity: Severity::Minor,
            message: message.to_owned(),
        };
        let good = finding("a.rs", &"é".repeat(MAX_FINDING_CHARS));
        let one = std::slice::from_ref(&good);
        assert_eq!(checked_findings(one).unwrap(), one);
        let long = "x".repeat(MAX_FINDING_CHARS + 1);
        for bad in [
            finding("a.rs", &long),
            finding(&"x".repeat(MAX_FINDING_FILE_CHARS + 1), "wrong"),
            finding("a.rs", " \u{200b}\n"),
            finding("\u{202e}", "wrong"),
        ] {
            let error = checked_findings(&[good.clone(), bad]).unwrap_err();
            assert_eq!(error.code, Code::InvalidArguments);
            assert!(error.to_string().contains("entry 2"), "{error}");
        }
        assert!(checked_findings(&vec![good; MAX_FINDINGS + 1]).is_err());
    }
}
