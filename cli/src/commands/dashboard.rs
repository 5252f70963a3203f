//! `claude-codex dashboard`

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use clap::Args;
use dashboard::{Options, Server};
use serde_json::json;
use shared::error::{Code, Error};
use shared::model::Secret;
use shared::workflow::Context;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::command_context;
use crate::failure::Failure;
use crate::output::{BOLD, DIM, Output, WARNING};

/// Shorter webhook secrets are refused.
const MIN_SECRET_BYTES: usize = 16;

const EXAMPLES: &str = "\
Examples:
  claude-codex dashboard                       print an address to open in a browser
  claude-codex dashboard --port 0 --json       use any free port; print address and token as JSON
  claude-codex dashboard --read-only           for a second screen

It listens on this machine only. From another machine, use a tunnel:
  ssh -L 4620:127.0.0.1:4620 HOST              then open the printed address there

Ctrl-C ends it; agents keep working.";

/// Watch and control all agents from the browser
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DashboardArgs {
    /// The port to listen on; 0 picks a free one [default: dashboard.port, 4620]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,
    /// Listen on an address that other machines can reach; anyone with the token can then act as you
    #[arg(long)]
    allow_remote: bool,
    /// A host name that browsers may use besides the address; can be given several times
    #[arg(long = "host-name", value_name = "NAME")]
    host_names: Vec<String>,
    /// Show everything and change nothing
    #[arg(long)]
    read_only: bool,
}

pub(crate) async fn dashboard(args: DashboardArgs, output: Output) -> Result<(), Failure> {
    if !args.host.is_loopback() && !args.allow_remote {
        return Err(Error::new(
            Code::InvalidArguments,
            format!("{} can be reached from other machines", args.host),
        )
        .hint("Use a tunnel (`ssh -L 4620:127.0.0.1:4620 HOST`), or pass --allow-remote: anyone with the token can then run commands as you, and the token travels unencrypted.")
        .into());
    }
    let context = command_context::open(output).await?;
    let settings = &context.settings().dashboard;
    let options = Options {
        address: SocketAddr::new(args.host, args.port.unwrap_or(settings.port)),
        read_only: args.read_only,
        host_names: args.host_names,
        webhook_secret: webhook_secret(&context)?,
    };
    shared::logging::start(&context.environment, "dashboard");
    let stop = stopped_by_signals()?;
    let server = Server::bind(context, options).await?;
    announce(&server, &args.host, output)?;
    server.run(stop).await?;
    Ok(())
}

fn announce(server: &Server, host: &IpAddr, output: Output) -> Result<(), Failure> {
    let token = server.token().expose();
    let url = server.url();
    if output.is_json() {
        return output.document_line(&json!({
            "url": format!("{url}?token={token}"),
            "address": server.address().to_string(),
            "token": token,
        }));
    }
    if !host.is_loopback() {
        output.note(
            "warning",
            WARNING,
            "other machines can reach this; anyone with the token can run commands as you, and the token travels unencrypted",
        );
    }
    output.print(&format!(
        "{BOLD}{url}?token={token}{BOLD:#}\n{DIM}Ctrl-C ends it; agents keep working.{DIM:#}\n"
    ))
}

/// Returns a token that SIGINT and SIGTERM cancel.
fn stopped_by_signals() -> Result<CancellationToken, Error> {
    let failed = |source: std::io::Error| {
        Error::new(Code::Internal, format!("cannot wait for signals: {source}"))
    };
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let stop = CancellationToken::new();
    let cancelled = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        cancelled.cancel();
    });
    Ok(stop)
}

/// Reads the secret of GitHub's webhook, if one is configured.
fn webhook_secret(context: &Context) -> Result<Option<Secret>, Error> {
    let file = &context.settings().dashboard.webhook_secret_file;
    if file.is_empty() {
        return Ok(None);
    }
    let path = context.environment.directory().join(Path::new(file));
    let wrong = |problem: String| {
        Error::new(
            Code::ConfigInvalid,
            format!("dashboard.webhookSecretFile: {} {problem}", path.display()),
        )
        .hint("Write the webhook secret that you gave GitHub into it: at least 16 characters, readable only by you.")
    };
    let text =
        fs::read_to_string(&path).map_err(|source| wrong(format!("cannot be read: {source}")))?;
    let secret = text.trim();
    if secret.len() < MIN_SECRET_BYTES {
        return Err(wrong("has a secret of fewer than 16 characters".to_owned()));
    }
    Ok(Some(Secret::new(secret)))
}
