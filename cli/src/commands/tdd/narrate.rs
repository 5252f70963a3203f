//! Narrates a TDD run: prints its events as they happen, and logs its milestones.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anstyle::Style;
use shared::agent::ActivityLines;
use shared::model::{TddRole, TddRun, Timestamp};
use shared::workflow::{Context, TddNews};

use crate::agent_log::open_log;
use crate::output::{BOLD, DIM, GOOD, NAME, Output, PLAIN, WARNING, activity_style};
use crate::text::{first_line, harmless};

/// Prints the events of a run with the time since it was started or resumed, and appends milestones to the log of its coder.
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
    lines: Option<ActivityLines>,
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

    /// Returns the callback that prints the steps of a launch.
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
                // A worktree is named after its agent.
                let worktree = present.worktrees.join(agent.as_str());
                present.lines = Some(ActivityLines::new(&worktree));
                let text = format!("round {iteration} of {of}: {role} {agent}");
                self.milestone(&present, BOLD, &text);
            }
            TddNews::Did { role, event } => {
                if let Some(item) = present.lines.as_mut().and_then(|lines| lines.item(event)) {
                    let (style, text) = (activity_style(item.kind), item.first_line());
                    let who = match role {
                        TddRole::Coder => "coder   ",
                        TddRole::Reviewer => "reviewer",
                    };
                    let text = format!("  {DIM}{who}{DIM:#} {style}{text}{style:#}");
                    print(self.output, &self.began, PLAIN, &text);
                }
            }
            TddNews::HandedOver { text } => {
                let text = format!("the coder hands over its work: {}", summary(text));
                self.milestone(&present, NAME, &text);
            }
            TddNews::NotReviewable { why } => {
                let text = format!("the work cannot be reviewed yet: {}", first_line(why));
                self.milestone(&present, WARNING, &text);
            }
            TddNews::SentBack { feedback } => {
                let text = format!("the reviewer requests changes: {}", first_line(feedback));
                self.milestone(&present, WARNING, &text);
            }
            TddNews::Published { url } => {
                let text = format!(
                    "the reviewer has opened the pull request: {}",
                    harmless(url)
                );
                self.milestone(&present, GOOD, &text);
            }
            TddNews::LeftBehind { what } => {
                self.milestone(&present, DIM, &harmless(what));
            }
        }
    }

    fn begin(&self, present: &Present, run: &TddRun, resumed: bool) {
        let id = &run.task_id;
        let word = if resumed { "continues" } else { "starts" };
        let text = format!(
            "{id} {word}: {} on {} from {}",
            harmless(&run.spec_path.to_string_lossy()),
            harmless(&run.branch_name),
            harmless(&run.worktree_info.base_branch)
        );
        self.milestone(present, NAME, &text);
    }

    /// Prints a milestone and appends it to the log.
    fn milestone(&self, present: &Present, style: Style, text: &str) {
        print(
            self.output,
            &self.began,
            PLAIN,
            &format!("{style}{text}{style:#}"),
        );
        let Some(path) = &present.log else { return };
        // A log that cannot be written does not stop the run.
        if let Ok(mut file) = open_log(path) {
            let _ = writeln!(file, "{} {text}", Timestamp::now());
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

/// Returns the first line of a handoff that is not a heading.
fn summary(handoff: &str) -> String {
    let line = handoff
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with('#'));
    first_line(line.unwrap_or(handoff))
}
