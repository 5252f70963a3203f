//! The instance that this server acts for: the one it was launched for, or the session it adopts.
//!
//! The database is opened by the first call that needs it: a client that only lists tools leaves no trace, and a
//! database that can't be opened fails the call, not the server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::delivery_loop::run_delivery_loop;
use shared::config::Environment;
use shared::error::{Code, Error};
use shared::model::{InstanceId, InstanceKind};
use shared::workflow::{
    Context, Run, adopt, adopt_again, connect, end_adopted, forget_unused, needs_adoption,
    reconcile,
};

#[derive(Debug, Clone)]
pub(super) struct Identity(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    kind: InstanceKind,
    environment: Environment,
    context: OnceCell<Arc<Context>>,
    acting: Mutex<Option<Acting>>,
    /// Held while the instance is looked up or removed, so that concurrent calls share one row.
    finding: tokio::sync::Mutex<()>,
    connected: AtomicBool,
    tasks: TaskTracker,
    shutdown: CancellationToken,
}

/// The current instance.
#[derive(Debug)]
struct Acting {
    id: InstanceId,
    /// Set until a call has succeeded for a row that this server created.
    fresh: bool,
    /// Running calls that know the id.
    calls: usize,
    /// Ends delivery to the instance; `None` until `begin_serving`.
    serving: Option<CancellationToken>,
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
            acting: Mutex::new(None),
            finding: tokio::sync::Mutex::new(()),
            connected: AtomicBool::new(false),
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

    /// Returns the instance, connecting to it or adopting the session if necessary.
    pub(super) async fn instance(&self, run: &Run) -> Result<InstanceId, Error> {
        let _finding = self.0.finding.lock().await;
        self.find(run).await
    }

    /// Looks the instance up. The row of an adopted session may have ended since the last call; then a new one is adopted.
    async fn find(&self, run: &Run) -> Result<InstanceId, Error> {
        let context = self.context().await?;
        let launched = self.0.environment.instance_id()?;
        let known = self.known_instance();
        if let Some(known) = &known
            && (launched.is_some() || !needs_adoption(&context, known).await?)
        {
            return Ok(known.clone());
        }
        let (id, fresh) = if let Some(id) = launched {
            (connect(&context, &id, self.0.kind).await?, false)
        } else {
            let adopted = adopt(&context, run, self.0.kind).await?;
            (adopted.id, adopted.fresh)
        };
        // Claude Code has switched to a session with its own row.
        if let Some(before) = known.filter(|before| *before != id) {
            end_adopted(&context, &before).await?;
        }
        self.0.act_for(id.clone(), fresh);
        Ok(id)
    }

    /// Returns the instance for a tool call, which reports its result to [`Identity::call_ended`].
    pub(super) async fn instance_for_call(&self, run: &Run) -> Result<InstanceId, Error> {
        let _finding = self.0.finding.lock().await;
        let id = self.find(run).await?;
        if let Some(acting) = self.0.acting().as_mut() {
            acting.calls += 1;
        }
        Ok(id)
    }

    /// Begins serving the instance once a call has succeeded.
    ///
    /// A row that only failed calls have used is removed, and its id returned.
    pub(super) async fn call_ended(&self, succeeded: bool) -> Option<InstanceId> {
        let _finding = self.0.finding.lock().await;
        let unused = {
            let mut acting = self.0.acting();
            let present = acting.as_mut()?;
            present.calls = present.calls.saturating_sub(1);
            present.fresh &= !succeeded;
            let is_unused = present.fresh && present.calls == 0;
            if is_unused { acting.take() } else { None }
        };
        let Some(Acting { id, .. }) = unused else {
            self.begin_serving();
            return None;
        };
        match forget_unused(&*self.context_if_open()?, &id).await {
            Ok(()) => Some(id),
            Err(error) => {
                tracing::warn!(code = %error.code, %error, "cannot remove {id}, whose only call failed");
                None
            }
        }
    }

    /// Starts the background work, once: reconcile, and delivery of messages to this server's agent.
    pub(super) fn begin_serving(&self) {
        let Some(context) = self.context_if_open() else {
            return;
        };
        let mut acting = self.0.acting();
        let Some(acting) = acting
            .as_mut()
            .filter(|acting| !acting.fresh && acting.serving.is_none())
        else {
            return;
        };
        let stop = self.0.shutdown.child_token();
        acting.serving = Some(stop.clone());
        let id = acting.id.clone();
        self.0.tasks.spawn(reconcile_once(Arc::clone(&context)));
        self.0.tasks.spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = run_delivery_loop(&context, &id) => {}
            }
        });
    }

    /// Returns the instance that this server was launched for or has adopted; adopts none.
    pub(super) async fn current_instance(&self, run: &Run) -> Result<Option<InstanceId>, Error> {
        let _finding = self.0.finding.lock().await;
        if self.0.environment.instance_id()?.is_some() {
            return self.find(run).await.map(Some);
        }
        if let Some(known) = self.known_instance() {
            return Ok(Some(known));
        }
        if self.0.environment.claude_session_id().is_none() {
            return Ok(None);
        }
        let found = adopt_again(&*self.context().await?, self.0.kind).await?;
        if let Some(id) = &found {
            self.0.act_for(id.clone(), false);
        }
        Ok(found)
    }

    /// Returns the instance if a call has looked it up.
    pub(super) fn known_instance(&self) -> Option<InstanceId> {
        self.0.acting().as_ref().map(|acting| acting.id.clone())
    }

    /// Returns the context if a call has opened it.
    pub(super) fn context_if_open(&self) -> Option<Arc<Context>> {
        self.0.context.get().cloned()
    }

    /// Marks a launched instance as connected, or finds the row of a resumed session, after the current request is
    /// answered.
    pub(super) fn mark_connected(&self) {
        let environment = &self.0.environment;
        let launched = environment.instance_id().is_ok_and(|id| id.is_some());
        let may_be_resumed = environment.claude_session_id().is_some();
        if !(launched || may_be_resumed) || self.0.connected.swap(true, Ordering::Relaxed) {
            return;
        }
        let identity = self.clone();
        self.0.tasks.spawn(async move {
            // Answer first: Claude Code's first turn runs without the tools of a slow server.
            tokio::task::yield_now().await;
            identity.report_connected().await;
        });
    }

    /// Retries while the database is busy, because nothing else reports that the agent is running.
    async fn report_connected(&self) {
        loop {
            match self.current_instance(&Run::unattended()).await {
                Ok(_) => return self.begin_serving(),
                Err(error) => {
                    tracing::error!(code = %error.code, %error, "cannot report that the agent is running");
                    if error.code != Code::DatabaseBusy || self.0.shutdown.is_cancelled() {
                        return;
                    }
                }
            }
        }
    }

    /// Ends the row of an adopted session when the client has gone.
    pub(super) async fn leave(&self) {
        let (Some(context), Some(id)) = (self.context_if_open(), self.known_instance()) else {
            return;
        };
        if let Err(error) = end_adopted(&context, &id).await {
            tracing::warn!(code = %error.code, %error, "cannot end the row of this session; reconcile will");
        }
    }
}

impl Inner {
    fn acting(&self) -> MutexGuard<'_, Option<Acting>> {
        self.acting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn act_for(&self, id: InstanceId, fresh: bool) {
        let mut acting = self.acting();
        let before = acting.take();
        if let Some(before) = before {
            if before.id == id {
                *acting = Some(before);
                return;
            }
            if let Some(serving) = before.serving {
                serving.cancel();
            }
        }
        *acting = Some(Acting {
            id,
            fresh,
            calls: 0,
            serving: None,
        });
    }
}

async fn reconcile_once(context: Arc<Context>) {
    if let Err(error) = reconcile(&context).await {
        tracing::warn!(code = %error.code, %error, "cannot reconcile");
    }
}
