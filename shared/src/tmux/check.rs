//! Version check: asks the tmux program for its version.

use super::command::{LIMITS, Tmux};
use super::error::{TmuxError, excerpt};
use super::version::{MINIMUM_VERSION, Version, parse};
use crate::process;

impl Tmux {
    /// Returns the version of the tmux binary; none for builds without a release number (`master`).
    pub async fn version(&self) -> Result<Option<Version>, TmuxError> {
        let finished = process::run(self.bare().arg("-V"), None, LIMITS).await?;
        let printed = finished.stdout_text();
        match printed.trim().strip_prefix("tmux ") {
            Some(version) if finished.status.success() => Ok(parse(version)),
            _ => Err(TmuxError::UnexpectedOutput {
                action: "-V",
                output: excerpt(&printed),
            }),
        }
    }

    /// Makes sure that tmux is there and new enough; development builds pass.
    pub async fn check(&self) -> Result<(), TmuxError> {
        match self.version().await? {
            Some(found) if found < MINIMUM_VERSION => Err(TmuxError::TooOld {
                found,
                needed: MINIMUM_VERSION,
            }),
            Some(_) | None => Ok(()),
        }
    }
}
