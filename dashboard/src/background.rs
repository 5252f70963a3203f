//! What goes on while the dashboard is up, whoever looks.

use std::path::Path;
use std::time::Duration;

use shared::workflow::{self, Run};

use crate::app::Shared;
use crate::changes::pause;
use crate::record;

/// How many repositories are looked at in one go.
const MOST: u32 = 100;

/// Follows pull requests on GitHub: webhooks may be missing, or not arrive.
pub(crate) async fn sync(app: Shared) {
    let seconds = app.context.settings().dashboard.sync_seconds;
    if seconds == 0 || app.options.read_only {
        return;
    }
    let mut complaint = String::new();
    while !pause(&app.stop, Duration::from_secs(seconds)).await {
        let waiting = app
            .context
            .store
            .read(|r| r.repositories_to_sync(MOST))
            .await;
        for repository in waiting.unwrap_or_default() {
            if let Err(error) = sync_one(&app, &repository).await {
                let text = error.to_string();
                if text != complaint {
                    tracing::warn!(code = %error.code, %error, "cannot sync");
                    complaint = text;
                }
            }
        }
    }
}

async fn sync_one(app: &Shared, repository: &str) -> Result<(), shared::error::Error> {
    let context = app.context.in_repository(Path::new(repository)).await?;
    let run = Run::unattended();
    let began = std::time::Instant::now();
    let result = workflow::sync(&context, &run).await;
    if !run.changes().is_empty() {
        let event = record::event(
            "sync",
            serde_json::json!({}),
            &run,
            began,
            &result,
            |moved| serde_json::json!({ "moved": moved.len() }),
        );
        app.context
            .store
            .write(move |w| w.insert_event(&event))
            .await?;
    }
    result.map(|_| ())
}
