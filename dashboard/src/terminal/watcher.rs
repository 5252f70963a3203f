//! Looks at one terminal for as long as somebody wants to know.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
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
use super::{Screen, Seen, Sight, lock};

/// The shortest time between two looks at a terminal that keeps printing: a look costs 3 to 6 ms.
const BUSY: Duration = Duration::from_millis(220);
/// A program that begins to draw is given this long to go on.
const SETTLE: Duration = Duration::from_millis(8);
/// A terminal that prints nothing is looked at this seldom: its program may have ended.
const QUIET: Duration = Duration::from_secs(4);
/// What happens in the database may be the end of it; looked at this often at most for that.
const CHANGED: Duration = Duration::from_secs(1);
/// The same where tmux can't tell us: somebody else has its pipe.
const UNTOLD: Duration = Duration::from_millis(500);

pub(super) struct Watcher {
    pub(super) context: Context,
    pub(super) instance: Instance,
    /// Goes up with every change in the database.
    pub(super) changes: watch::Receiver<u64>,
    pub(super) sight: Arc<Sight>,
    pub(super) watched: Arc<Mutex<HashMap<InstanceId, Arc<Sight>>>>,
    pub(super) folder: PathBuf,
    pub(super) stop: CancellationToken,
}

impl Watcher {
    pub(super) async fn run(mut self) {
        let outcome = self.watch().await;
        if let Err(error) = outcome {
            // Whoever comes later begins anew.
            lock(&self.watched).remove(&self.instance.id);
            self.sight.send_replace(Seen::Gone(error));
        }
    }

    async fn watch(&mut self) -> Result<(), Error> {
        let name = self.instance.tmux_session.as_deref().unwrap_or_default();
        let name = SessionName::new(name)?;
        let owner = owner();
        let mut pipe = None;
        let result = self.look_on(&name, &owner, &mut pipe).await;
        if pipe.is_some() {
            // Where this fails the session is gone, and the pipe with it.
            let tmux = self.context.terminals(&self.instance);
            let _ = tmux.signal_no_more(&name, &owner).await;
        }
        result
    }

    async fn look_on(
        &mut self,
        name: &SessionName,
        owner: &str,
        pipe: &mut Option<Pipe>,
    ) -> Result<(), Error> {
        loop {
            let view = workflow::look(&self.context, &self.instance, 0).await?;
            let looked = Instant::now();
            self.publish(&view);
            if pipe.is_none() && is_free(&view.pipe, owner) && !view.dead {
                *pipe = self.lay(name, owner).await;
                if pipe.is_some() {
                    // Something may have been printed before the pipe lay.
                    continue;
                }
            } else if pipe.is_some() && view.pipe != PipeOwner::Named(owner.to_owned()) {
                *pipe = None;
            }
            if self.wait(looked, pipe.as_ref()).await {
                return Ok(());
            }
        }
    }

    fn publish(&self, view: &PaneView) {
        let screen = Screen::of(view);
        self.sight.send_if_modified(|seen| {
            if matches!(seen, Seen::Screen(known) if **known == screen) {
                return false;
            }
            *seen = Seen::Screen(Arc::new(screen));
            true
        });
    }

    /// Has tmux tell us what the terminal prints; none if that can't be.
    async fn lay(&self, name: &SessionName, owner: &str) -> Option<Pipe> {
        let file = format!("{}-{}", self.instance.id, std::process::id());
        let pipe = Pipe::make(&self.folder, &file)
            .inspect_err(|error| tracing::warn!(%error, "cannot make a pipe for a terminal"))
            .ok()?;
        let laid = self
            .context
            .terminals(&self.instance)
            .signal_output(name, pipe.path(), owner)
            .await;
        match laid {
            Ok(()) => Some(pipe),
            Err(error) => {
                tracing::warn!(%error, "tmux can't tell what a terminal prints");
                None
            }
        }
    }

    /// Waits until it is time to look again; true if nobody wants to know any more.
    async fn wait(&mut self, looked: Instant, pipe: Option<&Pipe>) -> bool {
        let (sight, stop) = (Arc::clone(&self.sight), self.stop.clone());
        let signal = async {
            match pipe {
                Some(pipe) => {
                    // A pipe that fails is no reason to look all the time.
                    if pipe.signalled().await.is_err() {
                        tokio::time::sleep(UNTOLD).await;
                    }
                    tokio::time::sleep_until((looked + BUSY).max(Instant::now() + SETTLE)).await;
                    pipe.drain();
                }
                None => tokio::time::sleep(UNTOLD).await,
            }
        };
        let changed = async {
            // None will come if the dashboard ends, and then the other branch does.
            let _ = self.changes.changed().await;
            tokio::time::sleep_until(looked + CHANGED).await;
        };
        tokio::select! {
            () = stop.cancelled() => true,
            () = sight.closed() => self.leave(),
            () = signal => false,
            () = changed => false,
            () = tokio::time::sleep(QUIET) => false,
        }
    }

    /// Ends the watch, unless somebody has come in the meantime.
    fn leave(&self) -> bool {
        let mut watched = lock(&self.watched);
        if self.sight.receiver_count() > 0 {
            return false;
        }
        watched.remove(&self.instance.id);
        true
    }
}

/// The name of this process as the one who is told.
fn owner() -> String {
    let me = process::this_process();
    format!("{}-{}", me.pid, me.started)
}

/// Tells whether the pipe of a terminal can be ours: nobody's, or one of a process that has gone.
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
