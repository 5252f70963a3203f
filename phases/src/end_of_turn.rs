//! Stop hook: at the end of a turn the phase advances, or the agent learns what is missing.

use super::checks::{self, Wanted};
use super::commands::enter;
use super::human_check::{forget_command, is_of_the_session};
use super::{Phases, approved, messages, overrules, violations};
use crate::profile::{Check, TestOutcome};
use shared::error::Error;
use shared::model::Phase;
use shared::store::{PhaseRow, Violation};

/// Claude Code's default limit on consecutive blocks by Stop hooks.
const DEFAULT_BLOCK_CAP: u32 = 8;

/// The answer of the Stop hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndOfTurn {
    /// The turn ends, with an optional message for the person.
    Pass { tell: Option<String> },
    /// The agent continues.
    Block {
        reason: String,
        tell: Option<String>,
    },
}

/// Decides whether a session's turn may end.
pub async fn end_of_turn(
    phases: &Phases,
    session: &str,
    goes_on: bool,
    scheduled: Option<String>,
) -> Result<EndOfTurn, Error> {
    // A copy of the session has no turn of its own.
    if !is_of_the_session(phases, session)? {
        return Ok(EndOfTurn::Pass { tell: None });
    }
    let end = decide(phases, session, goes_on, scheduled).await?;
    if matches!(end, EndOfTurn::Pass { .. }) {
        forget_command(phases, &phases.active(session)?);
        phases
            .store
            .write_now(|w| w.set_phase_turn(session, true))?;
    }
    Ok(end)
}

async fn decide(
    phases: &Phases,
    session: &str,
    goes_on: bool,
    scheduled: Option<String>,
) -> Result<EndOfTurn, Error> {
    let rows = phases.active(session)?;
    let mut told = Vec::new();
    for row in rows {
        let row = begin(phases, row, goes_on)?;
        if let Some(what) = &scheduled {
            let reason = messages::must_go(row.phase, what);
            return block_up_to_cap(phases, &row, reason, None);
        }
        match judge(phases, &row).await? {
            EndOfTurn::Pass { tell } => told.extend(tell),
            EndOfTurn::Block { reason, tell } => {
                return block_up_to_cap(phases, &row, reason, tell);
            }
        }
    }
    Ok(EndOfTurn::Pass {
        tell: (!told.is_empty()).then(|| told.join("\n")),
    })
}

/// Records that no command is running. A turn that no hook has prolonged starts its count of blocks again.
fn begin(phases: &Phases, mut row: PhaseRow, goes_on: bool) -> Result<PhaseRow, Error> {
    if !goes_on {
        row.blocks = 0;
    }
    phases.store.write_now(|w| {
        w.set_phase_command(&row.session, false)?;
        w.set_phase_blocks(&row, row.blocks)
    })?;
    Ok(row)
}

/// Blocks, unless Claude Code's limit on consecutive blocks is reached.
fn block_up_to_cap(
    phases: &Phases,
    row: &PhaseRow,
    reason: String,
    tell: Option<String>,
) -> Result<EndOfTurn, Error> {
    let cap = phases
        .environment
        .get("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP")
        .and_then(|cap| cap.parse().ok())
        .filter(|cap| *cap > 0)
        .unwrap_or(DEFAULT_BLOCK_CAP);
    if row.blocks >= cap {
        phases.store.write_now(|w| w.set_phase_blocks(row, 0))?;
        return Ok(EndOfTurn::Pass {
            tell: Some(messages::gave_in(row.phase, cap, &reason)),
        });
    }
    phases
        .store
        .write_now(|w| w.set_phase_blocks(row, row.blocks + 1))?;
    Ok(EndOfTurn::Block { reason, tell })
}

async fn judge(phases: &Phases, row: &PhaseRow) -> Result<EndOfTurn, Error> {
    let found = violations::detect(phases, row).await?;
    if !found.is_empty() {
        return Ok(block(messages::violated(row, &found)));
    }
    let (missing, unknown) = match missing(phases, row).await? {
        Missing::Nothing => (None, None),
        Missing::Something(reason) => (Some(reason), None),
        Missing::Unknown(why) => (None, Some(why)),
    };
    let is_ready = !row.phase.needs_confirmation() || row.confirmed_at.is_some();
    if let Some(reason) = missing {
        // Only where the phase ends with it: it counts once.
        if is_ready && overrules::take(phases, row)? {
            return advance(
                phases,
                row,
                Some("the person has overruled the check".to_owned()),
            )
            .await;
        }
        return Ok(block(reason));
    }
    if row.phase.needs_confirmation() && row.confirmed_at.is_none() {
        if row.asked {
            return Ok(EndOfTurn::Pass {
                tell: Some(messages::waiting(row.phase, unknown.as_deref())),
            });
        }
        phases.store.write_now(|w| w.set_phase_asked(row))?;
        return Ok(block(messages::ask(row.phase)));
    }
    if row.phase == Phase::Implementation {
        let changed = approved::changed(phases, row).await?;
        if !changed.is_empty() && !overrules::take(phases, row)? {
            return wait_for_tests(phases, row, &changed).await;
        }
    }
    if row.phase == Phase::Implementation
        && let Some(why) = &unknown
    {
        if overrules::take(phases, row)? {
            return advance(phases, row, unknown).await;
        }
        return Ok(EndOfTurn::Pass {
            tell: Some(messages::cannot_tell(row.phase, why)),
        });
    }
    advance(phases, row, unknown).await
}

/// All is green, with tests that are not those which the person has approved.
async fn wait_for_tests(
    phases: &Phases,
    row: &PhaseRow,
    changed: &[Violation],
) -> Result<EndOfTurn, Error> {
    let diff = approved::diff(phases, row, changed).await?;
    let tell = messages::tests_to_accept(row, changed, &diff);
    if row.asked {
        return Ok(EndOfTurn::Pass { tell: Some(tell) });
    }
    phases.store.write_now(|w| w.set_phase_asked(row))?;
    Ok(EndOfTurn::Block {
        reason: messages::tests_changed(row, changed),
        tell: Some(tell),
    })
}

fn block(reason: String) -> EndOfTurn {
    EndOfTurn::Block { reason, tell: None }
}

async fn advance(
    phases: &Phases,
    row: &PhaseRow,
    unknown: Option<String>,
) -> Result<EndOfTurn, Error> {
    let Some(next) = row.phase.next() else {
        return Ok(EndOfTurn::Pass { tell: None });
    };
    enter(phases, row, next).await?;
    let tell = match unknown {
        Some(why) if next == Phase::Done => messages::done_unchecked(&why),
        Some(why) => format!("{} Not checked: {why}.", messages::moved(row.phase, next)),
        None => messages::moved(row.phase, next),
    };
    if next == Phase::Done {
        return Ok(EndOfTurn::Pass { tell: Some(tell) });
    }
    Ok(EndOfTurn::Block {
        reason: messages::begins(next),
        tell: Some(tell),
    })
}

enum Missing {
    Nothing,
    Something(String),
    /// It can't be determined.
    Unknown(String),
}

/// Determines what the phase still lacks, apart from the person's confirmation.
async fn missing(phases: &Phases, row: &PhaseRow) -> Result<Missing, Error> {
    let wanted = match row.phase {
        Phase::Requirements | Phase::Done => return Ok(Missing::Nothing),
        Phase::Interfaces => Wanted::Production,
        Phase::Tests | Phase::Implementation => Wanted::CompileAndTest,
    };
    let checks = checks::all(phases, row, wanted).await?;
    if checks.is_empty() {
        return Ok(Missing::Unknown("no project was recognised".to_owned()));
    }
    let mut unknown = None;
    let mut failing = false;
    let mut without_tests = None;
    let mut ran = approved::Ran::default();
    let mut last_shown = String::new();
    for (profile, check) in checks {
        let reason = || messages::checked(row.phase, &profile, &check).unwrap_or_default();
        match check {
            Check::Fine => {}
            Check::Unknown { why } => unknown = Some(why),
            Check::NotCompiling { .. } | Check::TimedOut { .. } => {
                return Ok(Missing::Something(reason()));
            }
            Check::Tests {
                outcome,
                ran: count,
                ref shown,
            } => {
                if let Some(count) = count {
                    ran.insert(profile.root.clone(), count);
                }
                match (row.phase, outcome) {
                    (Phase::Tests, TestOutcome::Failing) => failing = true,
                    (Phase::Tests, TestOutcome::Green | TestOutcome::NoTests) => {
                        last_shown.clone_from(shown);
                    }
                    (_, TestOutcome::Green) => {}
                    (_, TestOutcome::NoTests) => without_tests = Some(reason()),
                    (_, _) => return Ok(Missing::Something(reason())),
                }
            }
        }
    }
    // One of several projects may be without tests.
    if let Some(reason) = without_tests
        && ran.values().all(|ran| *ran == 0)
    {
        return Ok(Missing::Something(reason));
    }
    if row.phase == Phase::Tests {
        approved::note_ran(phases, row, &ran);
    } else if let Some(fewer) = approved::fewer(phases, row, &ran) {
        return Ok(Missing::Something(messages::fewer_tests(row.phase, &fewer)));
    }
    // A failing test in one project is enough.
    if row.phase == Phase::Tests && !failing && unknown.is_none() {
        return Ok(Missing::Something(messages::no_failing_test(&last_shown)));
    }
    Ok(unknown.map_or(Missing::Nothing, Missing::Unknown))
}
