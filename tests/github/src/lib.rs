//! A GitHub on loopback, for tests: issues and pull requests with memory, and a real git remote.
//!
//! One [`ScriptedGithub`] serves one repository. [`url`](ScriptedGithub::url) is its API (also below
//! `/api/v3`, as Enterprise has it), [`git_url`](ScriptedGithub::git_url) what `git remote` gets. With a bare
//! repository it knows real branches and really merges; without one, every branch exists. Tests look into and
//! change the [`State`] at will, and queue a [`Fault`] for what a network or a server can do wrong.

mod answer;
mod api;
mod backend;
mod fault;
mod issues;
mod pulls;
mod repository;
mod state;

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loopback_http::{Connection, Request, start_on_thread};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use answer::Answer;
pub use fault::{Fault, Trouble};
pub use repository::Bare;
pub use state::{Issue, Mergeability, Pull, Rate, State};

/// What a client must show, unless the state says otherwise.
pub const TOKEN: &str = "ghp_scriptedGithubToken0123456789";

/// A request to the API, as it was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    pub method: String,
    /// Without the query.
    pub path: String,
    pub query: String,
    /// Null if there was none, or none that is JSON.
    pub body: Value,
    /// None if the connection was dropped instead.
    pub status: Option<u16>,
}

/// A running GitHub; dropping it ends the server.
#[derive(Debug)]
pub struct ScriptedGithub {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    faults: Mutex<Vec<Fault>>,
    seen: Mutex<Vec<Seen>>,
    address: SocketAddr,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ScriptedGithub {
    /// Serves the repository `octo/hello`, in which every branch exists.
    pub async fn start() -> io::Result<Self> {
        Self::serve(State::default(), 0).await
    }

    /// Serves `octo/hello` with a real repository, made bare and empty as `octo/hello.git` in this folder.
    pub async fn with_repository(folder: &Path) -> io::Result<Self> {
        let mut state = State::default();
        state.bare = Some(Bare::create(folder, &state.owner, &state.name)?);
        Self::serve(state, 0).await
    }

    /// Does the same for tests that are not async.
    pub fn on_thread(folder: &Path) -> io::Result<Self> {
        let folder = folder.to_owned();
        start_on_thread(|| async move { Self::with_repository(&folder).await })
    }

    /// Serves this state on a port, or on a free one for 0.
    pub async fn serve(state: State, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            faults: Mutex::default(),
            seen: Mutex::default(),
            address,
        });
        let served = Arc::clone(&shared);
        let task = tokio::spawn(loopback_http::serve(listener, move |connection| {
            serve(connection, Arc::clone(&served))
        }));
        Ok(Self {
            address,
            shared,
            task,
        })
    }

    /// Returns what `GITHUB_API_URL` must be.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the address for git, without a token in it.
    pub fn git_url(&self) -> String {
        let state = self.state();
        format!("http://{}/{}/{}.git", self.address, state.owner, state.name)
    }

    /// Returns what there is, to look at and to change. Don't keep it across an await.
    pub fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.shared.state)
    }

    /// Lets requests that match go wrong; of several faults the first that matches counts.
    pub fn fail(&self, fault: Fault) {
        locked(&self.shared.faults).push(fault);
    }

    /// Takes back all faults that are still to come.
    pub fn forgive(&self) {
        locked(&self.shared.faults).clear();
    }

    /// Returns all requests to the API so far.
    pub fn requests(&self) -> Vec<Seen> {
        locked(&self.shared.seen).clone()
    }

    /// Returns how many requests of a method went to paths that end so.
    pub fn count(&self, method: &str, path_end: &str) -> usize {
        let seen = locked(&self.shared.seen);
        seen.iter()
            .filter(|seen| seen.method == method && seen.path.ends_with(path_end))
            .count()
    }
}

impl Drop for ScriptedGithub {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves one connection until either side closes it.
async fn serve(mut connection: Connection, shared: Arc<Shared>) -> io::Result<()> {
    while let Some(request) = connection.next_request().await? {
        if let Some(answer) = backend::answer(&shared.state, &request).await? {
            let Answer {
                status,
                headers,
                body,
            } = answer;
            connection.respond(status, &headers, &body).await?;
            continue;
        }
        let trouble = fault::take(&mut locked(&shared.faults), &request);
        let answer = fault::apply(trouble, || {
            api::answer(&mut locked(&shared.state), shared.address, &request)
        })
        .await;
        record(&shared, &request, answer.as_ref());
        let Some(Answer {
            status,
            headers,
            body,
        }) = answer
        else {
            return Ok(());
        };
        connection.respond(status, &headers, &body).await?;
    }
    Ok(())
}

fn record(shared: &Shared, request: &Request, answer: Option<&Answer>) {
    locked(&shared.seen).push(Seen {
        method: request.method.clone(),
        path: request.path.clone(),
        query: request.query.clone(),
        body: serde_json::from_slice(&request.body).unwrap_or(Value::Null),
        status: answer.map(|answer| answer.status),
    });
}
