//! Narrates the demo from the events in the database.

use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::Value;
use shared::model::{EventSource, StatusChange};
use shared::store::EventRow;

use crate::output::{BAD, BOLD, DIM, NAME, WARNING, width};
use crate::text::{cut, first_line, harmless};

/// A milestone of the summary, and when it happened.
#[derive(Debug, Clone)]
pub(super) struct Moment {
    pub(super) what: &'static str,
    pub(super) at: Instant,
}

#[derive(Debug)]
pub(super) struct Narrator {
    began: Instant,
    last: i64,
    pub(super) moments: Vec<Moment>,
}

impl Narrator {
    pub(super) fn new() -> Self {
        Self {
            began: Instant::now(),
            last: 0,
            moments: Vec::new(),
        }
    }

    /// Returns the id of the last event that was printed.
    pub(super) fn last(&self) -> i64 {
        self.last
    }

    /// Returns the lines for an event, and remembers its milestone.
    pub(super) fn tell(&mut self, event: &EventRow) -> String {
        self.last = event.id;
        if event.error_code.is_none()
            && let Some(what) = milestone(&event.name)
        {
            // An event is written when its call ends, so the call started earlier.
            let took = Duration::from_secs_f64(event.duration_ms.max(0.0) / 1000.0);
            let now = Instant::now();
            let at = now.checked_sub(took).unwrap_or(now).max(self.began);
            self.moments.push(Moment { what, at });
            self.moments.sort_by_key(|moment| moment.at);
        }
        let who = event
            .instance_id
            .as_ref()
            .map_or("-".to_owned(), ToString::to_string);
        let by = match event.source {
            EventSource::Tool => harmless(&event.server),
            EventSource::Command => "you".to_owned(),
            EventSource::Hook | EventSource::System => "claude-codex".to_owned(),
        };
        let mut text = format!(
            "{DIM}{:>5.1} s{DIM:#}  {by:<12} {NAME}{who}{NAME:#} {BOLD}{}{BOLD:#}",
            self.began.elapsed().as_secs_f64(),
            harmless(&event.name),
        );
        let (own, others): (Vec<_>, Vec<_>) = event
            .status_changes
            .iter()
            .partition(|change| Some(&change.instance) == event.instance_id.as_ref());
        for change in own {
            let _ = write!(text, "  {}", moved(change));
        }
        text.push('\n');
        for change in others {
            let _ = writeln!(text, "{:>22} {}  {}", "", change.instance, moved(change));
        }
        if let Some(code) = &event.error_code {
            let _ = writeln!(text, "{:>22} {BAD}{}{BAD:#}", "", harmless(code));
        }
        for detail in details(event) {
            let room = width().saturating_sub(23).max(20);
            let _ = writeln!(text, "{:>22} {DIM}{}{DIM:#}", "", cut(&detail, room));
        }
        text
    }

    /// Returns a line of narration.
    pub(super) fn say(&self, text: &str) -> String {
        format!(
            "{DIM}{:>5.1} s{DIM:#}  {WARNING}{text}{WARNING:#}\n",
            self.began.elapsed().as_secs_f64()
        )
    }

    pub(super) fn began(&self) -> Instant {
        self.began
    }
}

fn moved(change: &StatusChange) -> String {
    match change.from {
        Some(from) => format!("{from} → {}", change.to),
        None => change.to.to_string(),
    }
}

fn milestone(name: &str) -> Option<&'static str> {
    Some(match name {
        "analyze_repository" => "repository analysed",
        "create_task" => "task planned",
        "request_review" => "review asked for",
        "request_changes" => "changes requested",
        "delivered" => "feedback in the coder's terminal",
        "create_pr" => "approved and published",
        "pr merge" => "merged",
        _ => return None,
    })
}

/// Returns the details of an event that are worth printing.
fn details(event: &EventRow) -> Vec<String> {
    let parameter = |name: &str| event.parameters[name].as_str().map(first_line);
    let result = |name: &str| {
        let value = event.result.as_ref()?.get(name)?;
        value.as_str().map(first_line)
    };
    let mut lines: Vec<Option<String>> = match event.name.as_str() {
        "create_task" => vec![parameter("taskTitle")],
        "analyze_repository" => vec![result("message")],
        "request_review" => vec![parameter("description")],
        "request_changes" => vec![parameter("feedback"), finding(&event.parameters)],
        "create_pr" => vec![parameter("title"), result("prUrl")],
        "delivered" => vec![parameter("by").map(|by| format!("proven by: {by}"))],
        _ => Vec::new(),
    };
    lines.retain(|line| line.as_ref().is_some_and(|line| !line.is_empty()));
    lines.into_iter().flatten().collect()
}

fn finding(parameters: &Value) -> Option<String> {
    let finding = &parameters["findings"][0];
    Some(format!(
        "{}:{} {}",
        first_line(finding["file"].as_str()?),
        finding["line"],
        first_line(finding["message"].as_str()?)
    ))
}
