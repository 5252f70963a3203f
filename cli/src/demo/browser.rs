//! The demo in the browser: a dashboard of its own, which waits for whoever watches.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use dashboard::{Options, Server};
use shared::error::{Code, Error};
use shared::workflow::Context;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;
use crate::output::{BOLD, DIM, Output};

/// What a person needs to find the window.
const PATIENCE: Duration = Duration::from_mins(2);

/// A dashboard that is up.
#[derive(Debug)]
pub(super) struct Browser {
    viewers: dashboard::Viewers,
    stop: CancellationToken,
    served: JoinHandle<Result<(), Error>>,
}

impl Browser {
    /// Brings it up on its usual port, or on any if that is taken, and says where it is.
    pub(super) async fn open(context: &Context, output: Output) -> Result<Self, Failure> {
        let usual = context.settings().dashboard.port;
        let server = match bind(context, usual).await {
            Err(error) if error.code == Code::AddressInUse => bind(context, 0).await?,
            bound => bound?,
        };
        let token = server.token().expose();
        output.print(&format!(
            "Open this in a browser, and it begins:\n  {BOLD}{}?token={token}{BOLD:#}\n{DIM}  or wait {} s{DIM:#}\n\n",
            server.url(),
            PATIENCE.as_secs(),
        ))?;
        let stop = CancellationToken::new();
        Ok(Self {
            viewers: server.viewers(),
            served: tokio::spawn(server.run(stop.clone())),
            stop,
        })
    }

    /// Waits until somebody looks, but not for ever.
    pub(super) async fn somebody_looks(&self) {
        let _ = tokio::time::timeout(PATIENCE, self.viewers.first()).await;
    }

    pub(super) async fn close(self) {
        self.stop.cancel();
        // How it ended matters to nobody: the demo is over.
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
