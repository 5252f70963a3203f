//! `demo --dashboard`: serves a dashboard and waits for the first browser.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use dashboard::{Options, Server};
use shared::error::{Code, Error};
use shared::workflow::Context;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;
use crate::output::{BOLD, DIM, Output};

/// How long the demo waits for a browser before it starts.
const VIEWER_TIMEOUT: Duration = Duration::from_mins(2);

/// A running dashboard.
#[derive(Debug)]
pub(super) struct Browser {
    change_feed: dashboard::ChangeFeed,
    stop: CancellationToken,
    served: JoinHandle<Result<(), Error>>,
}

impl Browser {
    /// Starts it on its usual port, or on a free one if that is taken, and prints the address.
    pub(super) async fn open(context: &Context, output: Output) -> Result<Self, Failure> {
        let usual = context.settings().dashboard.port;
        let server = match bind(context, usual).await {
            Err(error) if error.code == Code::AddressInUse => bind(context, 0).await?,
            bound => bound?,
        };
        let token = server.token().expose();
        output.print(&format!(
            "Open this address in a browser to start:\n  {BOLD}{}?token={token}{BOLD:#}\n{DIM}  or wait {} s{DIM:#}\n\n",
            server.url(),
            VIEWER_TIMEOUT.as_secs(),
        ))?;
        let stop = CancellationToken::new();
        Ok(Self {
            change_feed: server.change_feed(),
            served: tokio::spawn(server.run(stop.clone())),
            stop,
        })
    }

    /// Waits for the first browser, until the timeout.
    pub(super) async fn wait_for_viewer(&self) {
        let _ = tokio::time::timeout(VIEWER_TIMEOUT, self.change_feed.first_viewer()).await;
    }

    pub(super) async fn close(self) {
        self.stop.cancel();
        // Errors do not matter: the demo is over.
        let _ = self.served.await;
    }
}

async fn bind(context: &Context, port: u16) -> Result<Server, Error> {
    let options = Options {
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        read_only: false,
        host_names: Vec::new(),
        webhook_secret: None,
    };
    Server::bind(context.clone(), options).await
}
