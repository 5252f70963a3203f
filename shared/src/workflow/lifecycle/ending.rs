//! Ending of a session: keeps the last screen and exit status of an agent before its session is killed, as evidence.

use serde_json::{Value, json};

use crate::error::Error;
use crate::model::Instance;
use crate::model::hidden::drop_hidden;
use crate::model::secrets;
use crate::store::NewEnding;
use crate::tmux::{Life, PaneState};
use crate::workflow::Context;
use crate::workflow::instance::facts::session_name;

/// How many lines of a screen are kept.
const MAX_LINES: u32 = 200;
/// How much of a screen is kept, from its end.
const MAX_BYTES: usize = 32 << 10;
/// What tmux writes into a pane whose program has ended; we know it better.
const TMUX_REMARK: &str = "Pane is dead";

/// Keeps how an agent's session stands, before it is killed. Evidence that cannot be had must not keep it from being ended.
pub(super) async fn keep_ending(context: &Context, instance: &Instance, pane: &PaneState) {
    let kept = async {
        let ending = read_ending(context, instance, pane).await?;
        let id = instance.id.clone();
        let write = context.store.write(move |w| w.set_ending(&id, &ending));
        Ok::<(), Error>(write.await?)
    };
    if let Err(error) = kept.await {
        tracing::warn!(instance = %instance.id, %error, "its last screen can't be kept");
    }
}

/// Reads the last screen of an agent, and how its program has ended.
pub(super) async fn read_ending(
    context: &Context,
    instance: &Instance,
    pane: &PaneState,
) -> Result<NewEnding, Error> {
    let shown = context
        .terminals(instance)
        .capture_unwrapped(&session_name(instance)?, MAX_LINES)
        .await?;
    let (exit_status, signal) = how(pane.life);
    Ok(NewEnding {
        exit_status,
        signal,
        screen: kept_of(&shown, pane.life != Life::Running),
    })
}

/// Returns exit status and signal. `exec-agent` passes on how the agent ended as a shell does.
fn how(life: Life) -> (Option<i32>, Option<i32>) {
    match life {
        Life::Running | Life::Ended => (None, None),
        Life::Exited { status } if status > 128 => (None, Some(status - 128)),
        Life::Exited { status } => (Some(status), None),
        Life::Killed { signal } => (None, signal),
    }
}

/// Returns the last lines of a screen, as they may be stored.
fn kept_of(shown: &str, is_dead: bool) -> String {
    let mut lines: Vec<&str> = shown.trim_end().lines().map(str::trim_end).collect();
    if is_dead
        && lines
            .last()
            .is_some_and(|line| line.starts_with(TMUX_REMARK))
    {
        lines.pop();
    }
    let first = lines.len().saturating_sub(MAX_LINES as usize);
    let clean = lines[first..].iter().map(|line| without_secrets(line));
    let text = clean.collect::<Vec<_>>().join("\n");
    let text = text.trim_end().trim_start_matches('\n');
    let start = text.len().saturating_sub(MAX_BYTES);
    text[text.ceil_char_boundary(start)..].to_owned()
}

fn without_secrets(line: &str) -> String {
    match secrets::redact(&Value::String(drop_hidden(line))) {
        Value::String(clean) => clean,
        _ => String::new(),
    }
}

/// Returns an ending as the details of an error.
pub(super) fn details(ending: &NewEnding) -> Value {
    json!({ "exitStatus": ending.exit_status, "signal": ending.signal, "screen": ending.screen })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_is_bounded_and_has_no_secrets() {
        let shown = "\n\nFATAL: no\u{202e} API key  \nghp_0123456789abcdefghijklmnopqrstuvwxyz12\nPane is dead (status 3)\n\n\n";
        let kept = kept_of(shown, true);
        assert!(kept.starts_with("FATAL: no API key\n"), "{kept}");
        assert!(!kept.contains("ghp_") && !kept.contains("dead"), "{kept}");
        assert!(kept_of(shown, false).contains("Pane is dead"));
        let long = "é\n".repeat(1000);
        assert_eq!(kept_of(&long, true).lines().count(), MAX_LINES as usize);
        let wide = "é".repeat(1_900) + "\n";
        assert!(kept_of(&wide.repeat(200), true).len() <= MAX_BYTES);
    }

    #[test]
    fn an_end_is_a_status_or_a_signal() {
        assert_eq!(how(Life::Exited { status: 3 }), (Some(3), None));
        assert_eq!(how(Life::Exited { status: 137 }), (None, Some(9)));
        assert_eq!(how(Life::Killed { signal: Some(9) }), (None, Some(9)));
        assert_eq!(how(Life::Running), (None, None));
    }
}
