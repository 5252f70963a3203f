//! Doing what a person asked for: to its end, whoever still waits, and with a record of it.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use shared::error::{Code, Error};
use shared::model::{EventSource, InstanceId};
use shared::store::NewEvent;
use shared::workflow::Run;

use crate::app::Shared;

/// What is written into the column `server`.
const NAME: &str = "dashboard";

/// Something to be done, as it will be recorded.
pub(crate) struct Deed<T> {
    pub(crate) name: &'static str,
    /// Nothing that could be a secret.
    pub(crate) parameters: Value,
    /// Whom it is about, if that is known beforehand.
    pub(crate) instance: Option<InstanceId>,
    /// What is kept of the result, and whom it was about.
    pub(crate) summary: fn(&T) -> (Value, Option<InstanceId>),
}

/// Does it in a task of its own: a browser that goes away in the middle leaves nothing half done.
pub(crate) async fn recorded<T, W>(
    app: &Shared,
    deed: Deed<T>,
    work: impl FnOnce(Arc<Run>) -> W + Send + 'static,
) -> Result<T, Error>
where
    T: Send + 'static,
    W: Future<Output = Result<T, Error>> + Send,
{
    let owner = Arc::clone(app);
    let task = async move {
        let run = Arc::new(Run::unattended());
        let began = Instant::now();
        let result = work(Arc::clone(&run)).await;
        let found = result.as_ref().ok().map(deed.summary);
        let about = found.as_ref().and_then(|(_, about)| about.clone());
        let mut event = event(deed.name, deed.parameters, &run, began, &result, |_| {
            Value::Null
        });
        event.result = found.map(|(summary, _)| summary);
        event.instance = about.or(deed.instance);
        let written = owner.context.store.write(move |w| w.insert_event(&event));
        if let Err(error) = written.await {
            tracing::warn!(%error, "what was done could not be recorded");
        }
        result
    };
    match app.work.spawn(task).await {
        Ok(result) => result,
        Err(failure) => {
            tracing::error!(%failure, "a request came to nothing");
            Err(
                Error::new(Code::Internal, "this went wrong inside of the dashboard")
                    .hint("Look at the agent before trying again; please report it."),
            )
        }
    }
}

/// Returns the record of something that was done.
pub(crate) fn event<T>(
    name: &str,
    parameters: Value,
    run: &Run,
    began: Instant,
    result: &Result<T, Error>,
    summary: impl FnOnce(&T) -> Value,
) -> NewEvent {
    NewEvent {
        instance: None,
        source: EventSource::Command,
        server: NAME.to_owned(),
        name: name.to_owned(),
        parameters,
        result: result.as_ref().ok().map(summary),
        error_code: result.as_ref().err().map(|error| error.code.to_string()),
        status_changes: run.changes(),
        duration_ms: began.elapsed().as_secs_f64() * 1000.0,
    }
}
