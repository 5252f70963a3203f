//! For whom this server acts: the instance it was launched for, or the place it runs in.
//!
//! Nothing is opened before it is needed: a client that only looks leaves no trace, and a database
//! that can't be opened fails the call, not the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::delivery_loop::deliver_always;
use crate::config::Environment;
use crate::error::Error;
use crate::model::{InstanceId, InstanceKind};
use crate::workflow::{Context, Run, adopt, connect, reconcile};

#[derive(Debug, Clone)]
pub(super) struct Identity(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    kind: InstanceKind,
    environment: Environment,
    context: OnceCell<Arc<Context>>,
    instance: OnceCell<InstanceId>,
    heard: AtomicBool,
    tasks: TaskTracker,
    shutdown: CancellationToken,
}

impl Identity {
    pub(super) fn new(
        kind: InstanceKind,
        environment: Environment,
        tasks: TaskTracker,
        shutdown: CancellationToken,
    ) -> Self {
        Self(Arc::new(Inner {
            kind,
            environment,
            context: OnceCell::new(),
            instance: OnceCell::new(),
            heard: AtomicBool::new(false),
            tasks,
            shutdown,
        }))
    }

    pub(super) async fn context(&self) -> Result<Arc<Context>, Error> {
        let open = async || {
            let context = Context::open(self.0.environment.clone(), &[]).await?;
            if let Some(notice) = context.config.ignored.notice() {
                tracing::warn!("{notice}");
            }
            Ok(Arc::new(context))
        };
        self.0.context.get_or_try_init(open).await.cloned()
    }

    pub(super) async fn instance(&self, run: &Run) -> Result<InstanceId, Error> {
        let find = async || {
            let context = self.context().await?;
            let id = match self.0.environment.instance_id()? {
                Some(id) => connect(&context, &id, self.0.kind).await?,
                None => adopt(&context, run, self.0.kind).await?,
            };
            self.0.tasks.spawn(repair(Arc::clone(&context)));
            self.0.deliver(context, id.clone());
            Ok(id)
        };
        self.0.instance.get_or_try_init(find).await.cloned()
    }

    /// Returns the instance it was launched for, or the one that it has adopted by now.
    pub(super) async fn present(&self, run: &Run) -> Result<Option<InstanceId>, Error> {
        match self.0.environment.instance_id()? {
            Some(_) => self.instance(run).await.map(Some),
            None => Ok(self.known()),
        }
    }

    pub(super) fn known(&self) -> Option<InstanceId> {
        self.0.instance.get().cloned()
    }

    /// Returns the surroundings if some call has needed them.
    pub(super) fn opened(&self) -> Option<Arc<Context>> {
        self.0.context.get().cloned()
    }

    /// Marks a launched instance as connected, after the request at hand is answered.
    pub(super) fn connected(&self) {
        let launched = self
            .0
            .environment
            .instance_id()
            .is_ok_and(|id| id.is_some());
        if !launched || self.0.heard.swap(true, Ordering::Relaxed) {
            return;
        }
        let identity = self.clone();
        self.0.tasks.spawn(async move {
            // Let the answer out first: Claude Code's first turn goes without the tools of a late server.
            tokio::task::yield_now().await;
            if let Err(error) = identity.instance(&Run::unattended()).await {
                tracing::error!(code = %error.code, %error, "cannot report that the agent is up");
            }
        });
    }
}

impl Inner {
    /// Hands messages over to this server's own agent for as long as the server lives.
    fn deliver(&self, context: Arc<Context>, id: InstanceId) {
        let shutdown = self.shutdown.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = shutdown.cancelled() => {}
                () = deliver_always(&context, &id) => {}
            }
        });
    }
}

/// Repairs what others left, beside the calls: the client is answered first.
async fn repair(context: Arc<Context>) {
    if let Err(error) = reconcile(&context).await {
        tracing::warn!(code = %error.code, %error, "cannot reconcile");
    }
}
