//! `claude-codex doctor --deep`: one check per invariant of the system.

use shared::config::Environment;
use shared::error::{Code, Error};
use shared::workflow::{Context, Invariant, InvariantViolation, check_invariants};

use super::Check;

/// How many violations of one invariant are printed; the rest are counted.
const MAX_SHOWN: usize = 20;

pub(super) async fn all(environment: &Environment) -> Vec<Check> {
    let there = environment.database().is_ok_and(|path| path.exists());
    let checked = async {
        if !there {
            return Ok(Vec::new());
        }
        let context = Context::open(environment.clone(), &[]).await?;
        check_invariants(&context).await
    };
    match checked.await {
        Ok(found) => Invariant::ALL
            .iter()
            .map(|&invariant| check(invariant, &found))
            .collect(),
        Err(error) => vec![Check::error("invariants", error)],
    }
}

fn check(invariant: Invariant, found: &[InvariantViolation]) -> Check {
    let violations: Vec<String> = found
        .iter()
        .filter(|violation| violation.invariant == invariant)
        .map(|violation| format!("{}: {}", violation.subject, violation.problem))
        .collect();
    let (name, holds) = words(invariant);
    if violations.is_empty() {
        return Check::ok(name, holds);
    }
    let mut text = violations[..violations.len().min(MAX_SHOWN)].join("; ");
    if violations.len() > MAX_SHOWN {
        text.push_str(&format!("; and {} more", violations.len() - MAX_SHOWN));
    }
    let error = Error::new(Code::Internal, text);
    Check::error(name, error.hint(advice(invariant)))
}

fn words(invariant: Invariant) -> (&'static str, &'static str) {
    match invariant {
        Invariant::DeliveredOnce => (
            "delivered",
            "every received message is in its transcript exactly once",
        ),
        Invariant::StatusIsTrue => (
            "statuses",
            "every status agrees with processes, sessions and rows",
        ),
        Invariant::NothingLeftBehind => {
            ("left behind", "ended agents left nothing unaccounted for")
        }
        Invariant::NothingDoubled => ("doubled", "no pull request, issue or task exists twice"),
        Invariant::WorkIsKept => ("work", "every living agent has its branch"),
        Invariant::Settled => ("settled", "a second reconcile changes nothing"),
    }
}

fn advice(invariant: Invariant) -> &'static str {
    match invariant {
        Invariant::DeliveredOnce => {
            "`claude-codex show ID` says where each message is; `claude-codex send ID --again MESSAGE` sends one that was not received."
        }
        Invariant::NothingLeftBehind => {
            "Inspect it before you remove it: no agent accounts for it."
        }
        Invariant::StatusIsTrue
        | Invariant::NothingDoubled
        | Invariant::WorkIsKept
        | Invariant::Settled => {
            "Run it again while no agent is being launched or ended. If it persists, please report it with this output."
        }
    }
}
