//! Resolves the instance that a Claude Code hook acts for.
//!
//! A hook names the Claude session that called it. `CODEX_INSTANCE_ID` alone proves nothing: a `claude -p` that an
//! agent starts inherits it.

use std::path::Path;

use crate::agent::{self, Caller};
use crate::config::Environment;
use crate::error::Error;
use crate::model::{Instance, InstanceId};
use crate::process;
use crate::store::Store;

/// The session that called a hook.
#[derive(Debug, Clone, Copy)]
pub struct HookSession<'a> {
    pub id: &'a str,
    /// Whether the same process goes on under another session id (`/clear`).
    pub replaces_another: bool,
}

/// Returns the instance that a hook speaks for; none for a session that is none of ours.
///
/// A session id that is new to an instance (after `/clear`) is recorded if its own process reports it.
pub fn instance_of_hook(
    store: &Store,
    environment: &Environment,
    session: HookSession<'_>,
) -> Result<Option<InstanceId>, Error> {
    let folder = agent::config_directory(
        &environment.home()?,
        environment.claude_config_dir().as_deref(),
    );
    match environment.instance_id()? {
        Some(id) => launched(store, &folder, &id, session),
        None => adopted(store, &folder, session),
    }
}

fn launched(
    store: &Store,
    folder: &Path,
    id: &InstanceId,
    session: HookSession<'_>,
) -> Result<Option<InstanceId>, Error> {
    let instance = store.read_now(|r| r.instance(id))?;
    let known = instance.claude_session_id.as_deref();
    let is_own = match agent::caller(folder, id.as_str(), instance.agent.as_ref()) {
        Caller::Own => true,
        Caller::Nested => false,
        Caller::Unknown => {
            known.is_none_or(|known| known == session.id) || session.replaces_another
        }
    };
    if !is_own {
        return Ok(None);
    }
    if known != Some(session.id) && is_session_id(session.id) {
        store.write_now(|w| w.set_claude_session(id, session.id))?;
    }
    Ok(Some(id.clone()))
}

/// A session of a person's own, whose settings have our hooks, is known by Claude's name for it.
fn adopted(
    store: &Store,
    folder: &Path,
    session: HookSession<'_>,
) -> Result<Option<InstanceId>, Error> {
    if let Some(instance) = store.read_now(|r| r.adopted_in_session(session.id))? {
        let is_nested = is_nested(folder, &instance);
        return Ok((!is_nested).then_some(instance.id));
    }
    let Some(agent) = agent::nearest_claude(folder) else {
        return Ok(None);
    };
    // Its process goes on under another id, after `/clear`.
    let known = store.read_now(|r| r.adopted_by_agent(&agent))?;
    if known.is_empty() || !is_session_id(session.id) {
        return Ok(None);
    }
    store.write_now(|w| {
        known
            .iter()
            .try_for_each(|id| w.set_claude_session(id, session.id))
    })?;
    let instance = store.read_now(|r| r.adopted_in_session(session.id))?;
    Ok(instance.map(|instance| instance.id))
}

/// Tells whether a hook was called by another Claude Code that continues the same session (`claude -p -c`).
fn is_nested(folder: &Path, instance: &Instance) -> bool {
    let living = instance
        .agent
        .as_ref()
        .filter(|agent| process::is_seen(agent));
    living.is_some_and(|own| agent::nearest_claude(folder).is_some_and(|nearest| nearest != *own))
}

/// Tells whether a text can be a session's id; it will be an argument of Claude Code.
fn is_session_id(text: &str) -> bool {
    (8..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        && !text.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_looks_like_a_session_is_kept() {
        assert!(is_session_id("0b2f6a52-6a3c-4c6e-9d3e-0a1b2c3d4e5f"));
        for text in [
            "",
            "short",
            "--dangerously-skip",
            "0b2f6a52 6a3c",
            "-b2f6a52-6a3c",
        ] {
            assert!(!is_session_id(text), "{text}");
        }
    }
}
