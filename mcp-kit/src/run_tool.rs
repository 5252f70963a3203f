//! `tools/call`: runs a tool so that it is always answered and recorded, with progress and cancellation.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ErrorData, JsonObject, ProgressNotificationParam,
};
use rmcp::service::RequestContext;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::call::Call;
use super::definition::Tool;
use super::server_state::ServerState;
use super::{audit, reply};
use shared::error::{Code, Error};
use shared::model::secrets::without_secrets;
use shared::workflow::Run;

/// How long an answer waits for the progress notifications before it.
const PROGRESS_TIMEOUT: Duration = Duration::from_secs(1);

/// Runs a tool. Failure, panic and cancellation are answered and recorded too.
pub(super) async fn run_tool(
    state: &Arc<ServerState>,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let Some(tool) = state.tool(&request.name) else {
        return Err(ErrorData::invalid_params(
            format!("{} has no tool `{}`", state.definition.name(), request.name),
            None,
        ));
    };
    let arguments = request.arguments.unwrap_or_default();
    let cancel = state.register(context.id.clone());
    let steps = TaskTracker::new();
    let tell = progress(&context, steps.clone());
    let run = Arc::new(Run::with_progress(cancel.clone(), tell));
    let call = Call::new(state.identity.clone(), Arc::clone(&run));

    let begun = audit::begin(state, &request.name, arguments.clone());
    run.record_as(begun.clone());
    let answered = run_to_end(state, tool, call.clone(), arguments, &cancel, &context).await;
    // Some clients fail on progress that arrives after the answer, so it is flushed first. Bounded, because at EOF nobody
    // reads it.
    steps.close();
    let _ = tokio::time::timeout(PROGRESS_TIMEOUT, steps.wait()).await;
    if call.has_acted()
        && let Some(removed) = state.identity.call_ended(answered.is_ok()).await
    {
        run.forget(&removed);
    }
    audit::end(state, &run, tool.name, begun, answered.as_ref()).await;
    reply::answer(answered, tool.data_as_text)
}

/// Runs the function as its own task, so that a panic is caught and a cancelled call can undo its changes.
async fn run_to_end(
    state: &ServerState,
    tool: &Tool,
    call: Call,
    arguments: JsonObject,
    cancel: &CancellationToken,
    context: &RequestContext<RoleServer>,
) -> Result<serde_json::Value, Error> {
    let mut task = state.tasks.spawn((tool.handler)(call, arguments));
    let joined = tokio::select! {
        joined = &mut task => joined,
        () = context.ct.cancelled() => {
            cancel.cancel();
            task.await
        }
    };
    joined.unwrap_or_else(|failure| {
        tracing::error!(tool = tool.name, %failure, "a tool panicked");
        Err(Error::new(
            Code::Internal,
            format!("{} failed unexpectedly; the log has more", tool.name),
        ))
    })
}

/// Returns a function that sends progress notifications, if the client asked for them, until the tracker is closed.
fn progress(
    context: &RequestContext<RoleServer>,
    steps: TaskTracker,
) -> impl Fn(&str, Option<f64>) + Send + Sync + use<> {
    let token = context.meta.get_progress_token();
    let peer = context.peer.clone();
    // Blocking threads report progress too, and have no runtime.
    let runtime = tokio::runtime::Handle::current();
    let highest = Mutex::new(None);
    move |step: &str, fraction: Option<f64>| {
        let Some(token) = token.clone().filter(|_| !steps.is_closed()) else {
            return;
        };
        let Some(value) = next_value(&highest, fraction) else {
            return;
        };
        let peer = peer.clone();
        let mut notification = ProgressNotificationParam::new(token, value);
        notification.total = fraction.map(|_| 100.0);
        notification.message = Some(without_secrets(step).into_owned());
        let telling = async move {
            // The client may be gone.
            let _ = peer.notify_progress(notification).await;
        };
        steps.spawn_on(telling, &runtime);
    }
}

/// Returns the percentage, or the number of the step; nothing if it would not increase, as MCP requires.
fn next_value(highest: &Mutex<Option<f64>>, fraction: Option<f64>) -> Option<f64> {
    let mut highest = highest.lock().unwrap_or_else(PoisonError::into_inner);
    let value = match fraction {
        Some(fraction) => (fraction.clamp(0.0, 1.0) * 100.0).floor(),
        None => highest.unwrap_or(0.0) + 1.0,
    };
    if highest.is_some_and(|highest| value <= highest) {
        return None;
    }
    *highest = Some(value);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_only_grows() {
        let highest = Mutex::new(None);
        let told = |fraction| next_value(&highest, fraction);
        assert_eq!(told(Some(0.0)), Some(0.0));
        assert_eq!(told(Some(0.004)), None);
        assert_eq!(told(Some(0.5)), Some(50.0));
        assert_eq!(told(Some(0.2)), None);
        assert_eq!(told(None), Some(51.0));
        assert_eq!(told(Some(7.0)), Some(100.0));
    }
}
