//! A model that answers by script: enough of the Messages API, on loopback, for the real Claude Code.
//!
//! Tests start one [`Model`], give it [`Rule`]s and point `ANTHROPIC_BASE_URL` at it. Every request
//! is kept, and logged as one JSON line if asked. No rule, or no tools in the request (titles and
//! other side requests), means a short fixed text.

mod messages;
mod request;
mod script;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loopback_http::{Connection, start_on_thread};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use request::{last_user_text, system_text};
pub use script::{Answer, Block, Failure, Rule, Script};

/// A running scripted model; dropping it ends the server and every open answer.
#[derive(Debug)]
pub struct Model {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    script: Mutex<Script>,
    seen: Mutex<Vec<Value>>,
    log: Option<Mutex<std::fs::File>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Model {
    /// Listens on a free loopback port, or on the given one.
    pub async fn start(rules: Vec<Rule>, log: Option<&Path>, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let address = listener.local_addr()?;
        let log = log
            .map(|path| {
                std::fs::OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(path)
            })
            .transpose()?
            .map(Mutex::new);
        let shared = Arc::new(Shared {
            script: Mutex::new(Script::new(rules)),
            seen: Mutex::new(Vec::new()),
            log,
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

    /// Starts a model for tests that are not async.
    pub fn on_thread(rules: Vec<Rule>) -> io::Result<Self> {
        start_on_thread(|| Self::start(rules, None, 0))
    }

    /// Returns the variables that make Claude Code talk to this model, and to nobody else.
    pub fn claude_variables(&self) -> [(&'static str, String); 6] {
        [
            ("ANTHROPIC_BASE_URL", self.url()),
            ("ANTHROPIC_AUTH_TOKEN", "dummy-token".to_owned()),
            ("DISABLE_TELEMETRY", "1".to_owned()),
            ("DISABLE_ERROR_REPORTING", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ]
    }

    /// Returns what `ANTHROPIC_BASE_URL` must be.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds a rule behind the others.
    pub fn add(&self, rule: Rule) {
        locked(&self.shared.script).add(rule);
    }

    /// Returns the bodies of all message requests so far, side requests included.
    pub fn requests(&self) -> Vec<Value> {
        locked(&self.shared.seen).clone()
    }

    /// Returns the requests of conversations (those that offer tools).
    pub fn conversations(&self) -> Vec<Value> {
        self.requests()
            .into_iter()
            .filter(request::offers_tools)
            .collect()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves one connection until the client closes it.
async fn serve(mut connection: Connection, shared: Arc<Shared>) -> io::Result<()> {
    while let Some(request) = connection.next_request().await? {
        match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/v1/messages") => answer(&mut connection, &request.body, &shared).await?,
            ("POST", "/v1/messages/count_tokens") => {
                connection.json(200, &json!({"input_tokens": 100})).await?;
            }
            ("HEAD" | "GET", "/") => connection.json(200, &json!({})).await?,
            (method, path) => {
                let message = format!("no such endpoint: {method} {path}");
                connection
                    .json(404, &messages::error_body("not_found_error", &message))
                    .await?;
            }
        }
    }
    Ok(())
}

async fn answer(connection: &mut Connection, body: &[u8], shared: &Shared) -> io::Result<()> {
    let Ok(request) = serde_json::from_slice::<Value>(body) else {
        let body = messages::error_body("invalid_request_error", "the body is not JSON");
        return connection.json(400, &body).await;
    };
    record(shared, &request)?;
    let reply = if request::offers_tools(&request) {
        locked(&shared.script).answer(&request)
    } else {
        Answer::text("A title").into()
    };
    if let Some(failure) = &reply.answer.failure {
        let body = messages::error_body(&failure.kind, &failure.message);
        return connection.json(failure.status, &body).await;
    }
    let model = request["model"].as_str().unwrap_or("scripted");
    if request["stream"].as_bool() == Some(true) {
        connection.begin_stream("text/event-stream").await?;
        for event in messages::events(model, &reply) {
            tokio::time::sleep(reply.answer.delay()).await;
            connection.chunk(&messages::as_sent(&event)).await?;
        }
        connection.end_stream().await
    } else {
        tokio::time::sleep(reply.answer.delay()).await;
        connection.json(200, &messages::whole(model, &reply)).await
    }
}

fn record(shared: &Shared, request: &Value) -> io::Result<()> {
    locked(&shared.seen).push(request.clone());
    if let Some(log) = &shared.log {
        let mut line = request.to_string();
        line.push('\n');
        locked(log).write_all(line.as_bytes())?;
    }
    Ok(())
}
