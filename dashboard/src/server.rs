//! From a free port to a graceful end.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use shared::error::{Code, Error};
use shared::model::Secret;
use shared::workflow::Context;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::app::{App, LastCounts, Options, Shared};
use crate::changes::{self, Changes, Viewers};
use crate::guard::{self, Keys};
use crate::terminal::Terminals;
use crate::{background, routes};

/// How long work that was begun may take to end.
const GRACE: Duration = Duration::from_secs(20);
/// How long open connections may take after that.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A dashboard that has its port and is not being served yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: Shared,
}

impl Server {
    /// Takes the port.
    pub async fn bind(context: Context, mut options: Options) -> Result<Self, Error> {
        let wanted = options.address;
        let listener = TcpListener::bind(wanted)
            .await
            .map_err(|source| cannot_bind(wanted, &source))?;
        let address = listener
            .local_addr()
            .map_err(|source| cannot_bind(wanted, &source))?;
        options.address = address;
        let token = guard::token(context.state_dir())?;
        let terminals = Terminals::new(context.state_dir());
        let app = App {
            keys: Keys::new(token, address.port()),
            changes: Changes::new(),
            terminals,
            counts: LastCounts::default(),
            work: TaskTracker::new(),
            stop: CancellationToken::new(),
            context,
            options,
        };
        Ok(Self {
            listener,
            address,
            app: Arc::new(app),
        })
    }

    /// Returns where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns its address for a browser on this machine, without the token.
    pub fn url(&self) -> String {
        let host = match self.address.ip() {
            ip if ip.is_unspecified() => "127.0.0.1".to_owned(),
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        format!("http://{host}:{}/", self.address.port())
    }

    /// Returns what tells when somebody looks.
    pub fn viewers(&self) -> Viewers {
        self.app.changes.viewers()
    }

    pub fn token(&self) -> &Secret {
        self.app.keys.token()
    }

    /// Serves until told to stop; then what was begun is finished, and streams end.
    pub async fn run(self, stop: CancellationToken) -> Result<(), Error> {
        let app = self.app;
        let watching = tokio::spawn(changes::watch_database(Arc::clone(&app)));
        let activity = tokio::spawn(changes::watch_activity(Arc::clone(&app)));
        let syncing = tokio::spawn(background::sync(Arc::clone(&app)));
        let (ended, told) = (app.stop.clone(), stop.clone());
        let signal = async move {
            told.cancelled().await;
            ended.cancel();
        };
        let serve = axum::serve(self.listener, routes::router(&app)).with_graceful_shutdown(signal);
        let mut serving = tokio::spawn(serve.into_future());
        let served = tokio::select! {
            served = &mut serving => Some(served),
            () = stop.cancelled() => None,
        };
        app.stop.cancel();
        app.work.close();
        // Agents that are being launched or put away are left in order.
        let _ = tokio::time::timeout(GRACE, app.work.wait()).await;
        app.terminals.end().await;
        let served = match served {
            Some(served) => Some(served),
            None => tokio::time::timeout(LAST_WORDS, &mut serving).await.ok(),
        };
        serving.abort();
        syncing.abort();
        let _ = tokio::join!(watching, activity);
        match served {
            Some(Ok(Err(source))) => Err(Error::new(
                Code::Internal,
                format!("cannot serve any longer: {source}"),
            )),
            Some(_) | None => Ok(()),
        }
    }
}

fn cannot_bind(address: SocketAddr, source: &io::Error) -> Error {
    let port = address.port();
    match source.kind() {
        io::ErrorKind::AddrInUse => Error::new(
            Code::AddressInUse,
            format!("port {port} of {} is in use", address.ip()),
        )
        .hint("Another dashboard may be up. Choose another port with `--port N`, or any free one with `--port 0`."),
        io::ErrorKind::PermissionDenied => Error::argument(
            "port",
            format!("{port} needs more rights than this user has"),
        ),
        _ => Error::argument(
            "host",
            format!("can't be listened on: {address}: {source}"),
        ),
    }
}
