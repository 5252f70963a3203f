//! Compiling and testing: after an edit, and at the end of a turn.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::place::{phase_around, resolve};
use super::{Phases, edit, wording};
use crate::profile::{Profile, TestOutcome};
use shared::agent::ToolCall;
use shared::error::Error;
use shared::model::{FileKind, Phase, ToolKind};
use shared::process::{self, Limits, ProcessError};
use shared::store::PhaseRow;

/// What is read of a compiler or a runner; more is a fault of its own.
const OUTPUT: usize = 8 << 20;
/// What an agent is shown of it: some 1,500 tokens.
const SHOWN: usize = 5_000;
/// Projects of one worktree that the end of a turn looks at.
const MOST_PROJECTS: usize = 5;

/// How a check went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Check {
    Fine,
    NotCompiling {
        shown: String,
    },
    Tests {
        outcome: TestOutcome,
        shown: String,
    },
    TimedOut {
        what: String,
        limit: Duration,
    },
    /// It can't be told: there is no command, or its program is missing.
    Unknown {
        why: String,
    },
}

/// What to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Compile,
    CompileAndTest,
}

/// Compiles after an edit, and in the last phase tests; returns what to tell the agent.
///
/// Only the newest run of a session goes on: it ends the one before. Dropping the future ends the programs.
pub async fn after_edit(
    phases: &Phases,
    session: &str,
    directory: &Path,
    call: &ToolCall,
) -> Result<Option<String>, Error> {
    let Ok(tool) = call.tool_name.parse::<ToolKind>() else {
        return Ok(None);
    };
    let Some(named) = edit::target(tool, &call.tool_input) else {
        return Ok(None);
    };
    let rows = phases.active(session)?;
    let path = resolve(directory, &named);
    let Some((row, worktree)) = phase_around(&rows, &path) else {
        return Ok(None);
    };
    let Some(profile) = phases.profile(&worktree, &path)? else {
        return Ok(None);
    };
    if !matches!(profile.kind(&path), FileKind::Production | FileKind::Test) {
        return Ok(None);
    }
    let wanted = match row.phase {
        Phase::Requirements | Phase::Done => return Ok(None),
        Phase::Interfaces | Phase::Tests => Wanted::Compile,
        Phase::Implementation => Wanted::CompileAndTest,
    };
    let project = profile.root.clone();
    let mark = process::this_process();
    let before = phases.store.write_now(|w| {
        if !row.projects.contains(&project) {
            let mut projects = row.projects.clone();
            projects.push(project);
            w.set_phase_projects(row, &projects)?;
        }
        w.take_over_check(row, &mark)
    })?;
    if let Some(before) = before.filter(|before| *before != mark) {
        process::ask_to_end(&before);
    }
    let check = run(&profile, wanted, Some(&path)).await;
    Ok(wording::checked(row.phase, &profile, &check))
}

/// Checks all projects that were worked on; the first that is not fine tells.
pub(super) async fn all(
    phases: &Phases,
    row: &PhaseRow,
    wanted: Wanted,
) -> Result<Vec<(Profile, Check)>, Error> {
    let mut folders: Vec<PathBuf> = row.projects.iter().take(MOST_PROJECTS).cloned().collect();
    if folders.is_empty() {
        folders.push(row.worktree.clone());
    }
    let mut checks = Vec::new();
    for folder in folders {
        let worktree = if folder.starts_with(&row.worktree) {
            row.worktree.as_path()
        } else {
            folder.as_path()
        };
        if let Some(profile) = phases.profile(worktree, &folder)? {
            let check = run(&profile, wanted, None).await;
            checks.push((profile, check));
        }
    }
    Ok(checks)
}

async fn run(profile: &Profile, wanted: Wanted, file: Option<&Path>) -> Check {
    let compile = Profile::commands(&profile.compile, file);
    for words in &compile {
        match one(profile, words).await {
            Ok((code, _)) if profile.compiled(code) => {}
            Ok((_, output)) => {
                return Check::NotCompiling {
                    shown: profile.failing_part(&output, SHOWN),
                };
            }
            Err(check) => return check,
        }
    }
    if wanted == Wanted::Compile {
        return Check::Fine;
    }
    let tests = Profile::commands(&profile.tests, file);
    let Some(words) = tests.first() else {
        return Check::Unknown {
            why: "the profile has no test command".to_owned(),
        };
    };
    match one(profile, words).await {
        Ok((code, output)) => Check::Tests {
            outcome: profile.outcome(code, &output),
            shown: profile.failing_part(&output, SHOWN),
        },
        Err(check) => check,
    }
}

/// Runs one command to its end; what keeps it from ending is the check's outcome.
async fn one(profile: &Profile, words: &[String]) -> Result<(Option<i32>, String), Check> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(Check::Unknown {
            why: "an empty command".to_owned(),
        });
    };
    // A program of the project itself is named from its root.
    let program = if program.contains('/') {
        profile.root.join(program).into_os_string()
    } else {
        program.into()
    };
    let mut command = process::command(program, arguments);
    command
        .current_dir(&profile.root)
        .env("NO_COLOR", "1")
        .env("FORCE_COLOR", "0")
        .env("CARGO_TERM_COLOR", "never")
        // Runners that would watch or ask on a terminal then don't.
        .env("CI", "1");
    let limits = Limits {
        time: profile.time_limit,
        output: OUTPUT,
    };
    match process::run(&mut command, None, limits).await {
        Ok(finished) => {
            let output = format!("{}\n{}", finished.stdout_text(), finished.stderr_text());
            let missing = output.contains("No module named pytest")
                || output.contains("npx canceled due to missing packages");
            if missing {
                return Err(Check::Unknown {
                    why: format!("`{}`: its program is not installed", words.join(" ")),
                });
            }
            Ok((finished.status.code(), output))
        }
        Err(ProcessError::TimedOut { after, .. }) => Err(Check::TimedOut {
            what: words.join(" "),
            limit: after,
        }),
        Err(
            error @ (ProcessError::NotFound { .. }
            | ProcessError::Spawn { .. }
            | ProcessError::Io { .. }
            | ProcessError::TooMuchOutput { .. }),
        ) => Err(Check::Unknown {
            why: format!("`{}`: {error}", words.join(" ")),
        }),
    }
}
