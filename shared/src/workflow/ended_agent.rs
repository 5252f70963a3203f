//! An agent whose session has ended (`AGENT_ENDED`): how that is said, and how it goes on.

use crate::error::{Code, Error};
use crate::model::{Instance, Origin, SessionMode, Status};
use crate::tmux::Life;
use crate::workflow::Context;
use crate::workflow::terminal::panes::{PaneLife, Panes};

/// Refuses an agent that has no terminal to be shown: it has ended, or is a session that nobody launched.
pub async fn check_terminal(context: &Context, instance: &Instance) -> Result<(), Error> {
    if instance.status.is_live() {
        return Ok(());
    }
    // With `resources.cleanup` other than auto, a published agent keeps running.
    let life = Panes::of(context, &[instance]).await.life(instance);
    match life {
        PaneLife::Known(Life::Running) | PaneLife::Unreachable => Ok(()),
        _ => Err(ended(instance)),
    }
}

/// Error for an agent whose session has ended, with the way on that its status has.
pub(crate) fn ended(instance: &Instance) -> Error {
    let (id, number) = (&instance.id, instance.pr_number.unwrap_or_default());
    let hint = match (instance.status, instance.session_mode) {
        (Status::Failed | Status::Terminated, SessionMode::Interactive) => match instance.origin {
            Origin::Launched => format!("`claude-codex resume {id}` brings it back."),
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
            format!("`claude-codex pr reopen {number}` opens its pull request again.")
        }
        _ => "Its work is over. `claude-codex code \"…\"` starts a new agent.".to_owned(),
    };
    Error::new(
        Code::AgentEnded,
        format!("`{id}` has ended ({})", instance.status),
    )
    .hint(hint)
}
