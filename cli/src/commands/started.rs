//! What is said about an agent that was just launched or resumed: that it runs, is silent as yet, or has ended already.

use std::fmt::Write;

use shared::error::Error;
use shared::model::ending::last_lines;
use shared::model::{Ending, Instance, InstanceId, Status};
use shared::workflow::{self, Context};

use crate::output::{BOLD, NAME};
use crate::text::harmless;

/// How much of the last screen of an agent that has ended is shown.
const MAX_SCREEN_LINES: usize = 12;
/// How much of a terminal is read to find them among blank lines.
const MAX_TAIL_LINES: u32 = 200;

/// Returns how an agent stands that was just started, as the rest of a sentence about it.
pub(super) fn standing(instance: &Instance) -> &'static str {
    if !instance.status.is_live() {
        standing_of_ended(instance.status)
    } else if instance.server.is_none() {
        "has started; it has not called a tool yet"
    } else {
        "is running"
    }
}

fn standing_of_ended(status: Status) -> &'static str {
    match status {
        Status::PrCreated => "has already published its work",
        Status::PrMerged => "has already published its work, which was merged",
        Status::Completed => "has already completed its work",
        _ => "has already ended",
    }
}

/// Returns how an agent stands, where it works, and the commands to watch it.
pub(super) async fn next_steps(context: &Context, instance: &Instance) -> Result<String, Error> {
    let id = &instance.id;
    let standing = standing(instance);
    if !instance.status.is_live() {
        return ended(context, instance).await;
    }
    let place = harmless(&instance.worktree_path.to_string_lossy());
    let branch = match &instance.branch_name {
        Some(branch) => format!(" on branch {}", harmless(branch)),
        None => String::new(),
    };
    let doing = match &instance.server {
        Some(_) => format!("{standing}{branch}\n  in {place}"),
        None => format!("{standing}\n {branch} in {place}"),
    };
    Ok(format!(
        "{NAME}{id}{NAME:#} {doing}\n\
         Next: {BOLD}claude-codex attach {id}{BOLD:#} to watch it, {BOLD}claude-codex list{BOLD:#} to list all agents\n"
    ))
}

async fn ended(context: &Context, instance: &Instance) -> Result<String, Error> {
    let wanted = instance.id.clone();
    let ending = context.store.read(move |r| r.ending(&wanted)).await?;
    // Its status is recorded before its session is ended and the last screen kept: until then the terminal has it.
    let shown = match &ending {
        Some(ending) => ending.screen.clone(),
        None => workflow::tail(context, instance, MAX_TAIL_LINES)
            .await
            .unwrap_or_default(),
    };
    Ok(ended_text(
        &instance.id,
        instance.status,
        ending.as_ref(),
        &shown,
    ))
}

fn ended_text(id: &InstanceId, status: Status, ending: Option<&Ending>, shown: &str) -> String {
    let mut text = format!("{NAME}{id}{NAME:#} {}", standing_of_ended(status));
    let lines = last_lines(shown, MAX_SCREEN_LINES);
    if let Some(ending) = ending {
        let _ = write!(text, ": the agent {}", ending.in_words());
        // Without an ending nothing is known of what it said.
        if lines.is_empty() {
            text.push_str(", and said nothing");
        }
    }
    text.push('\n');
    for line in lines {
        // Writing to a String does not fail.
        let _ = writeln!(text, "  {}", harmless(line));
    }
    let _ = writeln!(
        text,
        "Next: {BOLD}claude-codex show {id}{BOLD:#} to see what it left"
    );
    text
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;

    #[test]
    fn one_that_has_published_is_not_said_to_have_said_nothing() {
        let id = "work-try-a1".parse().unwrap();
        let said = |status, shown| {
            let text = ended_text(&id, status, None, shown);
            strip_str(&text).to_string()
        };
        let next = "Next: claude-codex show work-try-a1 to see what it left\n";
        assert_eq!(
            said(Status::PrCreated, "Published #1\n\n"),
            format!("work-try-a1 has already published its work\n  Published #1\n{next}")
        );
        // Its session is gone, and its last screen is not stored yet.
        assert_eq!(
            said(Status::Completed, ""),
            format!("work-try-a1 has already completed its work\n{next}")
        );
    }
}
