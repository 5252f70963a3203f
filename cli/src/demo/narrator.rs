//! Tells what happens, as the database's events say it.

use std::fmt::Write;
use std::time::Instant;

use serde_json::Value;
use shared::model::EventSource;
use shared::store::EventRow;

use crate::output::{BAD, DIM, NAME, WARNING, width};
use crate::text::{cut, first_line, harmless};

/// When something that the summary tells happened.
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

    /// Returns the last event that was told.
    pub(super) fn last(&self) -> i64 {
        self.last
    }

    /// Returns an event as one line or more, and remembers it.
    pub(super) fn tell(&mut self, event: &EventRow) -> String {
        self.last = event.id;
        if event.error_code.is_none()
            && let Some(what) = milestone(&event.name)
        {
            self.moments.push(Moment {
                what,
                at: Instant::now(),
            });
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
        let mut moves = String::new();
        for change in &event.status_changes {
            let from = change.from.map(|from| format!("{from} → "));
            let _ = write!(
                moves,
                "  {}: {}{}",
                change.instance,
                from.unwrap_or_default(),
                change.to
            );
        }
        let mut text = format!(
            "{DIM}{:>5.1} s{DIM:#}  {by:<12} {NAME}{who}{NAME:#} {}{moves}\n",
            self.began.elapsed().as_secs_f64(),
            harmless(&event.name),
        );
        if let Some(code) = &event.error_code {
            let _ = writeln!(text, "{:>10}{BAD}{}{BAD:#}", "", harmless(code));
        }
        for detail in details(event) {
            let room = width().saturating_sub(10).max(20);
            let _ = writeln!(text, "{:>10}{DIM}{}{DIM:#}", "", cut(&detail, room));
        }
        text
    }

    /// Says something of our own.
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

/// What of an event a person wants to read.
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
