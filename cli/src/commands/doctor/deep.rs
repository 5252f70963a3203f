//! `claude-codex doctor --deep`: one check for each invariant.

use shared::config::Environment;
use shared::error::{Code, Error};
use shared::workflow::{Context, Invariant, InvariantViolation, check_invariants};

use super::Check;

/// How many violations of one invariant are printed; the rest is counted.
const MOST: usize = 20;

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
    let mut text = violations[..violations.len().min(MOST)].join("; ");
    if violations.len() > MOST {
        text.push_str(&format!("; and {} more", violations.len() - MOST));
    }
    let error = Error::new(Code::Internal, text);
    Check::error(name, error.hint(advice(invariant)))
}

fn words(invariant: Invariant) -> (&'static str, &'static str) {
    match invariant {
        Invariant::DeliveredOnce => (
            "delivered",
            "every message that was taken is in its transcript once",
        ),
        Invariant::StatusIsTrue => (
            "statuses",
            "every status agrees with its processes, sessions and rows",
        ),
        Invariant::NothingLeftBehind => (
            "left behind",
            "ended agents left nothing that nobody accounts for",
        ),
        Invariant::NothingDoubled => ("doubled", "no pull request, issue or task exists twice"),
        Invariant::WorkIsKept => ("work", "every living agent has its branch"),
        Invariant::Settled => ("settled", "a second look changes nothing"),
    }
}

fn advice(invariant: Invariant) -> &'static str {
    match invariant {
        Invariant::DeliveredOnce => {
            "`claude-codex show ID` says where each message is; `claude-codex send ID --again MESSAGE` sends one that was not taken."
        }
        Invariant::NothingLeftBehind => {
            "Look at what it is before you remove it: nobody accounts for it."
        }
        Invariant::StatusIsTrue
        | Invariant::NothingDoubled
        | Invariant::WorkIsKept
        | Invariant::Settled => {
            "Run it once more when nothing is being launched or ended. If it stays, please report it with this output."
        }
    }
}
