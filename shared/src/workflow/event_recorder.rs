//! Event recorder: one row of `mcp_events` for each tool call and command of servers, CLI and dashboard.
//!
//! Callers pass parameters and results as they are: `Writer::insert_event` redacts secrets in every row.

use std::time::Instant;

use serde_json::Value;

use crate::error::Code;
use crate::model::{EventSource, InstanceId, StatusChange};
use crate::store::{NewEvent, StoreError, Writer};

/// A call or command that is running and will be recorded.
#[derive(Debug, Clone)]
pub struct EventRecorder {
    event: NewEvent,
    began: Instant,
}

impl EventRecorder {
    /// Begins a record. `server` is the name of the program.
    pub fn begin(source: EventSource, server: &str, name: &str, parameters: Value) -> Self {
        Self {
            event: NewEvent {
                instance: None,
                source,
                server: server.to_owned(),
                name: name.to_owned(),
                parameters,
                result: None,
                error_code: None,
                status_changes: Vec::new(),
                duration_ms: 0.0,
            },
            began: Instant::now(),
        }
    }

    pub(super) fn source(&self) -> EventSource {
        self.event.source
    }

    /// Sets the instance that the event is about.
    pub fn set_instance(&mut self, instance: Option<InstanceId>) {
        self.event.instance = instance;
    }

    /// Writes the record in a transaction of the caller.
    pub(super) fn write(
        mut self,
        writer: &Writer<'_>,
        result: Option<Value>,
        error_code: Option<Code>,
        status_changes: Vec<StatusChange>,
    ) -> Result<(), StoreError> {
        self.event.result = result;
        self.event.error_code = error_code.map(|code| code.to_string());
        self.event.status_changes = status_changes;
        self.event.duration_ms = self.began.elapsed().as_secs_f64() * 1000.0;
        match self.event.source {
            EventSource::Tool => writer.record_call(&self.event),
            EventSource::Command | EventSource::Hook | EventSource::System => {
                writer.insert_event(&self.event)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::Error;
    use crate::store::Store;
    use crate::workflow::Run;

    /// Servers, CLI and dashboard record in these ways.
    #[tokio::test]
    async fn no_row_has_a_secret_of_parameters_result_or_error() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("codex.db")).unwrap();
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let parameters = json!({ "prompt": format!("use {token}"), "apiKey": "hunter2" });
        let result = json!({ "message": [format!("https://me:{token}@example.com")] });
        let error = Error::new(Code::Internal, format!("{token} was refused"));
        for (source, server) in [
            (EventSource::Tool, "mcp-coding"),
            (EventSource::Command, "claude-codex"),
            (EventSource::Command, "dashboard"),
        ] {
            let begin = || EventRecorder::begin(source, server, "publish", parameters.clone());
            for result in [Ok(result.clone()), Err(&error)] {
                let run = Run::unattended();
                run.record(&store, begin(), result).await.unwrap();
            }
            let run = Run::unattended();
            run.record_as(begin());
            let reply = result.clone();
            let written = run.write_last(&store, |_| Ok(()), move |()| reply);
            written.await.unwrap();
        }
        let rows = store.read_now(|r| r.latest_events(None, 20)).unwrap();
        assert_eq!(rows.len(), 9);
        let text = serde_json::to_string(&rows).unwrap();
        assert!(
            !text.contains(&token) && !text.contains("hunter2"),
            "{text}"
        );
        assert_eq!(text.matches("use [redacted]").count(), 9, "{text}");
        assert_eq!(rows[1].error_code.as_deref(), Some("INTERNAL"));
    }
}
