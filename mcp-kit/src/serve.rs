//! Running a server on standard input and output until the client goes or a signal comes.

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
use super::handler::{Handler, Kit};
use super::identity::Identity;
use super::input::Input;
use shared::config::Environment;

/// How long calls under way may take to undo what they began. Claude Code waits less, but the
/// process is its own by then.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// Runs the server to its end.
pub fn serve(definition: Definition) -> ExitCode {
    let environment = Environment::of_process();
    shared::logging::start(&environment, definition.name());
    // One thread was the fastest arrangement measured; blocking work has threads of its own.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let result = runtime.and_then(|runtime| {
        let result = runtime.block_on(run(definition, environment));
        // A blocked database thread must not hold the exit up.
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
    let kit = Arc::new(Kit {
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
    let session = session(Arc::clone(&kit));
    let ended = tokio::select! {
        ended = session => ended,
        _ = terminate.recv() => Ok(()),
        _ = hangup.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
    };
    // Calls under way stop at their next step, end their git children and undo what they began.
    kit.shutdown.cancel();
    kit.tasks.close();
    if tokio::time::timeout(LAST_WORDS, kit.tasks.wait())
        .await
        .is_err()
    {
        tracing::warn!("calls were still under way when the time was up");
    }
    kit.identity.leave().await;
    ended
}

async fn session(kit: Arc<Kit>) -> io::Result<()> {
    let (input, output) = transport::stdio_pipes();
    let service = match Handler(kit).serve((Input::new(input), output)).await {
        Ok(service) => service,
        // A client that only starts the server and goes away is no failure.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(io::Error::other(error)),
    };
    match service.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(io::Error::other(error)),
        Ok(_) => Ok(()),
    }
}
