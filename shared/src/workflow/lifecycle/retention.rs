//! Retention: deletes old records in small steps, as a part of reconciling.
//!
//! What is needed still is decided in `store::retention`. Settings come from the person's own layers, never from a
//! repository: one database and one state folder serve all repositories.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;

use crate::config::{Config, RetentionSettings};
use crate::error::Error;
use crate::file;
use crate::store::{EndedAgent, Holdings, RowLimits};
use crate::workflow::Context;

/// Its time of change says when this was last done, for every process of this state folder.
const STAMP: &str = "retention";
/// Between two runs when the last one found nothing more to do.
const PASS_INTERVAL: Duration = Duration::from_hours(1);
/// Between two runs while there is more to do.
const SHORT_PASS_INTERVAL: Duration = Duration::from_mins(1);
/// Files and folders that one run removes.
const MAX_PATHS: usize = 50;
/// References that one run looks at: each is a call of git.
const MAX_REFS: usize = 10;
/// Folders below the state folder with one entry per agent.
const FOLDERS: [&str; 2] = ["logs", "agents"];

/// What is kept, and for how long.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Retained {
    #[serde(flatten)]
    pub rows: Holdings,
    /// Bytes in logs, turn records, agent files and snapshots.
    pub file_bytes: u64,
    pub settings: RetentionSettings,
}

/// Returns what is kept.
pub async fn retained(context: &Context) -> Result<Retained, Error> {
    let settings = settings(context)?;
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method itself is for one lifetime only"
    )]
    let rows = context.store.read(|r| r.holdings()).await?;
    let folder = context.state_dir().to_owned();
    let measured = tokio::task::spawn_blocking(move || {
        let entries = FOLDERS.iter().chain(&["phases"]);
        entries.map(|name| bytes_below(&folder.join(name))).sum()
    });
    Ok(Retained {
        rows,
        file_bytes: measured.await.unwrap_or(0),
        settings,
    })
}

/// Deletes some of what is too old, if it is time to look again. What goes wrong is logged and tried another time.
pub(crate) async fn retain_later(context: &Context) {
    let stamp = context.state_dir().join(STAMP);
    if !is_due(&stamp) {
        return;
    }
    match retain(context, &stamp).await {
        Ok(()) => {}
        Err(error) => tracing::warn!(code = %error.code, %error, "old records stay for now"),
    }
}

async fn retain(context: &Context, stamp: &Path) -> Result<(), Error> {
    // First of all, so that a fault below is not met by every command.
    mark(stamp, PASS_INTERVAL);
    let settings = settings(context)?;
    let limits = RowLimits {
        event_days: settings.event_days,
        max_events: settings.max_events,
        message_days: settings.message_days,
    };
    let rows = context
        .store
        .write(move |w| w.delete_old_rows(&limits))
        .await?;
    let paths = remove_old_files(context, &settings).await?;
    let refs = release_old_refs(context, &settings).await?;
    if rows > 0 || paths >= MAX_PATHS {
        mark(stamp, SHORT_PASS_INTERVAL);
    }
    if rows + paths + refs > 0 {
        tracing::info!(rows, paths, refs, "old records were deleted");
    }
    Ok(())
}

fn settings(context: &Context) -> Result<RetentionSettings, Error> {
    let config = Config::load(&context.environment, None, &[])?;
    Ok(config.settings.retention)
}

fn is_due(stamp: &Path) -> bool {
    let Ok(next) = fs::metadata(stamp).and_then(|meta| meta.modified()) else {
        return true;
    };
    // A time far ahead is of a clock that has been set back since.
    SystemTime::now() >= next
        || next
            .duration_since(SystemTime::now())
            .is_ok_and(|ahead| ahead > PASS_INTERVAL)
}

/// Notes when to look again.
fn mark(stamp: &Path, pause: Duration) {
    let noted =
        file::create_private(stamp).and_then(|file| file.set_modified(SystemTime::now() + pause));
    if let Err(error) = noted {
        tracing::debug!(%error, "cannot note when old records were looked for");
    }
}

/// Removes logs, turn records, agent files and snapshots that are old, or too much, and that nothing needs.
async fn remove_old_files(context: &Context, settings: &RetentionSettings) -> Result<usize, Error> {
    if settings.file_days == 0 && settings.max_file_megabytes == 0 {
        return Ok(0);
    }
    let days = settings.file_days;
    let (recent, needed, resumable, snapshots) = context
        .store
        .read(move |r| {
            Ok((
                r.agents_with_files(days)?,
                r.agents_with_files(0)?,
                r.resumable_agents()?,
                r.phase_snapshots()?,
            ))
        })
        .await?;
    let folder = context.state_dir().to_owned();
    let most = u64::from(settings.max_file_megabytes) << 20;
    let work = move || {
        let mut keep = names(&recent);
        let standing: Vec<EndedAgent> = resumable
            .into_iter()
            .filter(|agent| agent.worktree.exists())
            .collect();
        keep.extend(names(&standing));
        let mut removed = old_entries(&folder, &keep, &snapshots, days)
            .into_iter()
            .take(MAX_PATHS)
            .filter(|entry| remove(&entry.path))
            .count();
        let mut always = names(&needed);
        always.extend(names(&standing));
        removed += too_much(&folder, &always, most, MAX_PATHS - removed);
        removed
    };
    Ok(tokio::task::spawn_blocking(work).await.unwrap_or(0))
}

fn names(agents: &[EndedAgent]) -> BTreeSet<String> {
    agents.iter().map(|agent| agent.id.to_string()).collect()
}

/// A file or folder that is one agent's.
struct Entry {
    path: PathBuf,
    changed: SystemTime,
}

/// Returns the entries of agents that are not among those to keep and unchanged for so many days.
fn old_entries(
    folder: &Path,
    keep: &BTreeSet<String>,
    snapshots: &[String],
    days: u32,
) -> Vec<Entry> {
    if days == 0 {
        return Vec::new();
    }
    let age = Duration::from_hours(24 * u64::from(days));
    let mut found = entries(folder, keep);
    found.extend(
        listed(&folder.join("phases"))
            .filter(|(name, _)| !snapshots.contains(name))
            .map(|(_, entry)| entry),
    );
    found.retain(|entry| is_older(entry, age));
    found
}

fn is_older(entry: &Entry, age: Duration) -> bool {
    SystemTime::now()
        .duration_since(entry.changed)
        .is_ok_and(|since| since > age)
}

/// Removes the oldest until what is left is small enough.
fn too_much(folder: &Path, keep: &BTreeSet<String>, most: u64, most_paths: usize) -> usize {
    if most == 0 {
        return 0;
    }
    let mut bytes: u64 = FOLDERS
        .map(|name| bytes_below(&folder.join(name)))
        .iter()
        .sum();
    let mut found = entries(folder, keep);
    // What was written to today may be in use by a server that acts for nobody yet.
    found.retain(|entry| is_older(entry, Duration::from_hours(24)));
    found.sort_by_key(|entry| entry.changed);
    let mut removed = 0;
    for entry in found.into_iter().take(most_paths) {
        if bytes <= most {
            break;
        }
        let size = bytes_below(&entry.path);
        if remove(&entry.path) {
            bytes = bytes.saturating_sub(size);
            removed += 1;
        }
    }
    removed
}

/// Returns the entries of agents that are not to be kept. Logs of servers that act for nobody have no agent.
fn entries(folder: &Path, keep: &BTreeSet<String>) -> Vec<Entry> {
    FOLDERS
        .iter()
        .flat_map(|name| listed(&folder.join(name)))
        .filter(|(name, _)| !keep.contains(name.strip_suffix(".log").unwrap_or(name)))
        .map(|(_, entry)| entry)
        .collect()
}

fn listed(folder: &Path) -> impl Iterator<Item = (String, Entry)> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let changed = entry.metadata().ok()?.modified().ok()?;
        let path = entry.path();
        Some((
            entry.file_name().into_string().ok()?,
            Entry { path, changed },
        ))
    })
}

fn bytes_below(path: &Path) -> u64 {
    let Ok(meta) = fs::symlink_metadata(path) else {
        return 0;
    };
    if !meta.is_dir() {
        return meta.len();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| bytes_below(&entry.path())).sum()
}

fn remove(path: &Path) -> bool {
    let removed = match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    if let Err(error) = &removed {
        tracing::debug!(path = %path.display(), %error, "an old file stays");
    }
    removed.is_ok()
}

/// Deletes references of old pull requests and reviews whose commits a branch has as well.
async fn release_old_refs(context: &Context, settings: &RetentionSettings) -> Result<usize, Error> {
    let Ok(repository) = context.repository() else {
        return Ok(0);
    };
    let repository = context.limit_lock_wait(repository.clone());
    if settings.ref_days == 0 {
        return Ok(0);
    }
    let (key, days) = (
        Context::repository_key(repository.root()),
        settings.ref_days,
    );
    let (over, kept) = context
        .store
        .read(move |r| Ok((r.pulls_over_for(&key, days)?, r.agents_with_files(days)?)))
        .await?;
    let kept = names(&kept);
    let is_old = |name: &str| match name.strip_prefix("refs/codex/") {
        Some(rest) => match (rest.strip_prefix("pull/"), rest.strip_prefix("reviews/")) {
            (Some(pull), _) => pull
                .split_once("/head")
                .and_then(|(number, _)| number.parse().ok())
                .is_some_and(|number: u64| over.contains(&number)),
            // Ids have no dots: one begins the number of a further name (`Repository::keep`).
            (None, Some(reviewer)) => {
                !kept.contains(reviewer.split('.').next().unwrap_or(reviewer))
            }
            (None, None) => false,
        },
        None => false,
    };
    let mut refs = repository.kept_refs().await?;
    refs.retain(|(name, _)| is_old(name));
    // Those that must stay come up again and again; each run begins somewhere else.
    let runs = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs() / PASS_INTERVAL.as_secs());
    let first = usize::try_from(runs).unwrap_or(0) * MAX_REFS % refs.len().max(1);
    refs.rotate_left(first);
    let mut released = 0;
    for (name, commit) in refs.into_iter().take(MAX_REFS) {
        released += usize::from(repository.release_ref(&name, &commit).await?);
    }
    Ok(released)
}
