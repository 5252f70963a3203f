//! Watches one terminal while it has viewers: `capture-pane` whenever tmux signals output.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use shared::error::Error;
use shared::model::{Instance, InstanceId, ProcessMark};
use shared::process;
use shared::tmux::{PaneView, PipeOwner, SessionName};
use shared::workflow::{self, Context};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::pipe::Pipe;
use super::screen::{Publisher, Screen, Seen};

/// The shortest time between two captures of a terminal that keeps printing: each costs 3 to 6 ms.
const MIN_CAPTURE_INTERVAL: Duration = Duration::from_millis(220);
/// How long a program that has started to draw gets to finish.
const SETTLE_GRACE: Duration = Duration::from_millis(8);
/// How often to capture a terminal that prints nothing: its program may have ended.
const IDLE_INTERVAL: Duration = Duration::from_secs(4);
/// The shortest time between two captures because of the database: a change may mean that the agent has ended.
const CHANGE_INTERVAL: Duration = Duration::from_secs(1);
/// How often to capture a terminal whose pipe belongs to somebody else.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The terminals that have a watcher.
pub(super) type Watched = Arc<Mutex<HashMap<InstanceId, Arc<Publisher>>>>;

pub(super) fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) struct Watcher {
    pub(super) context: Context,
    pub(super) instance: Instance,
    pub(super) changes: watch::Receiver<u64>,
    pub(super) publisher: Arc<Publisher>,
    pub(super) watched: Watched,
    pub(super) folder: PathBuf,
    pub(super) stop: CancellationToken,
}

impl Watcher {
    pub(super) async fn run(mut self) {
        let outcome = self.watch().await;
        if let Err(error) = outcome {
            // The next viewer starts a new watcher.
            lock(&self.watched).remove(&self.instance.id);
            self.publisher.send_replace(Seen::Gone(error));
        }
    }

    async fn watch(&mut self) -> Result<(), Error> {
        let name = self.instance.tmux_session.as_deref().unwrap_or_default();
        let name = SessionName::new(name)?;
        let owner = owner();
        let mut pipe = None;
        let result = self.capture_until_stopped(&name, &owner, &mut pipe).await;
        if pipe.is_some() {
            // If this fails, the session is gone and its pipe with it.
            let tmux = self.context.terminals(&self.instance);
            let _ = tmux.signal_no_more(&name, &owner).await;
        }
        result
    }

    async fn capture_until_stopped(
        &mut self,
        name: &SessionName,
        owner: &str,
        pipe: &mut Option<Pipe>,
    ) -> Result<(), Error> {
        loop {
            let view = workflow::capture(&self.context, &self.instance, 0).await?;
            let captured = Instant::now();
            self.publish(&view);
            if pipe.is_none() && is_free(&view.pipe, owner) && !view.dead {
                *pipe = self.open_pipe(name, owner).await;
                if pipe.is_some() {
                    // Something may have been printed before the pipe was open.
                    continue;
                }
            } else if pipe.is_some() && view.pipe != PipeOwner::Named(owner.to_owned()) {
                *pipe = None;
            }
            if self.wait(captured, pipe.as_ref()).await {
                return Ok(());
            }
        }
    }

    fn publish(&self, view: &PaneView) {
        let screen = Screen::of(view);
        self.publisher.send_if_modified(|seen| {
            if matches!(seen, Seen::Screen(known) if **known == screen) {
                return false;
            }
            *seen = Seen::Screen(Arc::new(screen));
            true
        });
    }

    /// Has tmux signal output through a named pipe; returns `None` if it can't.
    async fn open_pipe(&self, name: &SessionName, owner: &str) -> Option<Pipe> {
        let file = format!("{}-{}", self.instance.id, std::process::id());
        let pipe = Pipe::make(&self.folder, &file)
            .inspect_err(|error| tracing::warn!(%error, "cannot make a pipe for a terminal"))
            .ok()?;
        let opened = self
            .context
            .terminals(&self.instance)
            .signal_output(name, pipe.path(), owner)
            .await;
        match opened {
            Ok(()) => Some(pipe),
            Err(error) => {
                tracing::warn!(%error, "tmux can't signal the output of a terminal");
                None
            }
        }
    }

    /// Waits until the next capture is due; returns true if there are no viewers any more.
    async fn wait(&mut self, captured: Instant, pipe: Option<&Pipe>) -> bool {
        let (publisher, stop) = (Arc::clone(&self.publisher), self.stop.clone());
        let signal = async {
            match pipe {
                Some(pipe) => {
                    // A broken pipe is always ready; without this it would cause a busy loop.
                    if pipe.signalled().await.is_err() {
                        tokio::time::sleep(POLL_INTERVAL).await;
                    }
                    tokio::time::sleep_until(
                        (captured + MIN_CAPTURE_INTERVAL).max(Instant::now() + SETTLE_GRACE),
                    )
                    .await;
                    pipe.drain();
                }
                None => tokio::time::sleep(POLL_INTERVAL).await,
            }
        };
        let changed = async {
            // An error means that the dashboard ends; then `stop` is cancelled as well.
            let _ = self.changes.changed().await;
            tokio::time::sleep_until(captured + CHANGE_INTERVAL).await;
        };
        tokio::select! {
            () = stop.cancelled() => true,
            () = publisher.closed() => self.leave(),
            () = signal => false,
            () = changed => false,
            () = tokio::time::sleep(IDLE_INTERVAL) => false,
        }
    }

    /// Ends the watch, unless a viewer has joined in the meantime.
    fn leave(&self) -> bool {
        let mut watched = lock(&self.watched);
        if self.publisher.receiver_count() > 0 {
            return false;
        }
        watched.remove(&self.instance.id);
        true
    }
}

/// Returns the name of this process as the owner of a pipe.
fn owner() -> String {
    let me = process::this_process();
    format!("{}-{}", me.pid, me.started)
}

/// Returns whether we may take the pipe of a terminal: it is unused, ours, or its owner has died.
fn is_free(pipe: &PipeOwner, me: &str) -> bool {
    match pipe {
        PipeOwner::Nobody => true,
        PipeOwner::Stranger => false,
        PipeOwner::Named(owner) => {
            let mark = owner.split_once('-').and_then(|(pid, started)| {
                Some(ProcessMark {
                    pid: pid.parse().ok()?,
                    started: started.to_owned(),
                })
            });
            owner == me || mark.is_some_and(|mark| !process::is_alive(&mark))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pipe_of_a_dead_dashboard_is_free() {
        let me = owner();
        assert!(is_free(&PipeOwner::Nobody, "x"));
        assert!(!is_free(&PipeOwner::Stranger, "x"));
        assert!(!is_free(&PipeOwner::Named(me.clone()), "x"));
        assert!(is_free(&PipeOwner::Named(me.clone()), &me));
        assert!(is_free(&PipeOwner::Named("1-0".to_owned()), "x"));
        assert!(!is_free(&PipeOwner::Named("what".to_owned()), "x"));
    }
}
