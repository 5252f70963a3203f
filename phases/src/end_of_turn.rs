//! The end of a turn: it moves on to the next phase, or says what is missing.

use super::checks::{self, Check, Wanted};
use super::person::enter;
use super::{Phases, violations, wording};
use crate::profile::TestOutcome;
use shared::error::Error;
use shared::model::Phase;
use shared::store::PhaseRow;

/// Claude Code's own limit on refusing the end of a turn, unless its variable says otherwise.
const BLOCK_CAP: u32 = 8;

/// What the Stop hook answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndOfTurn {
    /// The turn ends; the person may be told something.
    Pass { tell: Option<String> },
    /// The agent goes on.
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
) -> Result<EndOfTurn, Error> {
    let end = decide(phases, session, goes_on).await?;
    if matches!(end, EndOfTurn::Pass { .. }) {
        phases
            .store
            .write_now(|w| w.set_phase_turn(session, true))?;
    }
    Ok(end)
}

async fn decide(phases: &Phases, session: &str, goes_on: bool) -> Result<EndOfTurn, Error> {
    let rows = phases.active(session)?;
    let mut told = Vec::new();
    for row in rows {
        let row = begin(phases, row, goes_on)?;
        match judge(phases, &row).await? {
            EndOfTurn::Pass { tell } => told.extend(tell),
            EndOfTurn::Block { reason, tell } => return give_in(phases, &row, reason, tell),
        }
    }
    Ok(EndOfTurn::Pass {
        tell: (!told.is_empty()).then(|| told.join("\n")),
    })
}

/// Notes that no command runs any more; a turn that no hook prolonged counts its refusals anew.
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

/// Refuses, unless it has done so as often as Claude Code listens.
fn give_in(
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
        .unwrap_or(BLOCK_CAP);
    if row.blocks >= cap {
        phases.store.write_now(|w| w.set_phase_blocks(row, 0))?;
        return Ok(EndOfTurn::Pass {
            tell: Some(wording::gave_in(row.phase, cap, &reason)),
        });
    }
    phases
        .store
        .write_now(|w| w.set_phase_blocks(row, row.blocks + 1))?;
    Ok(EndOfTurn::Block { reason, tell })
}

async fn judge(phases: &Phases, row: &PhaseRow) -> Result<EndOfTurn, Error> {
    let found = violations::look(phases, row).await?;
    if !found.is_empty() {
        return Ok(block(wording::violated(row, &found)));
    }
    let (missing, unknown) = match missing(phases, row).await? {
        Missing::Nothing => (None, None),
        Missing::Something(reason) => (Some(reason), None),
        Missing::Unknown(why) => (None, Some(why)),
    };
    if let Some(reason) = missing {
        return Ok(block(reason));
    }
    if row.phase.needs_confirmation() && row.confirmed_at.is_none() {
        if row.asked {
            return Ok(EndOfTurn::Pass {
                tell: Some(wording::waiting(row.phase, unknown.as_deref())),
            });
        }
        phases.store.write_now(|w| w.set_phase_asked(row))?;
        return Ok(block(wording::ask(row.phase)));
    }
    if row.phase == Phase::Implementation
        && let Some(why) = unknown
    {
        return Ok(EndOfTurn::Pass {
            tell: Some(wording::cannot_tell(row.phase, &why)),
        });
    }
    advance(phases, row, unknown).await
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
    let mut tell = wording::moved(row.phase, next);
    if let Some(why) = unknown {
        tell.push_str(&format!(" Not checked: {why}."));
    }
    if next == Phase::Done {
        return Ok(EndOfTurn::Pass { tell: Some(tell) });
    }
    Ok(EndOfTurn::Block {
        reason: wording::begins(next),
        tell: Some(tell),
    })
}

enum Missing {
    Nothing,
    Something(String),
    /// It can't be found out.
    Unknown(String),
}

/// Finds out what the phase itself still lacks, the person's word aside.
async fn missing(phases: &Phases, row: &PhaseRow) -> Result<Missing, Error> {
    let wanted = match row.phase {
        Phase::Requirements | Phase::Done => return Ok(Missing::Nothing),
        Phase::Interfaces => Wanted::Compile,
        Phase::Tests | Phase::Implementation => Wanted::CompileAndTest,
    };
    let checks = checks::all(phases, row, wanted).await?;
    if checks.is_empty() {
        return Ok(Missing::Unknown("no project was recognised".to_owned()));
    }
    let mut unknown = None;
    let mut failing = false;
    let mut last_shown = String::new();
    for (profile, check) in checks {
        match check {
            Check::Fine => {}
            Check::Unknown { why } => unknown = Some(why),
            Check::NotCompiling { .. } | Check::TimedOut { .. } => {
                let reason = wording::checked(row.phase, &profile, &check).unwrap_or_default();
                return Ok(Missing::Something(reason));
            }
            Check::Tests { outcome, ref shown } => match (row.phase, outcome) {
                (Phase::Tests, TestOutcome::Failing) => failing = true,
                (Phase::Tests, TestOutcome::Green | TestOutcome::NoTests) => {
                    last_shown.clone_from(shown);
                }
                (_, TestOutcome::Green) => {}
                (_, _) => {
                    let reason = wording::checked(row.phase, &profile, &check).unwrap_or_default();
                    return Ok(Missing::Something(reason));
                }
            },
        }
    }
    // One project with a failing test is enough: the others need not change.
    if row.phase == Phase::Tests && !failing && unknown.is_none() {
        return Ok(Missing::Something(wording::no_failing_test(&last_shown)));
    }
    Ok(unknown.map_or(Missing::Nothing, Missing::Unknown))
}
