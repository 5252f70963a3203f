//! Delivery to agents other than Claude Code: without a transcript nothing is proven, so a message is typed at most once.
//!
//! Proof is that the terminal showed the message after Enter, and not as a draft. Without that it is unconfirmed.

use std::time::Duration;

use super::lease::{self, Lease};
use super::settle::Outcome;
use crate::agent;
use crate::error::Error;
use crate::model::{Instance, Message, TakenBy, WaitReason};
use crate::tmux::{Claim, Fenced, InputOutcome, InputStage, InputView};
use crate::workflow::Context;
use crate::workflow::terminal::pane::ready;

/// How long an agent may take to show what was sent with Enter.
const ECHO_TIMEOUT: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(80);

/// Types an owed message.
pub(super) async fn attempt(
    context: &Context,
    instance: &Instance,
    message: &Message,
) -> Result<Outcome, Error> {
    // A look first, so that nothing is written while it has to wait.
    if let Err(reason) = ready(context, instance).await? {
        return Ok(Outcome::Waiting(reason, None));
    }
    let Some(lease) = Lease::to_type(context, message, TakenBy::Screen, None).await? else {
        return Ok(Outcome::SomebodyElse);
    };
    let terminal = match ready(context, instance).await? {
        Ok(terminal) => terminal,
        Err(reason) => return Ok(Outcome::NothingTyped(lease, Some(reason))),
    };
    let pane = terminal.fenced(lease.epoch);
    match pane.claim().await? {
        Claim::Claimed { .. } => {}
        Claim::Outdated { newest } => {
            let behind = Lease::catch_up(context, instance, newest).await?;
            return Ok(if behind {
                Outcome::NothingTyped(lease, None)
            } else {
                Outcome::SomebodyElse
            });
        }
        Claim::Unavailable => {
            return Ok(Outcome::NothingTyped(lease, Some(WaitReason::AgentEnded)));
        }
    }
    if !lease.is_held(context, message).await? {
        return Ok(Outcome::SomebodyElse);
    }
    match pane.submit(&message.body).await? {
        (InputOutcome::Typed, before) => shown(&pane, message, before.as_ref(), lease).await,
        (InputOutcome::Outdated, _) => Ok(Outcome::SomebodyElse),
        (InputOutcome::Dead | InputOutcome::Missing | InputOutcome::OtherProgram { .. }, _) => {
            Ok(Outcome::NothingTyped(lease, Some(WaitReason::AgentEnded)))
        }
    }
}

/// Finds out what became of a message whose deliverer is gone: tmux has written down how far it got.
pub(super) async fn recheck(
    context: &Context,
    instance: &Instance,
    message: &Message,
) -> Result<Outcome, Error> {
    let Some(old) = lease::present(context, message).await? else {
        return Ok(Outcome::SomebodyElse);
    };
    if lease::is_in_use(&old) {
        return Ok(Outcome::SomebodyElse);
    }
    if let Err(reason) = ready(context, instance).await? {
        return Ok(Outcome::Waiting(reason, None));
    }
    let Some(lease) = Lease::to_settle(context, message).await? else {
        return Ok(Outcome::SomebodyElse);
    };
    let terminal = match ready(context, instance).await? {
        Ok(terminal) => terminal,
        Err(reason) => return Ok(Outcome::Waiting(reason, Some(lease))),
    };
    let pane = terminal.fenced(lease.epoch);
    pane.let_submission_end(old.typed_epoch).await?;
    let last = match pane.claim().await? {
        Claim::Claimed { last } => lease::input_for(&old, last),
        Claim::Outdated { newest } => {
            let behind = Lease::catch_up(context, instance, newest).await?;
            return Ok(if behind {
                Outcome::Waiting(WaitReason::Proof, Some(lease))
            } else {
                Outcome::SomebodyElse
            });
        }
        Claim::Unavailable => {
            return Ok(Outcome::Waiting(WaitReason::AgentEnded, Some(lease)));
        }
    };
    // From the claim on, nobody with the old lease types any more.
    let Some(last) = last else {
        return Ok(Outcome::NothingTyped(lease, None));
    };
    let Some(view) = pane.view().await? else {
        return Ok(Outcome::Waiting(WaitReason::AgentEnded, Some(lease)));
    };
    let is_draft = is_draft(&view, message);
    match last.stage {
        InputStage::Pasted if is_draft && lease.is_held(context, message).await? => {
            match pane.press_enter_blindly().await? {
                InputOutcome::Typed => shown(&pane, message, Some(&view), lease).await,
                InputOutcome::Outdated => Ok(Outcome::SomebodyElse),
                InputOutcome::Dead | InputOutcome::Missing | InputOutcome::OtherProgram { .. } => {
                    Ok(Outcome::Unconfirmed(lease))
                }
            }
        }
        // Of a program that hides its cursor nobody knows where its draft ends.
        InputStage::Entered
            if view.before_cursor.is_some() && !is_draft && times_shown(&view, message) > 0 =>
        {
            Ok(Outcome::Shown(lease))
        }
        InputStage::Pasted | InputStage::Entered => Ok(Outcome::Unconfirmed(lease)),
    }
}

/// Waits until the terminal shows that the message was sent.
async fn shown(
    pane: &Fenced,
    message: &Message,
    before: Option<&InputView>,
    lease: Lease,
) -> Result<Outcome, Error> {
    let drafts = before.map_or(0, |view| times_shown(view, message));
    let was_draft = before.is_some_and(|view| is_draft(view, message));
    let deadline = tokio::time::Instant::now() + ECHO_TIMEOUT;
    loop {
        if let Some(view) = pane.view().await?
            && !is_draft(&view, message)
            && (times_shown(&view, message) > drafts
                || (was_draft && times_shown(&view, message) > 0))
        {
            return Ok(Outcome::Shown(lease));
        }
        if tokio::time::Instant::now() >= deadline {
            return Ok(Outcome::Unconfirmed(lease));
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

fn times_shown(view: &InputView, message: &Message) -> usize {
    view.text.matches(message.id.as_str()).count()
}

/// Tells whether the cursor stands right behind the message: it was not sent.
fn is_draft(view: &InputView, message: &Message) -> bool {
    view.before_cursor
        .as_deref()
        .is_some_and(|before| agent::ends_in_message(before, &message.body))
}
