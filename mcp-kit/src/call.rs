//! One tool call, from arrival to an answer that always comes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ErrorData, JsonObject, ProgressNotificationParam,
};
use rmcp::service::RequestContext;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::definition::Tool;
use super::handler::Kit;
use super::{audit, reply};
use shared::error::{Code, Error};
use shared::model::InstanceId;
use shared::model::secrets::without_secrets;
use shared::workflow::{Context, Run};

/// How long an answer waits for the steps before it to be told.
const LAST_STEPS: Duration = Duration::from_secs(1);

/// What a tool or resource function works with.
#[derive(Debug, Clone)]
pub struct Call {
    kit: Arc<Kit>,
    run: Arc<Run>,
    /// Set once the function has asked for whom it acts.
    acted: Arc<AtomicBool>,
}

impl Call {
    pub(super) fn new(kit: Arc<Kit>, run: Arc<Run>) -> Self {
        Self {
            kit,
            run,
            acted: Arc::default(),
        }
    }

    /// Returns the surroundings, opened at the first call that needs them.
    pub async fn context(&self) -> Result<Arc<Context>, Error> {
        self.kit.identity.context().await
    }

    /// Returns the instance that this server acts for, adopting the place it runs in if need be.
    pub async fn instance(&self) -> Result<InstanceId, Error> {
        let id = if self.acted.load(Ordering::Relaxed) {
            self.kit.identity.instance(&self.run).await?
        } else {
            let id = self.kit.identity.instance_for_call(&self.run).await?;
            self.acted.store(true, Ordering::Relaxed);
            id
        };
        self.run.acts_for(&id);
        Ok(id)
    }

    /// Returns the instance if there is one; never adopts one.
    pub async fn present_instance(&self) -> Result<Option<InstanceId>, Error> {
        self.kit.identity.present(&self.run).await
    }

    pub fn run(&self) -> &Run {
        &self.run
    }
}

/// Runs a tool so that it is answered and recorded whatever it does.
pub(super) async fn run_tool(
    kit: &Arc<Kit>,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let Some(tool) = kit.tool(&request.name) else {
        return Err(ErrorData::invalid_params(
            format!("{} has no tool `{}`", kit.definition.name(), request.name),
            None,
        ));
    };
    let arguments = request.arguments.unwrap_or_default();
    let cancel = kit.begin(context.id.clone());
    let steps = TaskTracker::new();
    let tell = progress(&context, steps.clone());
    let run = Arc::new(Run::with_progress(cancel.clone(), tell));
    let call = Call::new(Arc::clone(kit), Arc::clone(&run));
    let acted = Arc::clone(&call.acted);

    let begun = audit::begin(kit, &request.name, arguments.clone());
    run.record_as(begun.clone());
    let answered = run_to_end(kit, tool, call, arguments, &cancel, &context).await;
    // No step is told after the answer: some clients fall over it. At the end of input they may find no taker.
    steps.close();
    let _ = tokio::time::timeout(LAST_STEPS, steps.wait()).await;
    if acted.load(Ordering::Relaxed)
        && let Some(removed) = kit.identity.call_ended(answered.is_ok()).await
    {
        run.forget(&removed);
    }
    audit::end(kit, &run, begun, answered.as_ref()).await;
    reply::answer(answered, tool.data_as_text)
}

/// Runs the function as a task of its own, so that a panic is caught and a cancelled call can undo.
async fn run_to_end(
    kit: &Kit,
    tool: &Tool,
    call: Call,
    arguments: JsonObject,
    cancel: &CancellationToken,
    context: &RequestContext<RoleServer>,
) -> Result<serde_json::Value, Error> {
    let mut task = kit.tasks.spawn((tool.handler)(call, arguments));
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

/// Returns a function that tells the client about each step, if it asked to be told, until the tracker is closed.
fn progress(
    context: &RequestContext<RoleServer>,
    steps: TaskTracker,
) -> impl Fn(&str, Option<f64>) + Send + Sync + use<> {
    let token = context.meta.get_progress_token();
    let peer = context.peer.clone();
    // Blocking threads report too, and they have no runtime of their own.
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
            // A client that has gone needs no progress.
            let _ = peer.notify_progress(notification).await;
        };
        steps.spawn_on(telling, &runtime);
    }
}

/// Returns the percentage, or the number of the step; nothing if it would not grow, as it must.
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
