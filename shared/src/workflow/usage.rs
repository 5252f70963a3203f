//! Token usage and cost estimates of agents, tasks and pull requests: read from transcripts, kept in the database.
//!
//! Each agent's own server reads on every few seconds, whoever ends or shows an agent reads the rest. A list of agents only
//! asks the database.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::agent::{self, SessionFiles, UsageCursor, UsageRead};
use crate::error::Error;
use crate::model::{Instance, InstanceId, Origin, TaskId, Usage};
use crate::store::{NewUsage, TranscriptRow, UsageRows};
use crate::workflow::Context;
use crate::workflow::terminal::pane::claude_session;

/// Reads what an agent has used since the last time; true if it was anything.
pub async fn refresh_usage(context: &Context, instance: &Instance) -> Result<bool, Error> {
    let paths = transcripts(context, instance).await?;
    let mut changed = false;
    for path in paths {
        while read_on(context, instance, path.clone()).await? {
            changed = true;
        }
    }
    Ok(changed)
}

/// Like [`refresh_usage`]; figures are not worth failing for.
pub(crate) async fn try_to_refresh_usage(context: &Context, instance: &Instance) {
    if let Err(error) = refresh_usage(context, instance).await {
        tracing::warn!(instance = %instance.id, code = %error.code, %error, "cannot read what it has used");
    }
}

/// Reads on in one transcript; true if there may be more.
async fn read_on(context: &Context, instance: &Instance, path: PathBuf) -> Result<bool, Error> {
    let Some(name) = path.to_str().map(str::to_owned) else {
        return Ok(false);
    };
    let wanted = name.clone();
    let before = context.store.read(move |r| r.transcript(&wanted)).await?;
    // A person's session works for one agent after the other; one that has ended gets nothing any more.
    let belongs_to_another = |row: &TranscriptRow| row.instance != instance.id;
    if !instance.status.is_live() && before.as_ref().is_some_and(belongs_to_another) {
        return Ok(false);
    }
    let cursor: UsageCursor = before
        .as_ref()
        .and_then(|row| serde_json::from_str(&row.cursor).ok())
        .unwrap_or_default();
    let read = off_thread(move || agent::read_usage(&path, &cursor)).await;
    let Some(UsageRead {
        cursor,
        anew,
        added,
        context: size,
        more,
    }) = read.transpose()?.flatten()
    else {
        return Ok(false);
    };
    let new = NewUsage {
        path: name,
        instance: instance.id.clone(),
        before,
        cursor: serde_json::to_string(&cursor).unwrap_or_default(),
        anew,
        added,
        context: size,
    };
    let is_ours = context.store.write(move |w| w.add_usage(&new)).await?;
    // Where another process was faster, it reads the rest.
    Ok(is_ours && more)
}

/// Returns the transcripts of an agent: of its session and its subagents, and of all sessions in a worktree that is its own.
async fn transcripts(context: &Context, instance: &Instance) -> Result<Vec<PathBuf>, Error> {
    let sessions = session_files(context, instance).await?;
    let files = sessions
        .into_iter()
        .flat_map(|session| std::iter::once(session.transcript).chain(session.subagents));
    Ok(files.collect())
}

/// Returns the sessions of an agent: its own first, then all in a worktree that is its own.
pub(crate) async fn session_files(
    context: &Context,
    instance: &Instance,
) -> Result<Vec<SessionFiles>, Error> {
    let Some(session) = claude_session(instance) else {
        return Ok(Vec::new());
    };
    let folder = context.claude_folder()?;
    let (worktree, origin) = (instance.worktree_path.clone(), instance.origin);
    let created = instance.created_at.unix_seconds();
    let found = off_thread(move || {
        let own = agent::transcript_path(&folder, &worktree, session);
        let sessions = match origin {
            Origin::Launched => agent::session_files_beside(&own),
            Origin::Adopted => vec![agent::session_files(&own)],
        };
        // An earlier agent may have worked in a folder of the same name.
        let is_its = |path: &PathBuf| *path == own || is_written_since(path, created);
        let sessions = sessions.into_iter().map(|mut files| {
            files.subagents.retain(is_its);
            files
        });
        sessions.filter(|files| is_its(&files.transcript)).collect()
    });
    Ok(found.await.unwrap_or_default())
}

fn is_written_since(path: &std::path::Path, unix_seconds: i64) -> bool {
    let written = path.metadata().and_then(|metadata| metadata.modified());
    let age = written.map(|time| time.duration_since(SystemTime::UNIX_EPOCH));
    matches!(age, Ok(Ok(age)) if i64::try_from(age.as_secs()).is_ok_and(|at| at >= unix_seconds))
}

/// Runs what reads files off the async threads; none while the runtime shuts down.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => Some(value),
        Err(failure) => match failure.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => None,
        },
    }
}

/// Returns what the agents of each task have used, and their reviewers.
pub async fn task_usage(
    context: &Context,
    tasks: Vec<TaskId>,
) -> Result<HashMap<TaskId, Usage>, Error> {
    let rows = context.store.read(move |r| r.task_usage(&tasks)).await?;
    Ok(priced(context, rows))
}

/// Returns what the agents of each pull request have used, and their reviewers, by the pull request's address.
pub async fn pull_usage(
    context: &Context,
    urls: Vec<String>,
) -> Result<HashMap<String, Usage>, Error> {
    let repository = Context::repository_key(context.repository()?.root());
    let rows = context
        .store
        .read(move |r| r.pull_usage(&repository, &urls))
        .await?;
    Ok(priced(context, rows))
}

/// Puts the prices in force on what was used.
pub(crate) fn priced<K: std::hash::Hash + Eq>(
    context: &Context,
    rows: HashMap<K, UsageRows>,
) -> HashMap<K, Usage> {
    let prices = &context.settings().agent.prices;
    rows.into_iter()
        .filter_map(|(key, rows)| {
            let usage = Usage::of(&rows.used, rows.context.as_ref(), prices)?;
            Some((key, usage))
        })
        .collect()
}

/// Reads on for one agent, by its id.
pub async fn refresh_usage_of(context: &Context, id: &InstanceId) -> Result<bool, Error> {
    let id = id.clone();
    let instance = context.store.read(move |r| r.instance(&id)).await?;
    refresh_usage(context, &instance).await
}
