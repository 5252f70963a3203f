//! Serves MCP on stdio until EOF or a signal, then shuts down.

use std::io;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::service::{QuitReason, ServerInitializeError};
use rmcp::{ServiceExt, transport};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::definition::Definition;
use super::handler::Handler;
use super::identity::Identity;
use super::input::Input;
use super::server_state::ServerState;
use shared::config::Environment;

/// How long running calls may take to undo their changes. Claude Code stops waiting earlier, but by then we no
/// longer depend on it.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// Runs the server to its end.
pub fn serve(definition: Definition) -> ExitCode {
    let environment = Environment::current();
    shared::logging::start(&environment, definition.name());
    // A single thread was the fastest in measurements; blocking work has its own threads.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let result = runtime.and_then(|runtime| {
        let result = runtime.block_on(run(definition, environment));
        // A blocked database thread must not delay the exit.
        runtime.shutdown_background();
        result
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "the server stopped");
            ExitCode::FAILURE
        }
    }
}

async fn run(definition: Definition, environment: Environment) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;

    let tasks = TaskTracker::new();
    let shutdown = CancellationToken::new();
    let state = Arc::new(ServerState {
        calls: Mutex::default(),
        identity: Identity::new(
            definition.kind,
            environment,
            tasks.clone(),
            shutdown.clone(),
        ),
        definition,
        shutdown,
        tasks,
    });
    let session = session(Arc::clone(&state));
    let ended = tokio::select! {
        ended = session => ended,
        _ = terminate.recv() => Ok(()),
        _ = hangup.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
    };
    // Running calls stop at their next step, end their git processes and undo their changes.
    state.shutdown.cancel();
    state.tasks.close();
    if tokio::time::timeout(SHUTDOWN_GRACE, state.tasks.wait())
        .await
        .is_err()
    {
        tracing::warn!("calls were still running at the end of the grace period");
    }
    state.identity.leave().await;
    ended
}

async fn session(state: Arc<ServerState>) -> io::Result<()> {
    let (input, output) = transport::stdio_pipes();
    let service = match Handler(state).serve((Input::new(input), output)).await {
        Ok(service) => service,
        // A client may start the server and leave without a request.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(io::Error::other(error)),
    };
    match service.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(io::Error::other(error)),
        Ok(_) => Ok(()),
    }
}
