//! Versions of the servers: those of another release than this program are an error, for agents would get them.

use std::path::Path;
use std::time::Duration;

use shared::config::Environment;
use shared::error::{Code, Error};
use shared::model::InstanceKind;
use shared::process::{self, Limits};

use super::Check;
use crate::server_paths;

/// The release of this program.
const OWN_VERSION: &str = env!("CARGO_PKG_VERSION");
/// A server prints its version in milliseconds.
const LIMITS: Limits = Limits {
    time: Duration::from_secs(5),
    output: 4 << 10,
};

pub(super) async fn check(kind: InstanceKind, environment: &Environment) -> Check {
    let name = kind.server_name();
    let path = match server_paths::find(kind, environment) {
        Ok(path) => path,
        Err(error) => return Check::error(name, error),
    };
    let place = path.display();
    let problem = match version(name, &path).await {
        Some(version) if version == OWN_VERSION => {
            return Check::ok(name, format!("{version}, {place}"));
        }
        Some(version) => {
            format!("{place} is of release {version}, and claude-codex of {OWN_VERSION}")
        }
        None => format!("{place} does not tell its version"),
    };
    let error = Error::new(Code::ServerMissing, problem);
    Check::error(
        name,
        error.hint("Install all four programs from one clone with scripts/install."),
    )
}

/// Returns the version that a server tells; `None` if it can't be run or says something else.
async fn version(name: &str, path: &Path) -> Option<String> {
    let mut command = process::command(path, ["--version"]);
    let finished = process::run(&mut command, None, LIMITS).await.ok()?;
    let printed = finished.stdout_text();
    let version = printed.trim().strip_prefix(name)?.trim();
    (finished.status.success() && !version.is_empty()).then(|| version.to_owned())
}
