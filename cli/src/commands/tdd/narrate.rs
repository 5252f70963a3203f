//! Telling a run as it happens.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anstyle::Style;
use shared::model::{TddRole, TddRun};
use shared::workflow::{Context, TddNews};

use crate::action_lines::ActionLines;
use crate::output::{BOLD, DIM, GOOD, NAME, Output, PLAIN, WARNING};
use crate::text::{first_line, harmless};
use crate::time;

/// Prints what happens in a run, with the time since it began or was taken up, and leaves the turns of
/// events in the log of its coder.
#[derive(Debug)]
pub(super) struct Narrator {
    output: Output,
    logs: PathBuf,
    began: Arc<Instant>,
    /// The agent whose turn it is, and the log of the run.
    present: Mutex<Present>,
}

#[derive(Debug, Default)]
struct Present {
    lines: Option<ActionLines>,
    worktrees: PathBuf,
    log: Option<PathBuf>,
}

impl Narrator {
    pub(super) fn new(context: &Context, output: Output) -> Self {
        Self {
            output,
            logs: context.state_dir().join("logs"),
            began: Arc::new(Instant::now()),
            present: Mutex::default(),
        }
    }

    /// Returns what tells the steps of a launch.
    pub(super) fn steps(&self) -> impl Fn(&str) + Send + Sync + 'static {
        let (output, began) = (self.output, Arc::clone(&self.began));
        move |what| print(output, &began, DIM, &harmless(what))
    }

    pub(super) fn tell(&self, news: &TddNews<'_>) {
        let mut present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        match news {
            TddNews::Run { run, resumed } => {
                present.log = Some(self.logs.join(format!("{}.log", run.task_id)));
                present.worktrees = run
                    .worktree_info
                    .path
                    .parent()
                    .map(PathBuf::from)
                    .unwrap_or_default();
                self.begin(&present, run, *resumed);
            }
            TddNews::Turn {
                role,
                agent,
                iteration,
                of,
            } => {
                // Every agent's worktree is named after it.
                let worktree = present.worktrees.join(agent.as_str());
                present.lines = Some(ActionLines::new(&worktree));
                let text = format!("round {iteration} of {of}: {role} {agent}");
                self.milestone(&present, BOLD, &text);
            }
            TddNews::Did { role, event } => {
                if let Some((text, style)) =
                    present.lines.as_mut().and_then(|lines| lines.line(event))
                {
                    let who = match role {
                        TddRole::Coder => "coder   ",
                        TddRole::Reviewer => "reviewer",
                    };
                    let text = format!("  {DIM}{who}{DIM:#} {style}{text}{style:#}");
                    print(self.output, &self.began, PLAIN, &text);
                }
            }
            TddNews::HandedOver { text } => {
                let text = format!("the coder hands over: {}", summary(text));
                self.milestone(&present, NAME, &text);
            }
            TddNews::NotReviewable { why } => {
                let text = format!("this can't be reviewed yet: {}", first_line(why));
                self.milestone(&present, WARNING, &text);
            }
            TddNews::SentBack { feedback } => {
                let text = format!("the reviewer sends it back: {}", first_line(feedback));
                self.milestone(&present, WARNING, &text);
            }
            TddNews::Published { url } => {
                let text = format!("the reviewer has published it: {}", harmless(url));
                self.milestone(&present, GOOD, &text);
            }
            TddNews::LeftBehind { what } => {
                self.milestone(&present, DIM, &harmless(what));
            }
        }
    }

    fn begin(&self, present: &Present, run: &TddRun, resumed: bool) {
        let id = &run.task_id;
        let word = if resumed { "goes on" } else { "begins" };
        let text = format!(
            "{id} {word}: {} on {} from {}",
            harmless(&run.spec_path.to_string_lossy()),
            harmless(&run.branch_name),
            harmless(&run.worktree_info.base_branch)
        );
        self.milestone(present, NAME, &text);
    }

    /// Tells what is also left in the log.
    fn milestone(&self, present: &Present, style: Style, text: &str) {
        print(
            self.output,
            &self.began,
            PLAIN,
            &format!("{style}{text}{style:#}"),
        );
        let Some(path) = &present.log else { return };
        let folder = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.logs);
        let file = folder.and_then(|()| {
            OpenOptions::new()
                .create(true)
                .append(true)
                .mode(0o600)
                .open(path)
        });
        // A log that can't be written is no reason to stop.
        if let Ok(mut file) = file {
            let _ = writeln!(file, "{} {text}", time::now());
        }
    }
}

fn print(output: Output, began: &Instant, style: Style, text: &str) {
    let seconds = began.elapsed().as_secs();
    output.line(&format!(
        "{DIM}{:02}:{:02}{DIM:#} {style}{text}{style:#}",
        seconds / 60,
        seconds % 60
    ));
}

/// Returns the first line of a handoff that is no heading.
fn summary(handoff: &str) -> String {
    let line = handoff
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with('#'));
    first_line(line.unwrap_or(handoff))
}
