//! Messages about phases, for agents and people.

use std::path::Path;

use super::approved::Fewer;
use super::overrules::Overrule;
use crate::profile::{Check, Profile, ProfileName, TestOutcome, excerpt};
use shared::model::{FileKind, Phase};
use shared::store::{PhaseRow, Violation};

const MAX_LISTED: usize = 20;
const MAX_DIFF_BYTES: usize = 4_000;

/// Ends every refusal.
const NO_SANDBOX: &str = "This is a guard and no sandbox: it judges tool calls and finds changes afterwards, but does not confine the programs that a command starts.";

/// The reason of a refusal by a guard that could not judge.
pub fn not_judged(problem: &str) -> String {
    format!(
        "TDD: this is refused because the guard could not judge it while a phase may be active: {problem}. The person can overrule it with `/tdd stop`, or with `claude-codex phase stop` in a shell. {NO_SANDBOX}"
    )
}

fn title(phase: Phase) -> String {
    match phase.number() {
        Some(number) => format!("TDD phase {number} of 4 ({phase})"),
        None => "TDD done".to_owned(),
    }
}

/// The rule of a phase.
fn rule(phase: Phase) -> &'static str {
    match phase {
        Phase::Requirements => {
            "only documents and configuration may be edited, not production code or tests"
        }
        Phase::Interfaces => {
            "production code may be edited for its interfaces (types, signatures, stubs that report `not implemented`); tests may not"
        }
        Phase::Tests => "tests may be edited; production code may not",
        Phase::Implementation => {
            "everything may be edited until all tests pass; each edit is checked at once"
        }
        Phase::Done => "edits are no longer restricted",
    }
}

pub(super) fn how_to_advance(phase: Phase) -> String {
    match phase {
        Phase::Requirements => "The next phase begins when the person types `/tdd confirm requirements`. You can't confirm for them: finish what this phase is for, then ask.".to_owned(),
        Phase::Interfaces => "The next phase begins when the code compiles and the person types `/tdd confirm interfaces`. You can't confirm for them: finish what this phase is for, then ask.".to_owned(),
        Phase::Tests => "The next phase begins when the tests compile, at least one runs and fails, and the person types `/tdd confirm tests`. You can't confirm for them: finish what this phase is for, then ask.".to_owned(),
        Phase::Implementation => "It ends when everything compiles and all tests pass at the end of your turn.".to_owned(),
        Phase::Done => "`/tdd start` starts again.".to_owned(),
    }
}

pub(super) fn denied(row: &PhaseRow, kind: FileKind, path: &Path) -> String {
    let what = match kind {
        FileKind::Production => "is production code",
        FileKind::Test => "is or holds tests, and this edit changes them",
        FileKind::Other => "is neither a document nor configuration",
        FileKind::Documentation | FileKind::Configuration | FileKind::Guard | FileKind::Outside => {
            "does not belong to this phase"
        }
    };
    format!(
        "{}: {} {what}. In this phase {}. {} Shell commands are checked too: their changes are detected and have to be undone. {NO_SANDBOX}",
        title(row.phase),
        path.display(),
        rule(row.phase),
        how_to_advance(row.phase)
    )
}

pub(super) fn protected(phase: Phase, what: &str, why: &str) -> String {
    format!(
        "{}: {what} is refused: {why}. Agents may not touch it while phases are active. {} {NO_SANDBOX}",
        title(phase),
        how_to_advance(phase)
    )
}

pub(super) fn must_go(phase: Phase, what: &str) -> String {
    format!("{}: {what}. Your turn can't end before that.", title(phase))
}

pub(super) fn list(violations: &[Violation]) -> String {
    let mut names: Vec<String> = violations
        .iter()
        .take(MAX_LISTED)
        .map(|one| format!("{} ({}, {})", one.path.display(), one.kind, one.how))
        .collect();
    if violations.len() > MAX_LISTED {
        names.push(format!("and {} more", violations.len() - MAX_LISTED));
    }
    names.join(", ")
}

pub(super) fn violated(row: &PhaseRow, found: &[Violation]) -> String {
    format!(
        "{}: files were changed that this phase does not allow: {}. In this phase {}. Undo these changes now: `claude-codex phase restore` puts the files back as they were when the phase began and saves your versions; or undo them by hand. Neither your turn nor the phase can end before that. If the person made these changes, the person types `/tdd accept`.",
        title(row.phase),
        list(found),
        rule(row.phase)
    )
}

/// Returns the message for a check; nothing if the result is right for this phase.
pub(super) fn checked(phase: Phase, profile: &Profile, check: &Check) -> Option<String> {
    let place = profile.root.display();
    let text = match check {
        Check::Fine => return None,
        Check::NotCompiling { shown } => {
            format!("it does not compile ({place}):\n\n{shown}")
        }
        Check::TimedOut { what, limit } => format!(
            "`{what}` did not finish within {} s and was ended ({place}). If it needs longer, the person can raise `timeLimitSeconds` in .claude-codex/tdd.json.",
            limit.as_secs()
        ),
        Check::Unknown { why } => format!("it could not be checked: {why}"),
        Check::Tests { outcome, shown, .. } => match (phase, outcome) {
            (_, TestOutcome::Green) | (Phase::Tests, TestOutcome::Failing) => return None,
            (_, TestOutcome::NoTests) => {
                format!("no test ran: there are none, or all are skipped ({place})")
            }
            (_, TestOutcome::Broken) => {
                format!("the tests do not compile or load ({place}):\n\n{shown}")
            }
            (Phase::Tests, TestOutcome::OtherFailure) => format!(
                "the tests fail, but no test ran and failed: they must fail because the behaviour is missing, not because something is broken ({place}):\n\n{shown}"
            ),
            (_, TestOutcome::Failing | TestOutcome::OtherFailure) => {
                format!("tests fail ({place}):\n\n{shown}")
            }
        },
    };
    Some(format!("{}: {text}", title(phase)))
}

pub(super) fn fewer_tests(phase: Phase, fewer: &Fewer) -> String {
    format!(
        "{}: fewer tests ran than when the person confirmed them: {} instead of {} ({}). Bring them back, or have the person type `/tdd accept`.",
        title(phase),
        fewer.now,
        fewer.before,
        fewer.project.display()
    )
}

/// For the agent.
pub(super) fn tests_changed(row: &PhaseRow, changed: &[Violation]) -> String {
    format!(
        "{}: all is green, but tests were changed that the person has confirmed: {}. `claude-codex phase restore` puts test files back and saves your versions; undo changes of tests inside source files by hand. If they are right as they are now, say why, and ask the person to type `/tdd accept`; they see the difference.",
        title(row.phase),
        list(changed)
    )
}

/// For the person.
pub(super) fn tests_to_accept(row: &PhaseRow, changed: &[Violation], diff: &str) -> String {
    format!(
        "{}: tests that you confirmed were changed: {}. `/tdd accept` accepts them; until then the work is not done.\n\n{}",
        title(row.phase),
        list(changed),
        excerpt(diff, &[], MAX_DIFF_BYTES)
    )
}

pub(super) fn no_failing_test(shown: &str) -> String {
    let mut text = format!(
        "{}: no test fails. Write tests for the missing behaviour; they must compile, run and fail.",
        title(Phase::Tests)
    );
    if !shown.is_empty() {
        text.push_str(&format!("\n\n{shown}"));
    }
    text
}

pub(super) fn ask(phase: Phase) -> String {
    format!(
        "{}: only the person's confirmation is missing. Summarise in a few lines what you did in this phase and what they should check, ask them to type `/tdd confirm {phase}` (or to say what should change), and end your turn.",
        title(phase)
    )
}

pub(super) fn waiting(phase: Phase, unknown: Option<&str>) -> String {
    let more = unknown
        .map(|why| format!(" It could not be checked: {why}."))
        .unwrap_or_default();
    format!(
        "{}: waiting for you. `/tdd confirm {phase}` moves on.{more}",
        title(phase)
    )
}

pub(super) fn cannot_tell(phase: Phase, why: &str) -> String {
    format!(
        "{}: it is unknown whether all tests pass: {why}.",
        title(phase)
    )
}

/// For the person.
pub(super) fn done_unchecked(why: &str) -> String {
    format!("TDD: the work is done, and edits are no longer restricted. Not checked: {why}.")
}

pub(super) fn moved(from: Phase, to: Phase) -> String {
    match to {
        Phase::Done => {
            "TDD: all tests pass. The work is done, and edits are no longer restricted.".to_owned()
        }
        Phase::Requirements | Phase::Interfaces | Phase::Tests | Phase::Implementation => {
            format!("TDD: `{from}` has ended; now {}.", title(to))
        }
    }
}

/// The instructions for an agent at the beginning of a phase.
pub(super) fn begins(phase: Phase) -> String {
    let task = match phase {
        Phase::Requirements => {
            "Clarify the requirements: read, ask, and write them down in a document of the repository (behaviour, errors, examples, edge cases)."
        }
        Phase::Interfaces => {
            "Write the types and signatures that the requirements need, with bodies that only report `not implemented`. It must compile."
        }
        Phase::Tests => {
            "Write tests for every requirement. They must compile, run, and fail because the behaviour is missing."
        }
        Phase::Implementation => {
            "Make all tests pass. After each edit you get the compile errors and test failures."
        }
        Phase::Done => "All phases have ended.",
    };
    format!(
        "{} begins. {task} In this phase {}. {}",
        title(phase),
        rule(phase),
        how_to_advance(phase)
    )
}

pub(super) fn started(phase: Phase, profile: ProfileName, root: &Path) -> String {
    format!(
        "{} begins, with the profile `{profile}` ({}).",
        title(phase),
        root.display()
    )
}

pub(super) fn confirmed(phase: Phase) -> String {
    format!(
        "TDD: you confirmed `{phase}`. The phase advances at the end of the agent's turn, if nothing is missing."
    )
}

pub(super) fn confirmed_for_agent(phase: Phase) -> String {
    format!(
        "The person has confirmed the TDD phase `{phase}`. Its other conditions are checked when your turn ends: end your turn now, with one short sentence. You then learn what is missing, or what the next phase is."
    )
}

pub(super) fn gave_in(phase: Phase, cap: u32, reason: &str) -> String {
    format!(
        "{}: the agent's turn was prolonged {cap} times in a row and something is still missing; its turn ends now. The phase stays the same. Missing: {reason}",
        title(phase)
    )
}

pub(super) fn status(row: &PhaseRow, overrules: &[Overrule]) -> String {
    let mut text = format!(
        "{} in {}: {}.",
        title(row.phase),
        row.worktree.display(),
        rule(row.phase)
    );
    if row.confirmed_at.is_some() {
        text.push_str(" Confirmed.");
    }
    if !row.violations.is_empty() {
        text.push_str(&format!(" To be undone: {}.", list(&row.violations)));
    }
    for one in overrules {
        text.push_str(&format!(" {one}."));
    }
    if row.phase.needs_confirmation() {
        text.push_str(&format!(" `/tdd confirm {}` moves on.", row.phase));
    }
    text
}
