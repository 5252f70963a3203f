//! Audit: records each tool call in `mcp_events` before it is answered.

use rmcp::model::JsonObject;
use serde_json::Value;

use super::server_state::ServerState;
use shared::error::{Code, Error};
use shared::model::EventSource;
use shared::workflow::{EventRecorder, Run};

/// Begins the record of a call. A verb whose last step is a change commits the record with that change.
pub(super) fn begin(state: &ServerState, tool: &str, arguments: JsonObject) -> EventRecorder {
    let (server, parameters) = (state.definition.name(), Value::Object(arguments));
    let mut recorder = EventRecorder::begin(EventSource::Tool, server, tool, parameters);
    recorder.set_instance(state.identity.known_instance());
    recorder
}

/// Records the call, unless its last change did. A failure is only logged: the call is answered all the same.
pub(super) async fn end(
    state: &ServerState,
    run: &Run,
    tool: &str,
    mut recorder: EventRecorder,
    result: Result<&Value, &Error>,
) {
    let Some(context) = state.identity.context_if_open() else {
        // The call failed before it needed the database.
        return;
    };
    let written = match result {
        Ok(_) if run.is_recorded() => return,
        // A write would most likely wait as long again, and the answer with it.
        Err(busy) if busy.code == Code::DatabaseBusy => Err(busy.clone()),
        Ok(_) | Err(_) => {
            recorder.set_instance(state.identity.known_instance());
            let written = run.record(&context.store, recorder, result.cloned()).await;
            written.map_err(Error::from)
        }
    };
    if let Err(error) = written {
        tracing::error!(%error, tool, "cannot record the call");
    }
}
