//! Overruled checks: a person lets a phase end once although its check is stuck, with a reason that stays visible.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Phases;
use shared::error::{Code, Error};
use shared::model::hidden::drop_hidden;
use shared::model::{Phase, Timestamp};
use shared::store::PhaseRow;

const MAX_REASON_CHARACTERS: usize = 500;

/// One check that a person has overruled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Overrule {
    pub phase: Phase,
    pub reason: String,
    pub at: Timestamp,
    /// A check has failed, and the phase has ended nevertheless.
    pub used: bool,
}

impl fmt::Display for Overrule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = if self.used {
            "The check was overruled"
        } else {
            "The next check is overruled"
        };
        write!(formatter, "{when} in `{}`: {}", self.phase, self.reason)
    }
}

fn place(phases: &Phases, row: &PhaseRow) -> PathBuf {
    phases.snapshot_folder(row).join("overrules.json")
}

/// Returns what was overruled since the phases began.
pub fn all(phases: &Phases, row: &PhaseRow) -> Vec<Overrule> {
    let text = std::fs::read(place(phases, row)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn write(phases: &Phases, row: &PhaseRow, all: &[Overrule]) -> Result<(), Error> {
    let path = place(phases, row);
    let failed = |why: String| {
        Error::new(
            Code::Internal,
            format!("cannot write {}: {why}", path.display()),
        )
    };
    let text = serde_json::to_vec(all).map_err(|error| failed(error.to_string()))?;
    std::fs::write(&path, text).map_err(|error| failed(error.to_string()))
}

/// Records that the check at the next end of a turn does not hold the phase up.
pub(super) fn add(phases: &Phases, row: &PhaseRow, reason: &str) -> Result<(), Error> {
    if matches!(row.phase, Phase::Requirements | Phase::Done) {
        return Err(Error::new(
            Code::IllegalState,
            format!("the phase `{}` has no check", row.phase),
        )
        .hint("`/tdd status` shows what the phase waits for."));
    }
    let mut all = all(phases, row);
    all.retain(|one| one.used);
    all.push(Overrule {
        phase: row.phase,
        reason: drop_hidden(reason)
            .chars()
            .take(MAX_REASON_CHARACTERS)
            .collect(),
        at: Timestamp::now(),
        used: false,
    });
    write(phases, row, &all)
}

/// Uses up what a person has said for this phase; returns whether there was something.
pub(super) fn take(phases: &Phases, row: &PhaseRow) -> Result<bool, Error> {
    let mut all = all(phases, row);
    let Some(one) = all
        .iter_mut()
        .find(|one| !one.used && one.phase == row.phase)
    else {
        return Ok(false);
    };
    one.used = true;
    write(phases, row, &all)?;
    Ok(true)
}
