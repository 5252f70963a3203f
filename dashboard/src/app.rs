//! `AppState`, shared by all handlers: options, context, keys, change feed, watched terminals.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use shared::error::{Code, Error};
use shared::model::{Instance, InstanceId, Secret};
use shared::workflow::Context;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::change_feed::ChangeFeed;
use crate::keys::Keys;
use crate::terminal::Terminals;
use crate::view::{Counts, Frame, IgnoredSettings, Section};
use crate::work_sizes::WorkSizes;

/// How to serve the dashboard.
#[derive(Debug, Clone)]
pub struct Options {
    pub address: SocketAddr,
    /// Reject all requests that would change something.
    pub read_only: bool,
    /// Accepted in `Host`, beside IP addresses and `localhost`.
    pub host_names: Vec<String>,
    /// Signs GitHub's webhooks; without one, webhooks are off.
    pub webhook_secret: Option<Secret>,
}

/// The state of the server. Nothing in it needs to survive a restart.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) context: Context,
    pub(crate) options: Options,
    pub(crate) keys: Keys,
    pub(crate) change_feed: ChangeFeed,
    pub(crate) terminals: Terminals,
    pub(crate) counts: LastCounts,
    pub(crate) work_sizes: WorkSizes,
    /// Requested actions in progress. They run to completion even if the client disconnects.
    pub(crate) work: TaskTracker,
    /// Shutdown: streams end, and no new work starts.
    pub(crate) stop: CancellationToken,
}

/// Cache of how many agents each column has, for one version of the change feed.
#[derive(Debug, Default)]
pub(crate) struct LastCounts(Mutex<Option<(u64, Counts)>>);

impl LastCounts {
    pub(crate) fn of(&self, version: u64) -> Option<Counts> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.filter(|(of, _)| *of == version)
            .map(|(_, counts)| counts)
    }

    pub(crate) fn keep(&self, version: u64, counts: Counts) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((version, counts));
    }
}

pub(crate) type AppState = Arc<App>;

impl App {
    /// Returns the frame of a page that shows the present state.
    pub(crate) fn frame(&self, section: Section, url: String) -> Frame {
        Frame {
            section,
            csrf: self.keys.csrf().to_owned(),
            read_only: self.options.read_only,
            fragment: false,
            url,
            version: self.change_feed.version(),
            counts: None,
            done: None,
        }
    }

    /// Returns one agent's row.
    pub(crate) async fn instance(&self, id: &InstanceId) -> Result<Instance, Error> {
        let id = id.clone();
        Ok(self.context.store.read(move |r| r.instance(&id)).await?)
    }

    /// Returns the context of an agent's repository.
    ///
    /// If the repository is gone, returns the dashboard's own context: such an agent can still be stopped.
    pub(crate) async fn context_of(&self, instance: &Instance) -> Context {
        match self.context.in_repository(&instance.repository).await {
            Ok(context) => context,
            Err(_) => self.context.clone(),
        }
    }

    /// Returns the known repositories, including the one that the dashboard was started in.
    pub(crate) async fn repositories(&self) -> Result<Vec<String>, Error> {
        let own = self.own_repository();
        let known = self.context.store.read(move |r| {
            let mut known = r.repositories()?;
            if let Some(here) = own.filter(|here| !known.contains(here)) {
                known.push(here);
                known.sort();
            }
            Ok(known)
        });
        Ok(known.await?)
    }

    /// Returns the repository that the dashboard was started in.
    pub(crate) fn own_repository(&self) -> Option<String> {
        let repository = self.context.repository().ok()?;
        Some(Context::repository_key(repository.root()))
    }

    /// Returns which of a repository's own settings and prompts are ignored, if any.
    pub(crate) fn ignored_in(&self, repository: &str) -> Option<IgnoredSettings> {
        let notice = self.context.ignored_in(Path::new(repository))?;
        Some(IgnoredSettings {
            repository: repository.to_owned(),
            notice,
        })
    }

    /// Returns the wanted repository if it is known; by default the dashboard's own, or else the first.
    pub(crate) fn choose(
        &self,
        known: &[String],
        wanted: Option<&str>,
    ) -> Result<Option<String>, Error> {
        match wanted {
            Some(wanted) if known.iter().any(|path| path == wanted) => Ok(Some(wanted.to_owned())),
            Some(_) => Err(Error::new(
                Code::RepositoryNotFound,
                "no agent, task or pull request of this repository is known",
            )
            .hint("Use the path as it is listed, or start the dashboard inside the repository.")),
            None => Ok(self.own_repository().or_else(|| known.first().cloned())),
        }
    }

    /// Returns the context of the repository that a request names, or of the default one.
    pub(crate) async fn context_in(&self, wanted: Option<&str>) -> Result<Context, Error> {
        let known = self.repositories().await?;
        match self.choose(&known, wanted)? {
            Some(path) => self.context.in_repository(Path::new(&path)).await,
            None => Ok(self.context.clone()),
        }
    }
}
