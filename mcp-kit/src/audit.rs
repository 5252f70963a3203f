//! Recording each call.

use std::time::Instant;

use rmcp::model::JsonObject;
use serde_json::Value;

use super::handler::Kit;
use super::redact::redact;
use shared::error::{Code, Error};
use shared::model::EventSource;
use shared::store::NewEvent;
use shared::workflow::{CallRecord, Run};

/// Begins the record of a call. A verb whose last step is a change commits it with that change.
pub(super) fn begin(kit: &Kit, tool: &str, arguments: JsonObject) -> CallRecord {
    CallRecord {
        event: NewEvent {
            instance: kit.identity.known(),
            source: EventSource::Tool,
            server: kit.definition.name().to_owned(),
            name: tool.to_owned(),
            parameters: redact(&Value::Object(arguments)),
            result: None,
            error_code: None,
            status_changes: Vec::new(),
            duration_ms: 0.0,
        },
        began: Instant::now(),
        redact,
    }
}

/// Writes the call into the database before it is answered, unless that is done. A call is answered even if it fails.
pub(super) async fn end(kit: &Kit, run: &Run, begun: CallRecord, result: Result<&Value, &Error>) {
    let Some(context) = kit.identity.opened() else {
        // The call failed before it needed the database.
        return;
    };
    let tool = begun.event.name.clone();
    match result {
        Ok(_) if run.is_recorded() => return,
        // The answer would wait as long again, most likely for nothing.
        Err(error) if error.code == Code::DatabaseBusy => {
            tracing::error!(%error, tool, "cannot record the call");
            return;
        }
        Ok(_) | Err(_) => {}
    }
    let event = NewEvent {
        instance: kit.identity.known(),
        result: result.ok().map(redact),
        error_code: match result {
            Err(error) => Some(error.code.to_string()),
            // It came to its end, but whoever cancelled it takes no answer.
            Ok(_) => run
                .cancel_token()
                .is_cancelled()
                .then(|| Code::Cancelled.to_string()),
        },
        status_changes: run.changes(),
        duration_ms: begun.began.elapsed().as_secs_f64() * 1000.0,
        ..begun.event
    };
    let written = context.store.write(move |w| w.record_call(&event)).await;
    if let Err(error) = written {
        tracing::error!(%error, tool, "cannot record the call");
    }
}
