//! The state of a running server, and cancellation of its calls.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use rmcp::model::RequestId;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::definition::{Definition, Tool};
use super::identity::Identity;

/// How many calls can be cancelled. A client that gives up on a call has made few others since.
const MAX_CALLS: usize = 100;

/// A running server.
#[derive(Debug)]
pub(super) struct ServerState {
    pub(super) definition: Definition,
    pub(super) identity: Identity,
    /// Cancelled when the process is asked to end.
    pub(super) shutdown: CancellationToken,
    /// Running calls; the process waits for them before it exits.
    pub(super) tasks: TaskTracker,
    /// The last calls, running or answered, with their cancellation tokens.
    pub(super) calls: Mutex<VecDeque<(RequestId, CancellationToken)>>,
}

impl ServerState {
    /// Registers a call, which its client may cancel.
    pub(super) fn register(&self, id: RequestId) -> CancellationToken {
        let cancel = self.shutdown.child_token();
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.len() == MAX_CALLS {
            calls.pop_front();
        }
        calls.push_back((id, cancel.clone()));
        cancel
    }

    /// Cancels a call. If it is answered already, the client has discarded the answer.
    pub(super) fn cancel(&self, wanted: &RequestId) {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, cancel)) = calls.iter().rfind(|(id, _)| id == wanted) {
            cancel.cancel();
        }
    }

    pub(super) fn tool(&self, name: &str) -> Option<&Tool> {
        self.definition.tools.iter().find(|tool| tool.name == name)
    }
}
