//! Checks: compiles and tests the project after an edit and at the end of a turn.

use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::build_products::{self, Products};
use super::resolve_path::{phase_around, resolve};
use super::{Phases, edit, messages};
use crate::profile::{Check, Names, Profile};
use shared::agent::ToolCall;
use shared::error::Error;
use shared::file;
use shared::model::{Alteration, FileKind, Phase, ToolKind};
use shared::process::{self, Limits, ProcessError};
use shared::store::PhaseRow;

/// More output of a compiler or test runner counts as a failure to check.
const MAX_OUTPUT_BYTES: usize = 8 << 20;
/// The part that the agent sees: some 1,500 tokens.
const MAX_SHOWN_BYTES: usize = 5_000;
/// Projects of one worktree that are checked at the end of a turn.
const MAX_PROJECTS: usize = 5;
/// Changed files that are compiled one by one.
const MAX_FILES: usize = 1_000;
const MAX_REPORT_BYTES: u64 = 32 << 20;

/// The commands to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Without tests: an interface that changes may break old ones, which follow in the next phase.
    Production,
    Compile,
    CompileAndTest,
}

/// Compiles after an edit, and in the implementation phase also tests. Returns a message for the agent.
///
/// A new check ends the previous one of the session. Dropping the future ends the programs.
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
    check_edit(phases, row, &profile, path).await
}

/// After a command in the implementation phase: compiles and tests if it has changed source files since the last check.
pub(super) async fn after_command(
    phases: &Phases,
    row: &PhaseRow,
) -> Result<Option<String>, Error> {
    if row.phase != Phase::Implementation {
        return Ok(None);
    }
    let (state, latest) = sources(phases, row).await?;
    let checked = std::fs::read_to_string(checked_place(phases, row)).unwrap_or_default();
    let Some(path) = latest.filter(|_| state != checked) else {
        return Ok(None);
    };
    match phases.profile(&row.worktree, &path)? {
        Some(profile) => check_edit(phases, row, &profile, path).await,
        None => Ok(None),
    }
}

fn checked_place(phases: &Phases, row: &PhaseRow) -> PathBuf {
    phases.snapshot_folder(row).join("checked")
}

/// Returns the source files that were changed in this phase, with their times, and the latest one.
async fn sources(phases: &Phases, row: &PhaseRow) -> Result<(String, Option<PathBuf>), Error> {
    let snapshot = phases.snapshot(row);
    let mut products = Products::of(phases, row, &snapshot).await?;
    let mut state = String::new();
    let mut latest = None;
    for change in snapshot.changes().await? {
        if change.how == Alteration::Ignored || products.has(&change).await? {
            continue;
        }
        let path = row.worktree.join(&change.path);
        let Some(profile) = phases.profile(&row.worktree, &path)? else {
            continue;
        };
        if !matches!(profile.kind(&path), FileKind::Production | FileKind::Test) {
            continue;
        }
        let found = path.symlink_metadata().ok();
        let written = found.as_ref().and_then(|found| found.modified().ok());
        let size = found.map(|found| found.len());
        state.push_str(&format!("{} {written:?} {size:?}\n", change.path.display()));
        if latest.as_ref().is_none_or(|(time, _)| *time < written) {
            latest = Some((written, path));
        }
    }
    Ok((state, latest.map(|(_, path)| path)))
}

/// Compiles, and tests if the phase wants it, after a file was changed.
async fn check_edit(
    phases: &Phases,
    row: &PhaseRow,
    profile: &Profile,
    path: PathBuf,
) -> Result<Option<String>, Error> {
    let wanted = match row.phase {
        Phase::Requirements | Phase::Done => return Ok(None),
        Phase::Interfaces => Wanted::Production,
        Phase::Tests => Wanted::Compile,
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
    let before = build_products::before_check(phases, row).await;
    let files = [path];
    if row.phase == Phase::Implementation {
        let (state, _) = sources(phases, row).await?;
        // Without the record, the next command has everything checked again.
        let _ = std::fs::write(checked_place(phases, row), state);
    }
    let placeholders = Names {
        file: files.first(),
        files: &files,
        report: None,
    };
    let check = run(phases, profile, wanted, placeholders).await;
    build_products::after_check(phases, row, before).await;
    Ok(messages::checked(row.phase, profile, &check))
}

/// Checks all projects that were edited in this phase.
pub(super) async fn all(
    phases: &Phases,
    row: &PhaseRow,
    wanted: Wanted,
) -> Result<Vec<(Profile, Check)>, Error> {
    let mut folders: Vec<PathBuf> = row.projects.iter().take(MAX_PROJECTS).cloned().collect();
    if folders.is_empty() {
        folders.push(row.worktree.clone());
    }
    let files = match wanted {
        Wanted::Production => production_files(phases, row).await?,
        Wanted::Compile | Wanted::CompileAndTest => Vec::new(),
    };
    let before = build_products::before_check(phases, row).await;
    let mut checks = Vec::new();
    for folder in folders {
        let worktree = if folder.starts_with(&row.worktree) {
            row.worktree.as_path()
        } else {
            folder.as_path()
        };
        if let Some(profile) = phases.profile(worktree, &folder)? {
            let of_project: Vec<PathBuf> = files
                .iter()
                .filter(|file| file.starts_with(&profile.root))
                .cloned()
                .collect();
            let names = Names {
                files: &of_project,
                ..Names::default()
            };
            let check = run(phases, &profile, wanted, names).await;
            checks.push((profile, check));
        }
    }
    build_products::after_check(phases, row, before).await;
    Ok(checks)
}

/// Returns the production files that were changed in this phase.
async fn production_files(phases: &Phases, row: &PhaseRow) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for change in phases.snapshot(row).changes().await? {
        let path = row.worktree.join(&change.path);
        let is_production = |profile: Profile| profile.kind(&path) == FileKind::Production;
        if path.is_file()
            && phases
                .profile(&row.worktree, &path)?
                .is_some_and(is_production)
        {
            files.push(path);
        }
    }
    files.truncate(MAX_FILES);
    Ok(files)
}

/// The file that a runner writes its counts to, in a folder of ours.
struct Report(PathBuf);

impl Report {
    fn new(phases: &Phases) -> Option<Self> {
        let name = format!("report-{}", Uuid::new_v4());
        let folder = phases.state_dir.join("phases").join(name);
        file::make_private_folder(&folder).ok()?;
        Some(Self(folder))
    }

    fn path(&self) -> PathBuf {
        self.0.join("report")
    }

    fn read(&self) -> Option<String> {
        let bytes = file::read(&self.path(), MAX_REPORT_BYTES).ok()?;
        String::from_utf8(bytes).ok()
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        // Nothing depends on the removal.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn run(phases: &Phases, profile: &Profile, wanted: Wanted, names: Names<'_>) -> Check {
    let compile = match wanted {
        Wanted::Production => &profile.compile_production,
        Wanted::Compile | Wanted::CompileAndTest => &profile.compile,
    };
    for words in &profile.commands(compile, &names) {
        match one(profile, words).await {
            Ok((code, _)) if profile.compiled(code) => {}
            Ok((_, output))
                if wanted == Wanted::Production && profile.fails_in_tests_only(&output) => {}
            Ok((_, output)) => {
                return Check::NotCompiling {
                    shown: profile.failing_part(&output, MAX_SHOWN_BYTES),
                };
            }
            Err(check) => return check,
        }
    }
    if wanted != Wanted::CompileAndTest {
        return Check::Fine;
    }
    let report = Report::new(phases);
    let place = report.as_ref().map(Report::path);
    let names = Names {
        report: place.as_deref(),
        ..names
    };
    let tests = profile.commands(&profile.tests, &names);
    let Some(words) = tests.first() else {
        return Check::Unknown {
            why: "the profile has no test command".to_owned(),
        };
    };
    match one(profile, words).await {
        Ok((code, output)) => {
            let report = report.as_ref().and_then(Report::read);
            let counts = profile.counts(&output, report.as_deref());
            let output = profile.for_people(output);
            Check::Tests {
                outcome: profile.outcome(code, &output, counts),
                ran: counts.map(|counts| counts.ran),
                shown: profile.failing_part(&output, MAX_SHOWN_BYTES),
            }
        }
        Err(check) => check,
    }
}

/// Runs one command. If it can't be run or does not end, the error is the outcome of the check.
async fn one(profile: &Profile, words: &[String]) -> Result<(Option<i32>, String), Check> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(Check::Unknown {
            why: "the profile has an empty command".to_owned(),
        });
    };
    // A program of the project is named relative to the project's root.
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
        // Keeps test runners from watching files or asking questions.
        .env("CI", "1")
        // Python would take compiled code for fresh after an edit within a second that keeps the size, and its
        // `__pycache__` would count as files of the agent.
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let limits = Limits {
        time: profile.time_limit,
        output: MAX_OUTPUT_BYTES,
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
