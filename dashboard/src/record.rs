//! Runs actions to completion, even if the client disconnects, and records them as events.

use std::sync::Arc;

use serde_json::Value;
use shared::error::{Code, Error};
use shared::model::{EventSource, InstanceId};
use shared::workflow::{EventRecorder, Run};

use crate::app::AppState;

/// The value of the column `server`.
const NAME: &str = "dashboard";

/// An action, as it will be recorded.
pub(crate) struct RecordedAction<T> {
    pub(crate) name: &'static str,
    pub(crate) parameters: Value,
    /// The agent that it is about, if known beforehand.
    pub(crate) instance: Option<InstanceId>,
    /// What to record of the result, and the agent that it was about.
    pub(crate) summary: fn(&T) -> (Value, Option<InstanceId>),
}

/// Runs an action in a task of its own, so that a client that disconnects leaves nothing half done.
pub(crate) async fn run_recorded<T, W>(
    app: &AppState,
    action: RecordedAction<T>,
    work: impl FnOnce(Arc<Run>) -> W + Send + 'static,
) -> Result<T, Error>
where
    T: Send + 'static,
    W: Future<Output = Result<T, Error>> + Send,
{
    let owner = Arc::clone(app);
    let task = async move {
        let run = Arc::new(Run::unattended());
        let mut recorder = recorder(action.name, action.parameters);
        let result = work(Arc::clone(&run)).await;
        let (summary, about) = match &result {
            Ok(value) => {
                let (summary, about) = (action.summary)(value);
                (Ok(summary), about)
            }
            Err(error) => (Err(error), None),
        };
        recorder.set_instance(about.or(action.instance));
        if let Err(error) = run.record(&owner.context.store, recorder, summary).await {
            tracing::warn!(%error, "cannot record an action");
        }
        result
    };
    match app.work.spawn(task).await {
        Ok(result) => result,
        Err(failure) => {
            tracing::error!(%failure, "an action panicked");
            Err(
                Error::new(Code::Internal, "the dashboard has failed internally")
                    .hint("Check the agent before you try again, and please report this."),
            )
        }
    }
}

/// Begins the record of an action.
pub(crate) fn recorder(name: &str, parameters: Value) -> EventRecorder {
    EventRecorder::begin(EventSource::Command, NAME, name, parameters)
}
