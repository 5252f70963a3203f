//! What all handlers share.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use shared::error::{Code, Error};
use shared::model::{Instance, InstanceId, Secret};
use shared::workflow::Context;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::changes::Changes;
use crate::guard::Keys;
use crate::terminal::Terminals;
use crate::view::{Counts, IgnoredSettings};

/// How the dashboard is to be served.
#[derive(Debug, Clone)]
pub struct Options {
    pub address: SocketAddr,
    /// Refuse whatever would change something.
    pub read_only: bool,
    /// Names, beside addresses and `localhost`, by which it may be called.
    pub host_names: Vec<String>,
    /// What signs GitHub's webhooks; without one there are none.
    pub webhook_secret: Option<Secret>,
}

/// The one state of the server. Nothing in it has to outlive it.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) context: Context,
    pub(crate) options: Options,
    pub(crate) keys: Keys,
    pub(crate) changes: Changes,
    pub(crate) terminals: Terminals,
    pub(crate) counts: LastCounts,
    /// What a person has asked for and is under way; it is finished even if nobody waits for it.
    pub(crate) work: TaskTracker,
    /// The end: streams stop, no new work is begun.
    pub(crate) stop: CancellationToken,
}

/// How many agents are in each column, of the last state in which somebody asked.
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

pub(crate) type Shared = Arc<App>;

impl App {
    /// Returns one agent's row.
    pub(crate) async fn instance(&self, id: &InstanceId) -> Result<Instance, Error> {
        let id = id.clone();
        Ok(self.context.store.read(move |r| r.instance(&id)).await?)
    }

    /// Returns the surroundings of an agent's repository.
    ///
    /// Where that is gone, those that the dashboard was started in: an agent without a repository can
    /// still be ended.
    pub(crate) async fn context_of(&self, instance: &Instance) -> Context {
        match self.context.in_repository(&instance.repository).await {
            Ok(context) => context,
            Err(_) => self.context.clone(),
        }
    }

    /// Returns the repositories that can be chosen: those that are known, and the one we stand in.
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

    /// Says what of a repository's own settings and prompts is ignored, if any is.
    pub(crate) fn ignored_in(&self, repository: &str) -> Option<IgnoredSettings> {
        let notice = self.context.ignored_in(Path::new(repository))?;
        Some(IgnoredSettings {
            repository: repository.to_owned(),
            notice,
        })
    }

    /// Returns the one that was asked for if it is known, else our own, else any.
    pub(crate) fn choose(
        &self,
        known: &[String],
        wanted: Option<&str>,
    ) -> Result<Option<String>, Error> {
        match wanted {
            Some(wanted) if known.iter().any(|path| path == wanted) => Ok(Some(wanted.to_owned())),
            Some(_) => Err(Error::new(
                Code::RepositoryNotFound,
                "no agent, task or pull request is known of this repository",
            )
            .hint("Give its path as it is listed, or start the dashboard inside of it.")),
            None => Ok(self.own_repository().or_else(|| known.first().cloned())),
        }
    }

    /// Returns the surroundings of a repository that may be named in a request: a known one, or our own.
    pub(crate) async fn context_in(&self, wanted: Option<&str>) -> Result<Context, Error> {
        let known = self.repositories().await?;
        match self.choose(&known, wanted)? {
            Some(path) => self.context.in_repository(Path::new(&path)).await,
            None => Ok(self.context.clone()),
        }
    }
}
