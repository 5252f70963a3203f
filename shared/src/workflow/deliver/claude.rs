//! Handing over to Claude Code: its transcript proves what it has, and its input box shows what it would get.
//!
//! Enter is pressed only when the box holds exactly this message, the session is idle, and nothing else takes the
//! keys; tmux itself checks in the same step that the message is still on the screen.

use std::time::Duration;

use super::lease::{self, Lease};
use super::settle::Outcome;
use super::{has_arrived, has_transcript, has_written_since, is_in_conversation, transcript_ends};
use crate::agent::{self, AgentState, Draft, Drafted, Screen};
use crate::error::Error;
use crate::model::{Instance, Message, TakenBy, WaitReason};
use crate::tmux::{Claim, Fenced, InputOutcome, InputStage, LastInput};
use crate::workflow::Context;
use crate::workflow::terminal::{Place, Terminal, claude_state, ready, reason_to_wait};

/// How long Claude Code may take to draw a paste.
const DRAWN: Duration = Duration::from_secs(2);
/// Between a paste that is drawn and Enter: without it, one Enter in 68 was swallowed.
const SETTLE: Duration = Duration::from_millis(60);
/// How long proof is waited for before the message is looked at again later.
const PROOF: Duration = Duration::from_secs(3);
const POLL: Duration = Duration::from_millis(40);
/// When Enter seems to have been swallowed.
const SECOND_ENTER: Duration = Duration::from_millis(700);
/// A message that an idle agent has not got after this was never handed over.
const NOT_HANDED_OVER_SECONDS: f64 = 10.0;
/// Presses of a key that deletes one line each; a message that shows more lines is left where it is.
const MOST_ERASED: usize = 12;

/// One attempt: what is handed over to whom, under which lease.
struct Attempt<'a> {
    context: &'a Context,
    instance: &'a Instance,
    message: &'a Message,
    place: Place,
    pane: Fenced,
    lease: Lease,
    /// What was done to the pane last, and under which lease.
    last: Option<LastInput>,
}

/// What the terminal says about a message that was pasted.
enum Look {
    /// Exactly the message is in the box, and Enter would send it.
    Ours(Drafted),
    /// At its prompt, with an empty box.
    Empty,
    /// Something else is in the box.
    Mixed,
    Not(WaitReason),
}

/// Types an owed message, if this is a moment at which it can do no harm.
pub(super) async fn hand_over(
    context: &Context,
    instance: &Instance,
    message: &Message,
) -> Result<Outcome, Error> {
    // A hand-over that was taken back may have arrived after all.
    if message.attempts > 0 && has_arrived(context, instance, message).await? {
        return Ok(Outcome::Proven(TakenBy::Transcript));
    }
    // A look first, so that nothing is written while it has to wait.
    if let Err(reason) = ready(context, instance).await? {
        return Ok(Outcome::Waiting(reason, None));
    }
    let ends = transcript_ends(context, instance).await?;
    let Some(lease) = Lease::to_type(context, message, TakenBy::Transcript, ends).await? else {
        return Ok(Outcome::SomebodyElse);
    };
    // Only now does it count: the write may have waited for seconds, and a dialog may have opened.
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

/// Finds out what became of a message that was typed, or given to a hook, by whoever it was.
pub(super) async fn look_again(
    context: &Context,
    instance: &Instance,
    message: &Message,
) -> Result<Outcome, Error> {
    if is_in_conversation(context, instance, message).await? {
        return Ok(Outcome::Proven(how_taken(message)));
    }
    let Some(place) = Place::of(context, instance).await? else {
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
        .read(move |r| r.typed_longer_ago(&id, NOT_HANDED_OVER_SECONDS))
        .await?;
    let by_hook = message.taken_by == Some(TakenBy::StopHook);
    let terminal = match ready(context, instance).await? {
        // Its deliverer has gone in peace, or a hook has it: the transcript may follow.
        Ok(_) if !is_old && (by_hook || old.holder.is_none()) => {
            return Ok(Outcome::SomebodyElse);
        }
        Ok(terminal) => terminal,
        // Perhaps ours, and Enter was never pressed.
        Err(WaitReason::Draft) if !by_hook => {
            let captured = place.shown().await?;
            if agent::drafted(&captured, &message.body) != Drafted::Named {
                return Ok(Outcome::Waiting(WaitReason::Draft, None));
            }
            match place.into_terminal().await? {
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
    let typed = attempt.last.filter(|last| last.epoch == old.typed_epoch);
    let typed = typed.map(|last| last.stage).filter(|_| !by_hook);
    // From the claim on nobody else types it: what is not there now does not come later.
    match attempt.look().await? {
        Look::Ours(Drafted::Named) => attempt.send(false).await,
        Look::Empty if has_arrived(context, instance, message).await? => {
            Ok(Outcome::Proven(how_taken(message)))
        }
        Look::Empty if !by_hook && typed.is_none() => {
            Ok(Outcome::NothingTyped(attempt.lease, None))
        }
        // Enter has emptied the box, and nobody writes down what was in it.
        Look::Empty
            if is_old
                && typed == Some(InputStage::Entered)
                && !has_written_since(context, instance, message).await? =>
        {
            Ok(Outcome::Unconfirmed(attempt.lease))
        }
        Look::Empty if is_old => Ok(Outcome::NotHandedOver(attempt.lease)),
        Look::Empty => Ok(Outcome::Waiting(WaitReason::Proof, Some(attempt.lease))),
        Look::Ours(_) | Look::Mixed => Ok(Outcome::Waiting(WaitReason::Draft, Some(attempt.lease))),
        Look::Not(reason) => Ok(Outcome::Waiting(reason, Some(attempt.lease))),
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
        .read(move |r| r.typed_longer_ago(&id, NOT_HANDED_OVER_SECONDS))
        .await?;
    let by_hook = message.taken_by == Some(TakenBy::StopHook);
    let is_idle = claude_state(context, instance)? == AgentState::Idle;
    if !(is_old && by_hook && is_idle && has_transcript(context, instance)?) {
        return Ok(Outcome::Waiting(WaitReason::Proof, None));
    }
    let Some(lease) = Lease::to_settle(context, message).await? else {
        return Ok(Outcome::SomebodyElse);
    };
    // After the look at the session: what it was given before it became idle stands there by now.
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
    /// Shuts out whoever had the lease before. The error is why not, and the lease.
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
                place: terminal.place,
                pane,
                lease,
            }),
            refused @ (Claim::Outdated { .. } | Claim::Unavailable) => Err((refused, lease)),
        })
    }

    /// Presses Enter once the box shows the message, and waits for proof. `was_empty`: it was, right before the paste.
    async fn send(self, was_empty: bool) -> Result<Outcome, Error> {
        let deadline = tokio::time::Instant::now() + DRAWN;
        loop {
            match self.look().await? {
                Look::Ours(Drafted::Named) => break,
                Look::Ours(Drafted::Unnamed(_)) if was_empty => break,
                Look::Not(reason) => return self.hold(reason).await,
                Look::Ours(_) | Look::Mixed | Look::Empty => {}
            }
            if self.is_taken().await? {
                return Ok(Outcome::Proven(TakenBy::Transcript));
            }
            if tokio::time::Instant::now() >= deadline {
                return Ok(Outcome::Waiting(WaitReason::NotSubmitted, Some(self.lease)));
            }
            tokio::time::sleep(POLL).await;
        }
        tokio::time::sleep(SETTLE).await;
        if let Some(outcome) = self.press_enter().await? {
            return Ok(outcome);
        }
        let deadline = tokio::time::Instant::now() + PROOF;
        let mut second_enter = Some(tokio::time::Instant::now() + SECOND_ENTER);
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
                if matches!(self.look().await?, Look::Ours(Drafted::Named)) {
                    self.press_enter().await?;
                }
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Presses Enter, if everything still is as it was seen; else says what became of the attempt.
    async fn press_enter(&self) -> Result<Option<Outcome>, Error> {
        if !self.lease.is_held(self.context, self.message).await? {
            return Ok(Some(Outcome::SomebodyElse));
        }
        let shown = match self.look().await? {
            Look::Ours(Drafted::Named) => self.message.id.to_string(),
            Look::Ours(Drafted::Unnamed(word)) => word,
            // The next look at the message finds out.
            Look::Ours(Drafted::No) | Look::Empty | Look::Mixed | Look::Not(_) => return Ok(None),
        };
        Ok(match self.pane.press_enter(&shown).await? {
            InputOutcome::Outdated => Some(Outcome::SomebodyElse),
            InputOutcome::Typed
            | InputOutcome::Dead
            | InputOutcome::Missing
            | InputOutcome::OtherProgram { .. } => None,
        })
    }

    /// Doesn't press Enter: takes the text back where that is safe, or leaves it for the next look.
    async fn hold(self, reason: WaitReason) -> Result<Outcome, Error> {
        if reason == WaitReason::Busy && self.take_back().await? {
            return Ok(Outcome::NothingTyped(self.lease, Some(reason)));
        }
        Ok(Outcome::Waiting(reason, Some(self.lease)))
    }

    /// Empties the input box, if it holds exactly the message.
    async fn take_back(&self) -> Result<bool, Error> {
        let captured = self.place.shown().await?;
        if agent::screen(&captured) != Screen::Prompt
            || agent::drafted(&captured, &self.message.body) != Drafted::Named
        {
            return Ok(false);
        }
        for _ in 0..MOST_ERASED {
            if self.pane.erase_line().await? != InputOutcome::Typed {
                return Ok(false);
            }
            tokio::time::sleep(SETTLE).await;
            let captured = self.place.shown().await?;
            match (agent::screen(&captured), agent::draft(&captured)) {
                (Screen::Prompt, Draft::Empty) => return Ok(true),
                (Screen::Prompt, Draft::Text) => {}
                _ => return Ok(false),
            }
        }
        Ok(false)
    }

    /// Looks at the box first and at the session after: what has opened in between is seen.
    async fn look(&self) -> Result<Look, Error> {
        if self
            .place
            .is_in_use(self.context, &self.instance.id)
            .await?
        {
            return Ok(Look::Not(WaitReason::PersonTyping));
        }
        let captured = self.place.shown().await?;
        if let Some(reason) = reason_to_wait(&claude_state(self.context, self.instance)?) {
            return Ok(Look::Not(reason));
        }
        Ok(match (agent::screen(&captured), agent::draft(&captured)) {
            (Screen::Dialog, _) => Look::Not(WaitReason::DialogOpen),
            (Screen::Unknown, _) | (Screen::Prompt, Draft::Unknown) => {
                Look::Not(WaitReason::NoInputBox)
            }
            (Screen::Prompt, Draft::Empty) => Look::Empty,
            (Screen::Prompt, Draft::Text) => match agent::drafted(&captured, &self.message.body) {
                Drafted::No => Look::Mixed,
                ours @ (Drafted::Named | Drafted::Unnamed(_)) => Look::Ours(ours),
            },
        })
    }

    async fn is_taken(&self) -> Result<bool, Error> {
        is_in_conversation(self.context, self.instance, self.message).await
    }
}
