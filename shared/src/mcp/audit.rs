//! Recording each call.

use std::time::Duration;

use rmcp::model::JsonObject;
use serde_json::Value;

use super::handler::Kit;
use super::redact::redact;
use crate::error::Error;
use crate::model::{EventSource, StatusChange};
use crate::store::NewEvent;

/// What there is to record of one call.
#[derive(Debug)]
pub(super) struct Outcome<'a> {
    pub(super) tool: &'a str,
    pub(super) arguments: JsonObject,
    pub(super) result: Result<&'a Value, &'a Error>,
    pub(super) changes: Vec<StatusChange>,
    pub(super) duration: Duration,
}

/// Writes the call into the database before it is answered. A call is answered even if that fails.
pub(super) async fn record(kit: &Kit, outcome: Outcome<'_>) {
    let Some(context) = kit.identity.opened() else {
        // The database itself could not be opened: there is nowhere to write to.
        return;
    };
    let event = NewEvent {
        instance: kit.identity.known(),
        source: EventSource::Tool,
        server: kit.definition.name().to_owned(),
        name: outcome.tool.to_owned(),
        parameters: redact(&Value::Object(outcome.arguments)),
        result: outcome.result.ok().map(redact),
        error_code: outcome.result.err().map(|error| error.code.to_string()),
        status_changes: outcome.changes,
        duration_ms: outcome.duration.as_secs_f64() * 1000.0,
    };
    let acting = event.instance.clone();
    let written = context
        .store
        .write(move |w| {
            if let Some(instance) = &acting {
                w.touch(instance)?;
            }
            w.insert_event(&event)
        })
        .await;
    if let Err(error) = written {
        tracing::error!(%error, tool = outcome.tool, "cannot record the call");
    }
}
