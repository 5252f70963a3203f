//! `Call`: what a tool or resource function gets to know and use.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::identity::Identity;
use shared::error::Error;
use shared::model::InstanceId;
use shared::workflow::{Context, Run};

/// One call of a tool or resource function.
#[derive(Debug, Clone)]
pub struct Call {
    identity: Identity,
    run: Arc<Run>,
    /// Set once the function has asked for its instance.
    acted: Arc<AtomicBool>,
}

impl Call {
    pub(super) fn new(identity: Identity, run: Arc<Run>) -> Self {
        Self {
            identity,
            run,
            acted: Arc::default(),
        }
    }

    /// Returns the context, which the first call that needs it opens.
    pub async fn context(&self) -> Result<Arc<Context>, Error> {
        self.identity.context().await
    }

    /// Returns the instance that this server acts for, adopting the worktree it runs in if necessary.
    pub async fn instance(&self) -> Result<InstanceId, Error> {
        let id = if self.has_acted() {
            self.identity.instance(&self.run).await?
        } else {
            let id = self.identity.instance_for_call(&self.run).await?;
            self.acted.store(true, Ordering::Relaxed);
            id
        };
        self.run.acts_for(&id);
        Ok(id)
    }

    /// Returns the instance if there is one; never adopts.
    pub async fn current_instance(&self) -> Result<Option<InstanceId>, Error> {
        self.identity.current_instance(&self.run).await
    }

    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Returns whether the function has asked for its instance.
    pub(super) fn has_acted(&self) -> bool {
        self.acted.load(Ordering::Relaxed)
    }
}
