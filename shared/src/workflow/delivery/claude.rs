//! Delivery to Claude Code: the input box shows what Enter would send, and the transcript proves what arrived.
//!
//! Enter is pressed only when the box holds exactly this message, the session is idle, and nothing else takes the
//! keys; tmux itself checks in the same step that the message is still on the screen.

use std::time::Duration;

use super::lease::{self, Lease};
use super::proof::{
    has_arrived, has_transcript, has_written_since, is_in_conversation, transcript_ends,
};
use super::settle::Outcome;
use crate::agent::{self, AgentState, Draft, Drafted, Screen};
use crate::error::Error;
use crate::model::{Instance, Message, TakenBy, WaitReason};
use crate::tmux::{Claim, Fenced, InputOutcome, InputStage, LastInput};
use crate::workflow::Context;
use crate::workflow::terminal::pane::{PaneOwner, Terminal, claude_state, ready, reason_to_wait};

/// How long Claude Code may take to draw a paste.
const DRAW_TIMEOUT: Duration = Duration::from_secs(2);
/// Between a paste that is drawn and Enter: without it, one Enter in 68 was swallowed.
const SETTLE_INTERVAL: Duration = Duration::from_millis(60);
/// How long an attempt waits for proof; after that a later pass rechecks the message.
const PROOF_TIMEOUT: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(40);
/// After this, Enter is pressed a second time if the box still holds the message.
const SECOND_ENTER_GRACE: Duration = Duration::from_millis(700);
/// After this, a message that an idle agent does not have counts as not delivered.
const NOT_HANDED_OVER_SECONDS: f64 = 10.0;
/// Presses of a key that deletes one line each; a message that shows more lines is left where it is.
const MAX_ERASED: usize = 12;

/// One attempt: what is handed over to whom, under which lease.
struct Attempt<'a> {
    context: &'a Context,
    instance: &'a Instance,
    message: &'a Message,
    owner: PaneOwner,
    pane: Fenced,
    lease: Lease,
    /// What was done to the pane last, and under which lease.
    last: Option<LastInput>,
}

/// State of the input box with regard to a message that was pasted.
enum InputState {
    /// Exactly the message is in the box, and Enter would send it.
    Ours(Drafted),
    /// At its prompt, with an empty box.
    Empty,
    /// Something else is in the box.
    Mixed,
    Not(WaitReason),
}

/// Types an owed message, if this is a moment at which it can do no harm.
pub(super) async fn attempt(
    context: &Context,
    instance: &Instance,
    message: &Message,
) -> Result<Outcome, Error> {
    // An earlier attempt that counted as failed may have arrived after all.
    if message.attempts > 0 && has_arrived(context, instance, message).await? {
        return Ok(Outcome::Proven(TakenBy::Transcript));
    }
    // Checked before the lease is taken, so that a busy agent costs no writes.
    if let Err(reason) = ready(context, instance).await? {
        return Ok(Outcome::Waiting(reason, None));
    }
    let ends = transcript_ends(context, instance).await?;
    let Some(lease) = Lease::to_type(context, message, TakenBy::Transcript, ends).await? else {
        return Ok(Outcome::SomebodyElse);
    };
    // Checked again: taking the lease may have waited for seconds, and a dialog may have opened meanwhile.
    let terminal = match ready(context, instance).await? {
        Ok(terminal) => terminal,
        Err(reason) => return Ok(Outcome::NothingTyped(lease, Some(reason))),
    };
    let attempt = match Attempt::claim(context, instance, message, terminal, lease).await? {
        Ok(attempt) => attempt,
        Err((Claim::Outdated { newest }, lease)) => {
            let behind = Lease::catch_up(context, instance, newest).await?;
            return Ok(if behind {
                Outcome::NothingTyped(lease, None)
            } else {
                Outcome::SomebodyElse
            });
        }
        Err((_, lease)) => {
            return Ok(Outcome::NothingTyped(
                lease,
                Some(WaitReason::AgentStarting),
            ));
        }
    };
    if !attempt.lease.is_held(context, message).await? {
        return Ok(Outcome::SomebodyElse);
    }
    let (first, rest) = agent::message_parts(&message.body);
    let parts = if rest.is_empty() {
        vec![first]
    } else {
        vec![first, rest]
    };
    match attempt.pane.paste(&parts).await? {
        InputOutcome::Typed => attempt.send(true).await,
        InputOutcome::Outdated => Ok(Outcome::SomebodyElse),
        InputOutcome::Dead | InputOutcome::Missing | InputOutcome::OtherProgram { .. } => Ok(
            Outcome::NothingTyped(attempt.lease, Some(WaitReason::AgentStarting)),
        ),
    }
}

/// Finds out what became of a message that some process typed, or gave to a hook.
pub(super) async fn recheck(
    context: &Context,
    instance: &Instance,
    message: &Message,
) -> Result<Outcome, Error> {
    if is_in_conversation(context, instance, message).await? {
        return Ok(Outcome::Proven(how_taken(message)));
    }
    let Some(owner) = PaneOwner::of(context, instance).await? else {
        return look_after_hook(context, instance, message).await;
    };
    let Some(old) = lease::present(context, message).await? else {
        return Ok(Outcome::SomebodyElse);
    };
    if lease::is_in_use(&old) {
        return Ok(Outcome::SomebodyElse);
    }
    let id = message.id.clone();
    let is_old = context
        .store
        .read(move |r| r.typed_before(&id, NOT_HANDED_OVER_SECONDS))
        .await?;
    let by_hook = message.taken_by == Some(TakenBy::StopHook);
    let terminal = match ready(context, instance).await? {
        // Its deliverer released the lease, or a hook has it: the transcript entry may still follow.
        Ok(_) if !is_old && (by_hook || old.holder.is_none()) => {
            return Ok(Outcome::SomebodyElse);
        }
        Ok(terminal) => terminal,
        // The draft may be this message, with Enter never pressed.
        Err(WaitReason::Draft) if !by_hook => {
            let captured = owner.shown().await?;
            if agent::drafted(&captured, &message.body) != Drafted::Named {
                return Ok(Outcome::Waiting(WaitReason::Draft, None));
            }
            match owner.into_terminal().await? {
                Some(terminal) => terminal,
                None => return Ok(Outcome::Waiting(WaitReason::AgentEnded, None)),
            }
        }
        Err(reason) => return Ok(Outcome::Waiting(reason, None)),
    };
    let Some(lease) = Lease::to_settle(context, message).await? else {
        return Ok(Outcome::SomebodyElse);
    };
    let attempt = match Attempt::claim(context, instance, message, terminal, lease).await? {
        Ok(attempt) => attempt,
        Err((Claim::Outdated { newest }, lease)) => {
            let behind = Lease::catch_up(context, instance, newest).await?;
            return Ok(if behind {
                Outcome::Waiting(WaitReason::Proof, Some(lease))
            } else {
                Outcome::SomebodyElse
            });
        }
        Err((_, lease)) => return Ok(Outcome::Waiting(WaitReason::AgentStarting, Some(lease))),
    };
    let typed = lease::input_for(&old, attempt.last);
    let typed = typed.map(|last| last.stage).filter(|_| !by_hook);
    // Since the claim no other process can type it: a message that is not on the screen now will not appear later.
    match attempt.input_state().await? {
        InputState::Ours(Drafted::Named) => attempt.send(false).await,
        InputState::Empty if has_arrived(context, instance, message).await? => {
            Ok(Outcome::Proven(how_taken(message)))
        }
        InputState::Empty if !by_hook && typed.is_none() => {
            Ok(Outcome::NothingTyped(attempt.lease, None))
        }
        // Enter emptied the box, and this session does not write prompts to its transcript: there will be no proof.
        InputState::Empty
            if is_old
                && typed == Some(InputStage::Entered)
                && !has_written_since(context, instance, message).await? =>
        {
            Ok(Outcome::Unconfirmed(attempt.lease))
        }
        InputState::Empty if is_old => Ok(Outcome::NotHandedOver(attempt.lease)),
        InputState::Empty => Ok(Outcome::Waiting(WaitReason::Proof, Some(attempt.lease))),
        InputState::Ours(_) | InputState::Mixed => {
            Ok(Outcome::Waiting(WaitReason::Draft, Some(attempt.lease)))
        }
        InputState::Not(reason) => Ok(Outcome::Waiting(reason, Some(attempt.lease))),
    }
}

/// Finds out what became of a message that a hook gave to a session whose terminal we can't reach.
///
/// Claude Code is busy until it has dealt with what its hooks answer: idle and not in the transcript means lost.
async fn look_after_hook(
    context: &Context,
    instance: &Instance,
    message: &Message,
) -> Result<Outcome, Error> {
    let id = message.id.clone();
    let is_old = context
        .store
        .read(move |r| r.typed_before(&id, NOT_HANDED_OVER_SECONDS))
        .await?;
    let by_hook = message.taken_by == Some(TakenBy::StopHook);
    let is_idle = claude_state(context, instance)? == AgentState::Idle;
    if !(is_old && by_hook && is_idle && has_transcript(context, instance)?) {
        return Ok(Outcome::Waiting(WaitReason::Proof, None));
    }
    let Some(lease) = Lease::to_settle(context, message).await? else {
        return Ok(Outcome::SomebodyElse);
    };
    // Read after the session was seen idle: anything it was given before that is in the transcript by now.
    Ok(if has_arrived(context, instance, message).await? {
        Outcome::Proven(TakenBy::StopHook)
    } else {
        Outcome::NotHandedOver(lease)
    })
}

fn how_taken(message: &Message) -> TakenBy {
    match message.taken_by {
        Some(TakenBy::StopHook) => TakenBy::StopHook,
        Some(_) | None => TakenBy::Transcript,
    }
}

impl<'a> Attempt<'a> {
    /// Claims the pane, which shuts out earlier lease holders. The error has the refusal, and gives the lease back.
    async fn claim(
        context: &'a Context,
        instance: &'a Instance,
        message: &'a Message,
        terminal: Terminal,
        lease: Lease,
    ) -> Result<Result<Self, (Claim, Lease)>, Error> {
        let pane = terminal.fenced(lease.epoch);
        Ok(match pane.claim().await? {
            Claim::Claimed { last } => Ok(Self {
                last,
                context,
                instance,
                message,
                owner: terminal.owner,
                pane,
                lease,
            }),
            refused @ (Claim::Outdated { .. } | Claim::Unavailable) => Err((refused, lease)),
        })
    }

    /// Presses Enter once the box shows the message, and waits for proof. `was_empty`: it was, right before the paste.
    async fn send(self, was_empty: bool) -> Result<Outcome, Error> {
        let deadline = tokio::time::Instant::now() + DRAW_TIMEOUT;
        loop {
            match self.input_state().await? {
                InputState::Ours(Drafted::Named) => break,
                InputState::Ours(Drafted::Unnamed(_)) if was_empty => break,
                InputState::Not(reason) => return self.hold(reason).await,
                InputState::Ours(_) | InputState::Mixed | InputState::Empty => {}
            }
            if self.is_taken().await? {
                return Ok(Outcome::Proven(TakenBy::Transcript));
            }
            if tokio::time::Instant::now() >= deadline {
                return Ok(Outcome::Waiting(WaitReason::NotSubmitted, Some(self.lease)));
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        tokio::time::sleep(SETTLE_INTERVAL).await;
        if let Some(outcome) = self.press_enter().await? {
            return Ok(outcome);
        }
        let deadline = tokio::time::Instant::now() + PROOF_TIMEOUT;
        let mut second_enter = Some(tokio::time::Instant::now() + SECOND_ENTER_GRACE);
        loop {
            if self.is_taken().await? {
                return Ok(Outcome::Proven(TakenBy::Transcript));
            }
            let now = tokio::time::Instant::now();
            if now >= deadline {
                return Ok(Outcome::Waiting(WaitReason::Proof, Some(self.lease)));
            }
            if second_enter.is_some_and(|at| now >= at) {
                second_enter = None;
                if matches!(self.input_state().await?, InputState::Ours(Drafted::Named)) {
                    self.press_enter().await?;
                }
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Presses Enter if the box is unchanged; otherwise returns the outcome of the attempt, if it is known.
    async fn press_enter(&self) -> Result<Option<Outcome>, Error> {
        if !self.lease.is_held(self.context, self.message).await? {
            return Ok(Some(Outcome::SomebodyElse));
        }
        let shown = match self.input_state().await? {
            InputState::Ours(Drafted::Named) => self.message.id.to_string(),
            InputState::Ours(Drafted::Unnamed(word)) => word,
            // A later recheck finds out.
            InputState::Ours(Drafted::No)
            | InputState::Empty
            | InputState::Mixed
            | InputState::Not(_) => return Ok(None),
        };
        Ok(match self.pane.press_enter(&shown).await? {
            InputOutcome::Outdated => Some(Outcome::SomebodyElse),
            InputOutcome::Typed
            | InputOutcome::Dead
            | InputOutcome::Missing
            | InputOutcome::OtherProgram { .. } => None,
        })
    }

    /// Stops before Enter: erases the text where that is safe, or leaves it for a later recheck.
    async fn hold(self, reason: WaitReason) -> Result<Outcome, Error> {
        if reason == WaitReason::Busy && self.take_back().await? {
            return Ok(Outcome::NothingTyped(self.lease, Some(reason)));
        }
        Ok(Outcome::Waiting(reason, Some(self.lease)))
    }

    /// Empties the input box, if it holds exactly the message.
    async fn take_back(&self) -> Result<bool, Error> {
        let captured = self.owner.shown().await?;
        if agent::screen(&captured) != Screen::Prompt
            || agent::drafted(&captured, &self.message.body) != Drafted::Named
        {
            return Ok(false);
        }
        for _ in 0..MAX_ERASED {
            if self.pane.erase_line().await? != InputOutcome::Typed {
                return Ok(false);
            }
            tokio::time::sleep(SETTLE_INTERVAL).await;
            let captured = self.owner.shown().await?;
            match (agent::screen(&captured), agent::draft(&captured)) {
                (Screen::Prompt, Draft::Empty) => return Ok(true),
                (Screen::Prompt, Draft::Text) => {}
                _ => return Ok(false),
            }
        }
        Ok(false)
    }

    /// Reads the box first and the session after it, so that a dialog that opens in between is noticed.
    async fn input_state(&self) -> Result<InputState, Error> {
        if self
            .owner
            .is_in_use(self.context, &self.instance.id)
            .await?
        {
            return Ok(InputState::Not(WaitReason::PersonTyping));
        }
        let captured = self.owner.shown().await?;
        if let Some(reason) = reason_to_wait(&claude_state(self.context, self.instance)?) {
            return Ok(InputState::Not(reason));
        }
        Ok(match (agent::screen(&captured), agent::draft(&captured)) {
            (Screen::Dialog, _) => InputState::Not(WaitReason::DialogOpen),
            (Screen::Unknown, _) | (Screen::Prompt, Draft::Unknown) => {
                InputState::Not(WaitReason::NoInputBox)
            }
            (Screen::Prompt, Draft::Empty) => InputState::Empty,
            (Screen::Prompt, Draft::Text) => match agent::drafted(&captured, &self.message.body) {
                Drafted::No => InputState::Mixed,
                ours @ (Drafted::Named | Drafted::Unnamed(_)) => InputState::Ours(ours),
            },
        })
    }

    async fn is_taken(&self) -> Result<bool, Error> {
        is_in_conversation(self.context, self.instance, self.message).await
    }
}
