//! The coder behind a pull request: who is sent back, or approved, by its number.

use crate::error::{Code, Error};
use crate::model::pull_request::is_local_url;
use crate::model::{Instance, PullRequest, PullState, Status};
use crate::workflow::forges::pull_backend::PullBackend;
use crate::workflow::{Context, Run, Step};

/// Returns the coder of an open pull request; if several have worked on its branch, one at work, or else the last.
pub async fn coder_of_pull(context: &Context, run: &Run, number: u64) -> Result<Instance, Error> {
    let repository = context.repository()?;
    let forge = PullBackend::open(context, repository).await?;
    run.step(Step::LoadingPullRequest)?;
    let pull = forge.get(context, repository, number).await?;
    check_open(&pull)?;
    let coder = agent_of(context, &pull).await?;
    coder.ok_or_else(|| {
        Error::new(
            Code::InstanceNotFound,
            format!("no agent of this repository made pull request {number}"),
        )
        .hint(format!(
            "A new one continues its branch: `claude-codex code --branch {} --base {} \"…\"`.",
            pull.head_branch, pull.base_branch
        ))
    })
}

/// Refuses a pull request that is not open, and says how it goes on.
pub(crate) fn check_open(pull: &PullRequest) -> Result<(), Error> {
    let number = pull.number;
    let hint = match pull.state {
        PullState::Open => return Ok(()),
        PullState::Closed => format!("`claude-codex pr reopen {number}` opens it again."),
        PullState::Merged => {
            "What is left to do is new work: `claude-codex code \"…\"`.".to_owned()
        }
    };
    Err(Error::new(
        Code::PullRequestNotOpen,
        format!("pull request {number} is {}", pull.state),
    )
    .hint(hint))
}

/// Returns the agent of a pull request, if this database knows it.
pub(crate) async fn agent_of(
    context: &Context,
    pull: &PullRequest,
) -> Result<Option<Instance>, Error> {
    let key = Context::repository_key(context.repository()?.root());
    let published = context.store.read(move |r| r.published(&key)).await?;
    Ok(agent_among(&published, pull).cloned())
}

/// Returns the agent of a pull request among those that have published.
pub(crate) fn agent_among<'a>(
    published: &'a [Instance],
    pull: &PullRequest,
) -> Option<&'a Instance> {
    let is_local = is_local_url(&pull.url);
    let its = published.iter().filter(|instance| {
        let url = instance.pr_url.as_deref().unwrap_or_default();
        instance.pr_number == Some(pull.number) && is_local_url(url) == is_local
    });
    its.max_by_key(|instance| (rank(instance.status), instance.created_at))
}

fn rank(status: Status) -> u8 {
    match status {
        status if status.is_live() => 2,
        Status::PrCreated => 1,
        _ => 0,
    }
}
