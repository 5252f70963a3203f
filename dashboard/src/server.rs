//! The HTTP server: binds the port, starts background tasks, shuts down gracefully.

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

use crate::app::{App, AppState, LastCounts, Options};
use crate::change_feed::ChangeFeed;
use crate::keys::{self, Keys};
use crate::terminal::Terminals;
use crate::work_sizes::WorkSizes;
use crate::{background, routes};

/// How long actions in progress may take to finish.
const WORK_GRACE: Duration = Duration::from_secs(20);
/// How long open connections may take after that.
const CONNECTION_GRACE: Duration = Duration::from_secs(2);

/// A dashboard that is bound to its port and not serving yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: AppState,
}

impl Server {
    /// Binds the port.
    pub async fn bind(context: Context, mut options: Options) -> Result<Self, Error> {
        let wanted = options.address;
        let listener = TcpListener::bind(wanted)
            .await
            .map_err(|source| cannot_bind(wanted, &source))?;
        let address = listener
            .local_addr()
            .map_err(|source| cannot_bind(wanted, &source))?;
        options.address = address;
        let token = keys::token(context.state_dir())?;
        let (change_feed, stop) = (ChangeFeed::new(), CancellationToken::new());
        let terminals = Terminals::new(context.clone(), change_feed.clone(), stop.clone());
        let app = App {
            keys: Keys::new(token, address.port()),
            change_feed,
            terminals,
            counts: LastCounts::default(),
            work_sizes: WorkSizes::default(),
            work: TaskTracker::new(),
            stop,
            context,
            options,
        };
        Ok(Self {
            listener,
            address,
            app: Arc::new(app),
        })
    }

    /// Returns the address that it is bound to.
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

    pub fn change_feed(&self) -> ChangeFeed {
        self.app.change_feed.clone()
    }

    pub fn token(&self) -> &Secret {
        self.app.keys.token()
    }

    /// Serves until `stop`; then finishes actions in progress and ends all streams.
    pub async fn run(self, stop: CancellationToken) -> Result<(), Error> {
        let app = self.app;
        let watching = tokio::spawn(background::watch_database(Arc::clone(&app)));
        let activity = tokio::spawn(background::watch_activity(Arc::clone(&app)));
        let measuring = tokio::spawn(background::measure_work(Arc::clone(&app)));
        let syncing = tokio::spawn(background::sync(Arc::clone(&app)));
        let (ended, asked) = (app.stop.clone(), stop.clone());
        let signal = async move {
            asked.cancelled().await;
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
        // Agents that are being launched or stopped are left in a consistent state.
        let _ = tokio::time::timeout(WORK_GRACE, app.work.wait()).await;
        app.terminals.ended().await;
        let served = match served {
            Some(served) => Some(served),
            None => tokio::time::timeout(CONNECTION_GRACE, &mut serving)
                .await
                .ok(),
        };
        serving.abort();
        syncing.abort();
        measuring.abort();
        let _ = tokio::join!(watching, activity);
        match served {
            Some(Ok(Err(source))) => Err(Error::new(
                Code::Internal,
                format!("the server has failed: {source}"),
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
        .hint("Another dashboard may be running. Choose another port with `--port N`, or any free one with `--port 0`."),
        io::ErrorKind::PermissionDenied => Error::argument(
            "port",
            format!("{port} needs privileges that this user does not have"),
        ),
        _ => Error::argument(
            "host",
            format!("cannot listen on {address}: {source}"),
        ),
    }
}
