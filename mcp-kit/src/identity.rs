//! For whom this server acts: the instance it was launched for, or the place it runs in.
//!
//! Nothing is opened before it is needed: a client that only looks leaves no trace, and a database
//! that can't be opened fails the call, not the server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::delivery_loop::deliver_always;
use shared::config::Environment;
use shared::error::{Code, Error};
use shared::model::{InstanceId, InstanceKind};
use shared::workflow::{
    Context, Run, adopt, adopt_again, connect, forget, is_to_be_adopted, leave, reconcile,
};

#[derive(Debug, Clone)]
pub(super) struct Identity(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    kind: InstanceKind,
    environment: Environment,
    context: OnceCell<Arc<Context>>,
    acting: Mutex<Option<Acting>>,
    /// Held while the instance is looked for or let go, so that calls at the same time share one row.
    finding: tokio::sync::Mutex<()>,
    heard: AtomicBool,
    tasks: TaskTracker,
    shutdown: CancellationToken,
}

/// The instance that this server acts for at present.
#[derive(Debug)]
struct Acting {
    id: InstanceId,
    /// Set while no call has succeeded for a row that this server has made.
    fresh: bool,
    /// Calls under way that know the id.
    calls: usize,
    /// Ends delivery to the instance; none before it has begun.
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

    /// Returns the instance to act for, connecting to it or adopting this place if need be.
    pub(super) async fn instance(&self, run: &Run) -> Result<InstanceId, Error> {
        let _finding = self.0.finding.lock().await;
        self.find(run).await
    }

    /// The row of an adopted session may have ended since the last call; then another one follows it.
    async fn find(&self, run: &Run) -> Result<InstanceId, Error> {
        let context = self.context().await?;
        let launched = self.0.environment.instance_id()?;
        let known = self.known();
        if let Some(known) = &known
            && (launched.is_some() || !is_to_be_adopted(&context, known).await?)
        {
            return Ok(known.clone());
        }
        let (id, fresh) = if let Some(id) = launched {
            (connect(&context, &id, self.0.kind).await?, false)
        } else {
            let adopted = adopt(&context, run, self.0.kind).await?;
            (adopted.id, adopted.fresh)
        };
        // Its Claude Code has gone on to a session that has a row of its own.
        if let Some(before) = known.filter(|before| *before != id) {
            leave(&context, &before).await?;
        }
        self.0.act_for(id.clone(), fresh);
        Ok(id)
    }

    /// Returns the instance for a tool call, which says with [`Identity::call_ended`] what came of it.
    pub(super) async fn instance_for_call(&self, run: &Run) -> Result<InstanceId, Error> {
        let _finding = self.0.finding.lock().await;
        let id = self.find(run).await?;
        if let Some(acting) = self.0.acting().as_mut() {
            acting.calls += 1;
        }
        Ok(id)
    }

    /// Begins to serve the instance once a call has succeeded.
    ///
    /// A row that only refused calls have used is removed, and its id returned.
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
        match forget(&*self.opened()?, &id).await {
            Ok(()) => Some(id),
            Err(error) => {
                tracing::warn!(code = %error.code, %error, "cannot remove {id}, whose call was refused");
                None
            }
        }
    }

    /// Starts the work beside the calls: repairs what others left, and hands messages over to this
    /// server's own agent for as long as the server lives.
    fn begin_serving(&self) {
        let Some(context) = self.opened() else { return };
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
        self.0.tasks.spawn(repair(Arc::clone(&context)));
        self.0.tasks.spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = deliver_always(&context, &id) => {}
            }
        });
    }

    /// Returns the instance it was launched for, or the one that its session was adopted as.
    pub(super) async fn present(&self, run: &Run) -> Result<Option<InstanceId>, Error> {
        let _finding = self.0.finding.lock().await;
        if self.0.environment.instance_id()?.is_some() {
            return self.find(run).await.map(Some);
        }
        if let Some(known) = self.known() {
            return Ok(Some(known));
        }
        if self.0.environment.claude_session_id().is_none() {
            return Ok(None);
        }
        let found = adopt_again(&*self.context().await?, self.0.kind).await?;
        if let Some(id) = &found {
            self.0.act_for(id.clone(), false);
            self.begin_serving();
        }
        Ok(found)
    }

    pub(super) fn known(&self) -> Option<InstanceId> {
        self.0.acting().as_ref().map(|acting| acting.id.clone())
    }

    /// Returns the surroundings if some call has needed them.
    pub(super) fn opened(&self) -> Option<Arc<Context>> {
        self.0.context.get().cloned()
    }

    /// Marks a launched instance as connected, or finds the row of a session that comes back, after the request at
    /// hand is answered.
    pub(super) fn connected(&self) {
        let environment = &self.0.environment;
        let launched = environment.instance_id().is_ok_and(|id| id.is_some());
        let may_come_back = environment.claude_session_id().is_some();
        if !(launched || may_come_back) || self.0.heard.swap(true, Ordering::Relaxed) {
            return;
        }
        let identity = self.clone();
        self.0.tasks.spawn(async move {
            // Let the answer out first: Claude Code's first turn goes without the tools of a late server.
            tokio::task::yield_now().await;
            identity.be_present().await;
        });
    }

    /// Nobody else says that the agent is up: a database that is busy for long is waited for.
    async fn be_present(&self) {
        loop {
            match self.present(&Run::unattended()).await {
                Ok(_) => return self.begin_serving(),
                Err(error) => {
                    tracing::error!(code = %error.code, %error, "cannot report that the agent is up");
                    if error.code != Code::DatabaseBusy || self.0.shutdown.is_cancelled() {
                        return;
                    }
                }
            }
        }
    }

    /// Ends the row of an adopted session: its server's input has ended.
    pub(super) async fn leave(&self) {
        let (Some(context), Some(id)) = (self.opened(), self.known()) else {
            return;
        };
        if let Err(error) = leave(&context, &id).await {
            tracing::warn!(code = %error.code, %error, "reconcile ends the row of this session");
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

/// Repairs what others left, beside the calls: the client is answered first.
async fn repair(context: Arc<Context>) {
    if let Err(error) = reconcile(&context).await {
        tracing::warn!(code = %error.code, %error, "cannot reconcile");
    }
}
