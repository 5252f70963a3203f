//! `claude-codex phase`: TDD phases from a shell.

use std::io::{self, IsTerminal};

use clap::{Args, Subcommand};
use phases::Phases;
use shared::config::Environment;
use shared::error::{Code, Error};
use shared::git::Repository;
use shared::model::Phase;
use shared::store::{PhaseRow, Store};

use crate::failure::Failure;
use crate::output::{BOLD, DIM, GOOD, Output, WARNING};
use crate::text::harmless;

const EXAMPLES: &str = "\
Examples:
  claude-codex init --tdd                     install the hooks and the /tdd command here
  claude-codex phase status                   the phase of the session in this worktree
  claude-codex phase confirm requirements     the same as typing `/tdd confirm requirements` there
  claude-codex phase restore                  undo changes that this phase forbids; they are saved

Only people can start, confirm, accept, overrule and stop: these commands are refused below Claude Code.";

/// TDD phases of the Claude Code session in this worktree
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PhaseArgs {
    #[command(subcommand)]
    verb: PhaseVerb,
    /// Claude Code's session id, if more than one session runs here
    #[arg(long, global = true, value_name = "ID")]
    session: Option<String>,
}

#[derive(Debug, Subcommand)]
enum PhaseVerb {
    /// Show the current phase and the changes that have to be undone
    Status,
    /// Start the phases
    Start {
        /// requirements, interfaces, tests or implementation
        #[arg(default_value = "requirements", value_parser = working_phase)]
        phase: Phase,
    },
    /// Confirm that a phase is finished
    Confirm {
        /// requirements, interfaces or tests; the current phase if none is named
        #[arg(value_parser = confirmed_phase)]
        phase: Option<Phase>,
    },
    /// Accept the files as they are now, because you changed them yourself
    Accept,
    /// Let the phase end once although its check fails or can't run
    Overrule {
        /// Why; it is logged and shown by `status`
        reason: String,
    },
    /// Undo the changes that this phase does not allow
    Restore,
    /// End the phases
    Stop,
}

fn working_phase(word: &str) -> Result<Phase, String> {
    let phase: Phase = word.parse().map_err(|error| format!("{error}"))?;
    match phase {
        Phase::Done => Err("`done` is not a phase to start with".to_owned()),
        phase => Ok(phase),
    }
}

fn confirmed_phase(word: &str) -> Result<Phase, String> {
    let phase: Phase = word.parse().map_err(|error| format!("{error}"))?;
    if phase.needs_confirmation() {
        Ok(phase)
    } else {
        Err(format!("`{phase}` needs no confirmation"))
    }
}

pub(crate) async fn phase(args: &PhaseArgs, output: Output) -> Result<(), Failure> {
    let environment = Environment::current();
    let repository = Repository::discover(environment.directory()).await?;
    let worktree = repository.worktree().ok_or_else(|| {
        Error::new(Code::NotARepository, "there is no worktree here")
            .hint("Change to the worktree that Claude Code runs in.")
    })?;
    let database = environment.database().map_err(Error::from)?;
    let store = Store::open(&database)?;
    let directory = environment.directory().to_owned();
    let phases = Phases::new(environment, store)?;
    let row = || phases::row_in_worktree(&phases, worktree, args.session.as_deref());
    let person = |row: Option<&PhaseRow>| {
        phases::require_human_at_shell(&phases, io::stdin().is_terminal(), row)
    };
    let own_row = || {
        let row = row()?;
        person(Some(&row))?;
        Ok::<_, Error>(row)
    };
    let spoken = match args.verb {
        PhaseVerb::Status => return status(&phases, &row()?, output).await,
        PhaseVerb::Restore => return restore(&phases, &row()?, output).await,
        PhaseVerb::Start { phase } => {
            person(None)?;
            let session = match &args.session {
                Some(session) => session.clone(),
                None => phases::session_in_worktree(&phases, worktree)?,
            };
            phases::start(&phases, &session, &directory, phase).await?
        }
        PhaseVerb::Confirm { phase } => phases::confirm(&phases, &own_row()?, phase).await?,
        PhaseVerb::Accept => phases::accept(&phases, &own_row()?).await?,
        PhaseVerb::Overrule { ref reason } => phases::overrule(&phases, &own_row()?, reason)?,
        PhaseVerb::Stop => phases::stop_phases(&phases, &own_row()?.session)?,
    };
    if output.is_json() {
        let rows = phases.store.read_now(|r| r.phases_in_worktree(worktree))?;
        return output.document(&rows);
    }
    output.print(&format!("{}\n", harmless(&spoken.person)))
}

async fn status(phases: &Phases, row: &PhaseRow, output: Output) -> Result<(), Failure> {
    let found = phases::detect(phases, row).await?;
    let row = PhaseRow {
        violations: found,
        ..row.clone()
    };
    if output.is_json() {
        return output.document(&row);
    }
    let number = row
        .phase
        .number()
        .map(|number| format!("{number} of 4, "))
        .unwrap_or_default();
    let mut text = format!(
        "{BOLD}{number}{}{BOLD:#} since {} {DIM}session {}{DIM:#}\n",
        row.phase,
        row.phase_since,
        harmless(&row.session)
    );
    if row.confirmed_at.is_some() {
        text.push_str(&format!(
            "{GOOD}confirmed{GOOD:#}; the phase ends with the agent's turn\n"
        ));
    } else if row.phase.needs_confirmation() {
        text.push_str(&format!(
            "`/tdd confirm {}` in Claude Code ends this phase\n",
            row.phase
        ));
    }
    for one in phases::overrules(phases, &row) {
        text.push_str(&format!("{}\n", harmless(&one.to_string())));
    }
    for violation in &row.violations {
        let path = violation.path.to_string_lossy();
        text.push_str(&format!(
            "{WARNING}to be undone:{WARNING:#} {} ({}, {})\n",
            harmless(&path),
            violation.kind,
            violation.how
        ));
    }
    output.print(&text)
}

async fn restore(phases: &Phases, row: &PhaseRow, output: Output) -> Result<(), Failure> {
    let restored = phases::restore(phases, row).await?;
    if output.is_json() {
        return output.document(&restored);
    }
    if restored.files.is_empty() {
        return output.print("there is nothing to undo\n");
    }
    let mut text = String::new();
    for violation in &restored.files {
        let path = violation.path.to_string_lossy();
        text.push_str(&format!("{GOOD}restored{GOOD:#} {}\n", harmless(&path)));
    }
    if let Some(kept) = &restored.kept {
        text.push_str(&format!(
            "the replaced versions are in {}\n",
            harmless(&kept.to_string_lossy())
        ));
    }
    output.print(&text)
}
