//! What is said about an agent that was just launched or resumed: that it runs, is silent as yet, or has ended already.

use std::fmt::Write;

use shared::error::Error;
use shared::model::Instance;
use shared::workflow::Context;

use crate::output::{BOLD, NAME};
use crate::text::harmless;

/// How much of the last screen of an agent that has ended is shown.
const MAX_SCREEN_LINES: usize = 12;

/// Returns how an agent stands that was just started, as the rest of a sentence about it.
pub(super) fn standing(instance: &Instance) -> &'static str {
    if !instance.status.is_live() {
        "has already ended"
    } else if instance.server.is_none() {
        "has started; it has not called a tool yet"
    } else {
        "is running"
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
    let id = &instance.id;
    let wanted = id.clone();
    let ending = context.store.read(move |r| r.ending(&wanted)).await?;
    let mut text = format!("{NAME}{id}{NAME:#} {}", standing(instance));
    let lines = match &ending {
        Some(ending) => {
            let _ = write!(text, ": the agent {}", ending.in_words());
            ending.last_lines(MAX_SCREEN_LINES)
        }
        None => Vec::new(),
    };
    if lines.is_empty() {
        text.push_str(", and said nothing");
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
    Ok(text)
}
