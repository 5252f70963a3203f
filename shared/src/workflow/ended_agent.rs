//! An agent whose session has ended (`AGENT_ENDED`): how that is said, and how it goes on.

use crate::error::{Code, Error, way_on};
use crate::model::Instance;
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
    Error::new(
        Code::AgentEnded,
        format!("`{}` has ended ({})", instance.id, instance.status),
    )
    .hint(way_on(instance))
}
