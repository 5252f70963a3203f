//! The channels of notifications: runs the person's command, posts to their webhook, shows a line in tmux.

use std::time::Duration;

use super::event::Event;
use crate::config::NotifySettings;
use crate::forge::post_json;
use crate::model::Instance;
use crate::process::{self, Limits};
use crate::workflow::Context;

const COMMAND_LIMITS: Limits = Limits {
    time: Duration::from_secs(20),
    output: 64 << 10,
};

/// Sends an event over every channel that the person wants, and returns what went wrong. One that fails does not stop the others.
pub(super) async fn send(
    context: &Context,
    settings: &NotifySettings,
    instance: &Instance,
    event: &Event,
) -> Vec<String> {
    let mut problems = Vec::new();
    if let Some((program, arguments)) = settings.command.split_first()
        && let Err(problem) = run(context, program, arguments, event).await
    {
        problems.push(format!("notify.command: {problem}"));
    }
    if !settings.webhook.is_empty() {
        let body = serde_json::json!(event);
        if let Err(error) = post_json(&settings.webhook, &body).await {
            problems.push(format!("notify.webhook: {error}"));
        }
    }
    if settings.tmux
        && let Err(error) = context.terminals(instance).tell_clients(&event.text).await
    {
        problems.push(format!("notify.tmux: {error}"));
    }
    problems
}

async fn run(
    context: &Context,
    program: &str,
    arguments: &[String],
    event: &Event,
) -> Result<(), String> {
    let input = serde_json::to_vec(event).map_err(|error| error.to_string())?;
    let mut command = process::command(program, arguments);
    command
        .env_clear()
        .envs(context.environment.variables())
        .env_remove("CODEX_INSTANCE_ID")
        .current_dir("/");
    let finished = process::run(&mut command, Some(&input), COMMAND_LIMITS)
        .await
        .map_err(|error| error.to_string())?;
    if finished.status.success() {
        return Ok(());
    }
    let said = finished.stderr_text();
    let said = said.lines().next().unwrap_or_default().trim();
    Err(format!(
        "`{program}` ended with {}: {said}",
        finished.status
    ))
}
