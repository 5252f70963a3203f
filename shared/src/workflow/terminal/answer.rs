//! `answer_dialog`: a person answers a dialog of Claude Code without being at its terminal.
//!
//! With the care of a delivery: control of the terminal keeps everybody else's keys out, a new epoch shuts out older deliverers,
//! and the key is pressed by the tmux server in the same step in which it sees the words of exactly this dialog.

use std::time::{Duration, Instant};

use super::control::{release_control, take_control};
use super::pane::{PaneOwner, claude_state, is_claude};
use crate::agent::{self, AgentState, Dialog, Waiting};
use crate::error::{Code, Error};
use crate::model::{Instance, InstanceId};
use crate::tmux::{Claim, InputOutcome};
use crate::workflow::{Context, Run, Step};

/// Who has control meanwhile, as others see it.
const HOLDER: &str = "an answer to its dialog";
/// How long Claude Code may take to close a dialog that was answered.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a dialog may stay open after its digit before Enter confirms the marked choice.
const MARK_TIMEOUT: Duration = Duration::from_millis(500);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The answer to a dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogAnswer {
    /// The dialog that was answered: its fingerprint.
    pub dialog: String,
    /// The number of a choice.
    pub choice: u32,
}

/// Returns the dialog that an agent's terminal shows, if it can be answered with one key.
pub async fn open_dialog(context: &Context, instance: &Instance) -> Result<Option<Dialog>, Error> {
    let Some(owner) = claude_pane(context, instance).await? else {
        return Ok(None);
    };
    Ok(agent::dialog(&owner.shown().await?))
}

/// Answers the dialog of an agent, if it is still the one that was seen; returns the choice in words.
pub async fn answer_dialog(
    context: &Context,
    run: &Run,
    id: &InstanceId,
    answer: &DialogAnswer,
) -> Result<String, Error> {
    run.step(Step::AnsweringDialog)?;
    let control = take_control(context, id, HOLDER, None, false).await?;
    let answered = press(context, id, answer).await;
    // It also ends by itself.
    if let Err(error) = release_control(context, id, &control.lease).await {
        tracing::warn!(code = %error.code, %error, "control of {id} ends by itself");
    }
    answered
}

async fn press(context: &Context, id: &InstanceId, answer: &DialogAnswer) -> Result<String, Error> {
    let wanted = id.clone();
    let (instance, epoch) = context
        .store
        .write(move |w| Ok((w.instance(&wanted)?, w.next_delivery_epoch(&wanted)?)))
        .await?;
    let Some(owner) = claude_pane(context, &instance).await? else {
        return Err(changed(id));
    };
    if owner.is_typed_into().await? {
        return Err(Error::new(
            Code::ControlTaken,
            format!("somebody is typing in the terminal of `{id}`"),
        )
        .hint("Answer there, or try again in a few seconds."));
    }
    let Some(terminal) = owner.into_terminal().await? else {
        return Err(changed(id));
    };
    let pane = terminal.fenced(epoch);
    match pane.claim().await? {
        Claim::Claimed { .. } => {}
        Claim::Outdated { newest } => {
            let wanted = id.clone();
            let raise = move |w: &crate::store::Writer<'_>| w.raise_delivery_epoch(&wanted, newest);
            context.store.write(raise).await?;
            return Err(changed(id));
        }
        Claim::Unavailable => return Err(changed(id)),
    }
    // From here on nothing waits: look, and press.
    let shown = agent::dialog(&terminal.owner.shown().await?);
    let Some(dialog) = shown.filter(|dialog| dialog.fingerprint() == answer.dialog) else {
        return Err(changed(id));
    };
    let choice = dialog
        .choices
        .iter()
        .find(|choice| choice.number == answer.choice && !choice.takes_text);
    let Some(choice) = choice else {
        let problem = format!("is no choice of this dialog: {}", answer.choice);
        return Err(Error::argument("choice", problem));
    };
    let waits = claude_state(context, &instance)?;
    if !matches!(waits, AgentState::Waiting { on } if on != Waiting::Background) {
        return Err(changed(id));
    }
    match pane.press_digit(choice.number, &dialog.words()).await? {
        InputOutcome::Typed => {}
        InputOutcome::Outdated
        | InputOutcome::Dead
        | InputOutcome::Missing
        | InputOutcome::OtherProgram { .. } => return Err(changed(id)),
    }
    // Control is held until the dialog is gone: a second answer must not reach the next one.
    let pressed = Instant::now();
    let mut is_confirmed = false;
    loop {
        let shown = agent::dialog(&terminal.owner.shown().await?);
        let Some(open) = shown.filter(|open| open.fingerprint() == answer.dialog) else {
            return Ok(choice.label.clone());
        };
        // Some choices are only marked by their number; tmux presses Enter while this one is marked in this dialog, and once.
        if !is_confirmed && open.marked == choice.number && pressed.elapsed() >= MARK_TIMEOUT {
            is_confirmed = true;
            pane.press_enter_on(choice.number, &dialog.words()).await?;
        }
        if pressed.elapsed() >= CLOSE_TIMEOUT {
            return Err(Error::new(
                Code::DialogChanged,
                format!("the dialog of `{id}` is still open after its key was pressed"),
            )
            .hint(format!("Answer it there: `claude-codex attach {id}`.")));
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Returns the terminal of an agent that we launched and that runs Claude Code at a prompt.
async fn claude_pane(context: &Context, instance: &Instance) -> Result<Option<PaneOwner>, Error> {
    if !is_claude(instance) || instance.tmux_session.is_none() {
        return Ok(None);
    }
    PaneOwner::of(context, instance).await
}

fn changed(id: &InstanceId) -> Error {
    Error::new(
        Code::DialogChanged,
        format!("the dialog of `{id}` is not the one that you saw, or it is closed"),
    )
    .hint("Nothing was pressed. Look at it again.")
}
