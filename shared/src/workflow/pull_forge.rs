//! Pull requests of a repository, on whichever forge is in force.

use super::publish::Work;
use super::{Context, Forge, Run, forge, local_forge};
use crate::error::{Code, Error};
use crate::git::Repository;
use crate::model::{NewPullRequest, PullRequest};

/// The forge of a repository, ready to be asked.
pub(super) enum Pulls {
    Local,
}

impl Pulls {
    pub(super) async fn open(context: &Context, repository: &Repository) -> Result<Self, Error> {
        match forge(&context.environment, &context.settings().forge, repository).await? {
            Forge::Github { .. } => Err(Error::new(Code::NotAvailable, "not yet")),
            Forge::Local { .. } => Ok(Self::Local),
        }
    }

    /// Makes the pull request, or brings the open one of the same branch up to date.
    ///
    /// Returns it, and whether it is new.
    pub(super) async fn publish(
        &self,
        context: &Context,
        run: &Run,
        repository: &Repository,
        work: &Work,
        new: &NewPullRequest,
    ) -> Result<(PullRequest, bool), Error> {
        match self {
            Self::Local => {
                run.step("Opening the pull request")?;
                local_forge::publish(context, repository, work, new).await
            }
        }
    }
}
