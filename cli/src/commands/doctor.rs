//! `claude-codex doctor`

mod agent_program;
mod checks;
mod deep;
mod permissions;
mod servers;

use clap::Args;
use serde::Serialize;
use shared::config::Environment;
use shared::error::Error;

use crate::failure::Failure;
use crate::output::{BAD, GOOD, NAME, Output, WARNING};
use crate::text::harmless;

const EXAMPLES: &str = "\
Examples:
  claude-codex doctor
  claude-codex doctor --json | jq '.[] | select(.status != \"ok\")'
  claude-codex doctor --deep

--deep reads the whole database, and compares every row with processes, sessions, transcripts,
worktrees, branches and files. It reads whole transcripts, so it may take a while. Run it while
no agent is being launched or ended.

The exit code is 1 if there is an error; warnings do not count.";

/// Check that everything agents need is installed, and say how to fix what is not
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DoctorArgs {
    /// Also check that nothing was lost, duplicated or left behind
    #[arg(long)]
    deep: bool,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Check {
    name: &'static str,
    status: Health,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum Health {
    Ok,
    Warning,
    Error,
}

impl Check {
    fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self {
            name,
            status: Health::Ok,
            message: message.into(),
            fix: None,
        }
    }

    fn warning(name: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            name,
            status: Health::Warning,
            message: message.into(),
            fix: Some(fix.into()),
        }
    }

    fn error(name: &'static str, error: impl Into<Error>) -> Self {
        let error = error.into();
        Self {
            name,
            status: Health::Error,
            message: error.message,
            fix: error.hint,
        }
    }
}

pub(crate) async fn doctor(args: &DoctorArgs, output: Output) -> Result<(), Failure> {
    let environment = Environment::current();
    let mut checks = checks::all(&environment, args.deep).await;
    if args.deep {
        checks.extend(deep::all(&environment).await);
    }
    if output.is_json() {
        output.document(&checks)?;
    } else {
        for check in &checks {
            output.print(&described(check))?;
        }
    }
    let errors = checks
        .iter()
        .filter(|check| check.status == Health::Error)
        .count();
    if errors == 0 {
        return Ok(());
    }
    Err(Failure::Reported)
}

fn described(check: &Check) -> String {
    let (word, style) = match check.status {
        Health::Ok => ("ok", GOOD),
        Health::Warning => ("warning", WARNING),
        Health::Error => ("error", BAD),
    };
    let mut text = format!(
        "{style}{word:<8}{style:#}{:<14}{}\n",
        check.name,
        harmless(&check.message)
    );
    if let Some(fix) = &check.fix {
        text.extend([
            " ".repeat(22),
            format!("{NAME}fix:{NAME:#} {}\n", harmless(fix)),
        ]);
    }
    text
}
