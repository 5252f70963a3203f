//! Background tasks: watch the database and the agents for the change feed, reconcile, and sync pull requests.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use shared::error::Error;
use shared::model::{Instance, InstanceKind};
use shared::workflow::{self, Activity, Run};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::app::AppState;
use crate::record;

/// How often to read what Claude Code sessions do, which is not in the database; only while a page is open.
const ACTIVITY_INTERVAL: Duration = Duration::from_millis(800);
/// How often to ask tmux about terminals; only while a page is open.
const TERMINAL_INTERVAL: Duration = Duration::from_secs(3);
/// The shortest time between two reconciles: some dead agents cannot be repaired at once.
const RECONCILE_INTERVAL: Duration = Duration::from_secs(10);
/// How often to count the lines of agents' work; only while a page is open.
const SIZE_INTERVAL: Duration = Duration::from_secs(2);
/// Of how many agents at a time.
const MAX_MEASURED: usize = 20;
/// How many repositories one sync covers.
const MAX_REPOSITORIES: u32 = 100;

/// Announces every change of the database, until shutdown.
pub(crate) async fn watch_database(app: AppState) -> Result<(), Error> {
    let mut changes = app.context.store.changes()?;
    loop {
        tokio::select! {
            () = app.stop.cancelled() => return Ok(()),
            () = changes.next() => app.change_feed.bump(),
        }
    }
}

/// Announces what agents do while a page is open, and reconciles when one has died.
pub(crate) async fn watch_activity(app: AppState) {
    let (mut seen, mut fingerprint) = (None, None);
    let (mut looked, mut reconciled) = (None::<Instant>, None::<Instant>);
    while !sleep_or_stop(&app.stop, ACTIVITY_INTERVAL).await {
        if !app.change_feed.has_viewers() {
            // The next viewer's page may be older than this look.
            (seen, looked) = (None, None);
            continue;
        }
        let sessions = workflow::activity_fingerprint(&app.context).ok();
        if sessions == fingerprint && looked.is_some_and(|at| at.elapsed() < TERMINAL_INTERVAL) {
            continue;
        }
        (fingerprint, looked) = (sessions, Some(Instant::now()));
        let Ok(rows) = workflow::board(&app.context, false).await else {
            continue;
        };
        if !app.options.read_only
            && let Err(error) = workflow::notify_of(&app.context, &rows).await
        {
            tracing::warn!(code = %error.code, %error, "cannot notify");
        }
        let mut hasher = DefaultHasher::new();
        for row in &rows {
            row.instance.id.hash(&mut hasher);
            std::mem::discriminant(&row.activity).hash(&mut hasher);
        }
        let now = Some(hasher.finish());
        if now != seen {
            seen = now;
            app.change_feed.bump();
        }
        let died = rows.iter().any(|row| row.activity == Activity::Gone);
        let is_due = reconciled.is_none_or(|at| at.elapsed() >= RECONCILE_INTERVAL);
        if died && is_due && !app.options.read_only {
            reconciled = Some(Instant::now());
            if let Err(error) = workflow::reconcile(&app.context).await {
                tracing::warn!(code = %error.code, %error, "cannot reconcile");
            }
        }
    }
}

/// Counts the lines of agents' work while a page is open, a few agents at a time, so that the board never has to.
pub(crate) async fn measure_work(app: AppState) {
    let mut next = 0;
    while !sleep_or_stop(&app.stop, SIZE_INTERVAL).await {
        if !app.change_feed.has_viewers() {
            continue;
        }
        let Ok(recent) = app.context.store.read(|r| r.recent_instances(0)).await else {
            continue;
        };
        let coders: Vec<Instance> = recent
            .into_iter()
            .filter(|instance| instance.kind == InstanceKind::Coding)
            .collect();
        app.work_sizes
            .retain(&coders.iter().map(|coder| coder.id.clone()).collect());
        // New ones first, then the others in turn.
        let is_new = |coder: &&Instance| app.work_sizes.is_new(&coder.id);
        let in_turn = coders.iter().cycle().skip(next).take(coders.len());
        let in_turn = in_turn.filter(|coder| !is_new(coder));
        let chosen = coders.iter().filter(is_new).chain(in_turn);
        let chosen: Vec<Instance> = chosen.take(MAX_MEASURED).cloned().collect();
        next = (next + MAX_MEASURED) % coders.len().max(1);
        let mut changed = false;
        for coder in chosen {
            let context = app.context_of(&coder).await;
            let known = app.work_sizes.of(&coder.id);
            let size = workflow::work_size(&context, &coder, known).await.ok();
            changed |= app.work_sizes.keep(&coder.id, size);
        }
        if changed {
            app.change_feed.bump();
        }
    }
}

/// Looks for pull requests that were merged, closed or got stuck, and tells the person, also while no page is open: webhooks are
/// optional and may get lost, and nobody announces a commit made by hand.
pub(crate) async fn sync(app: AppState) {
    let seconds = app.context.settings().dashboard.sync_seconds;
    if seconds == 0 || app.options.read_only {
        return;
    }
    let mut last_warnings: HashMap<String, String> = HashMap::new();
    while !sleep_or_stop(&app.stop, Duration::from_secs(seconds)).await {
        let waiting = app
            .context
            .store
            .read(|r| r.repositories_to_sync(MAX_REPOSITORIES))
            .await;
        for repository in waiting.unwrap_or_default() {
            if let Err(error) = sync_one(&app, &repository).await {
                let text = error.to_string();
                if last_warnings.get(&repository) != Some(&text) {
                    tracing::warn!(code = %error.code, %error, "cannot sync {repository}");
                    last_warnings.insert(repository, text);
                }
            }
        }
        if let Err(error) = tell_of_all(&app).await {
            tracing::warn!(code = %error.code, %error, "cannot notify");
        }
    }
}

/// Tells the person of what needs them and nobody has told them of.
async fn tell_of_all(app: &AppState) -> Result<(), Error> {
    let rows = workflow::board(&app.context, false).await?;
    workflow::notify_of(&app.context, &rows).await
}

async fn sync_one(app: &AppState, repository: &str) -> Result<(), Error> {
    let context = app.context.in_repository(Path::new(repository)).await?;
    let run = Run::unattended();
    let recorder = record::recorder("sync", json!({}));
    let result = workflow::sync(&context, &run).await;
    if !run.changes().is_empty() {
        let summary = result.as_ref().map(|moved| json!({ "moved": moved.len() }));
        run.record(&app.context.store, recorder, summary).await?;
    }
    result.map(|_| ())
}

/// Sleeps; returns true if the server is shutting down.
async fn sleep_or_stop(stop: &CancellationToken, time: Duration) -> bool {
    tokio::select! {
        () = stop.cancelled() => true,
        () = tokio::time::sleep(time) => false,
    }
}
