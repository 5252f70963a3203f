//! Hints about an agent that cannot do what was asked in its status: the command that goes on from there, ready to be pasted.

use crate::model::{Instance, Origin, SessionMode, Status};

/// Returns the way on that an agent's status has. A command in it is not refused.
pub(crate) fn way_on(instance: &Instance) -> String {
    let id = &instance.id;
    match (instance.status, instance.session_mode) {
        (Status::WaitingReview | Status::UnderReview, _) => {
            "A review is under way. End your turn; the verdict arrives by itself.".to_owned()
        }
        (Status::CreatingPr, _) => "A pull request is being made. Wait for it.".to_owned(),
        (Status::Failed | Status::Terminated, SessionMode::Interactive) => match instance.origin {
            Origin::Launched => format!("It has ended. `claude-codex resume {id}` brings it back."),
            Origin::Adopted => {
                "It is a person's own session: continue it with `claude --resume`.".to_owned()
            }
        },
        (Status::Failed | Status::Terminated, SessionMode::Headless) => {
            let coder = instance.parent_instance_id.as_ref().unwrap_or(id);
            format!("`claude-codex tdd resume {coder}` continues its run.")
        }
        (Status::PrCreated, SessionMode::Interactive) => {
            format!("Its work is published. `claude-codex send {id} \"…\"` gives it more to do.")
        }
        (Status::PrClosed, _) => {
            let number = instance.pr_number.unwrap_or_default();
            format!("Its pull request is closed. `claude-codex pr reopen {number}` opens it again.")
        }
        (Status::PrMerged, _) => {
            "Its work is merged. What is left to do is new work: `claude-codex code \"…\"`."
                .to_owned()
        }
        (Status::Completed, _) | (Status::PrCreated, SessionMode::Headless) => {
            format!("Its work is done. `claude-codex show {id}` says what became of it.")
        }
        (Status::Started | Status::Running | Status::FeedbackReceived, _) => {
            format!("`claude-codex show {id}` says what it is doing.")
        }
    }
}
