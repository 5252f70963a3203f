//! Delivery by the Stop hook, at the end of an agent's turn.
//!
//! The answer of a hook can be lost: the hook is killed, times out, or another hook's answer wins. So the next Stop
//! hook looks first whether the message before it arrived, in the transcript that Claude Code names.

use std::path::Path;

use super::lease::holder;
use super::settle::{Ended, MAX_ATTEMPTS, record};
use crate::agent::{TranscriptEnds, TranscriptReader, named_by, written_ago};
use crate::error::Error;
use crate::model::{InstanceId, Message, MessageState, TakenBy};
use crate::store::{Store, StoreError, Writer};

/// An answer that is not in the transcript after this was lost. Two hooks of one turn run side by side, and
/// Claude Code writes the transcript when both have answered.
const LOST_AFTER_SECONDS: f64 = 10.0;

/// What the transcript says about a message that was handed over before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Earlier {
    Arrived,
    NotArrived,
    /// There is no transcript, or nobody writes to it.
    Unknown,
}

enum Step {
    HandOver(String),
    /// That message is settled; the next one may follow.
    Next,
    Wait,
}

/// Returns the message to hand over, marked as handed over first.
pub fn take_at_end_of_turn(
    store: &Store,
    instance: &InstanceId,
    transcript: &Path,
) -> Result<Option<String>, Error> {
    loop {
        let Some(message) = store.read_now(|r| r.next_message(instance))? else {
            return Ok(None);
        };
        let earlier = earlier_attempt(store, &message, transcript)?;
        // Before the hand-over, which is what it is about.
        let ends = (message.attempts == 0).then(|| TranscriptEnds::now(transcript).to_text());
        match store.write_now(|w| settle(w, instance, &message, earlier, ends.as_deref()))? {
            Step::HandOver(body) => return Ok(Some(body)),
            Step::Next => {}
            Step::Wait => return Ok(None),
        }
    }
}

fn earlier_attempt(store: &Store, message: &Message, transcript: &Path) -> Result<Earlier, Error> {
    if message.attempts == 0 {
        return Ok(Earlier::NotArrived);
    }
    let Some(written) = written_ago(transcript) else {
        return Ok(Earlier::Unknown);
    };
    let (name, reader) = (named_by(&message.body), TranscriptReader::default());
    if let Some(ends) = store.read_now(|r| r.transcript_ends(&message.id))? {
        reader.begin_at(&TranscriptEnds::parse(&ends), name);
    }
    if reader.was_taken_here_or_before(transcript, name)? {
        return Ok(Earlier::Arrived);
    }
    // A turn has ended since, and is not written down.
    let is_silent = message.state == MessageState::Typed
        && !store.read_now(|r| r.typed_before(&message.id, written.as_secs_f64()))?;
    Ok(if is_silent {
        Earlier::Unknown
    } else {
        Earlier::NotArrived
    })
}

fn settle(
    writer: &Writer<'_>,
    instance: &InstanceId,
    seen: &Message,
    earlier: Earlier,
    ends: Option<&str>,
) -> Result<Step, StoreError> {
    let id = &seen.id;
    let present = writer.message(id)?;
    if present
        .is_none_or(|present| (present.state, present.attempts) != (seen.state, seen.attempts))
    {
        return Ok(Step::Wait);
    }
    if earlier == Earlier::Arrived {
        let by = seen.taken_by.unwrap_or(TakenBy::StopHook);
        record(writer, instance, seen, Ended::Taken(by, None))?;
        return Ok(Step::Next);
    }
    if seen.state == MessageState::Typed {
        // What was typed into a terminal is looked after by who typed it.
        let by_hook = seen.taken_by == Some(TakenBy::StopHook);
        if !by_hook || !writer.typed_before(id, LOST_AFTER_SECONDS)? {
            return Ok(Step::Wait);
        }
        let epoch = writer.message_lease(id)?.map_or(0, |lease| lease.epoch);
        if earlier == Earlier::Unknown || seen.attempts >= MAX_ATTEMPTS {
            record(writer, instance, seen, Ended::Unconfirmed(epoch))?;
            return Ok(Step::Next);
        }
        writer.owe_again(id, epoch)?;
    }
    if let Some(ends) = ends {
        writer.set_transcript_ends(id, ends)?;
    }
    let mine = writer.begin_handing_over(id, TakenBy::StopHook, &holder())?;
    Ok(if mine {
        Step::HandOver(seen.body.clone())
    } else {
        Step::Wait
    })
}
