//! `sync`: propagates pull-request state (merged, closed, reopened) to agents and tasks.

use super::fresh_standings::{refresh_after, tell};
use super::moved_branch::moved_tip;
use super::standing::heard;
use crate::error::{Code, Error};
use crate::git::Repository;
use crate::model::pull_request::is_local_url;
use crate::model::{
    Instance, InstanceId, InstanceKind, PullRequest, PullState, Status, StatusEvent, TaskStatus,
};
use crate::process;
use crate::workflow::forges::pull_backend::PullBackend;
use crate::workflow::instance::ownership::wait_until_unowned;
use crate::workflow::lifecycle::finish::{finish, finish_reviewer};
use crate::workflow::{Context, Run, Step};

/// An agent that followed its pull request.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Synced {
    pub id: InstanceId,
    pub pr_number: u64,
    pub pr_url: String,
    pub from: Status,
    pub to: Status,
    /// How many commits its branch has that its open pull request lacks.
    #[serde(skip_serializing_if = "is_zero")]
    pub new_commits: usize,
    /// What of its work was kept, and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Synced {
    /// Tells whether the agent's status has changed.
    pub fn has_moved(&self) -> bool {
        self.from != self.to
    }
}

/// Asks what became of the pull requests of this repository's agents, and moves those along; reports branches that moved.
///
/// One that can't be asked about does not keep the others from moving; the first such failure is
/// returned when all were asked.
pub async fn sync(context: &Context, run: &Run) -> Result<Vec<Synced>, Error> {
    let repository = context.repository()?;
    let published = published(context).await?;
    if published.is_empty() {
        return Ok(Vec::new());
    }
    // A token is looked for only where somebody is asked.
    let is_local = |instance: &Instance| instance.pr_url.as_deref().is_none_or(is_local_url);
    let forge = if published.iter().all(is_local) {
        PullBackend::Local
    } else {
        PullBackend::open(context, repository).await?
    };
    let mut synced = Vec::new();
    let mut failure = None;
    for instance in published {
        let (Some(number), Some(url)) = (instance.pr_number, &instance.pr_url) else {
            continue;
        };
        run.step(Step::SyncingPullRequest(number))?;
        let pull = if is_local_url(url) {
            PullBackend::Local.get(context, repository, number).await
        } else {
            match &forge {
                PullBackend::Github(github) => match github.get(context, number).await {
                    Ok(pull) => own_pull(&instance, pull, url),
                    Err(error) => Err(error),
                },
                PullBackend::Local => Err(Error::new(
                    Code::ForgeNotConfigured,
                    format!("{url} can't be asked about: the forge is local now"),
                )
                .hint("`claude-codex doctor` says why; GITHUB_TOKEN may be missing.")),
            }
        };
        let followed = match pull {
            Ok(pull) => {
                if let Err(error) = keep_what_was_heard(context, repository, &pull).await {
                    tracing::warn!(code = %error.code, %error, "cannot tell how {} stands", pull.url);
                }
                match follow(context, run, &instance, &pull).await {
                    Ok(None) => behind_branch(repository, &instance, &pull).await,
                    followed => followed,
                }
            }
            Err(error) => Err(error),
        };
        match followed {
            Ok(moved) => synced.extend(moved),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    refresh_after(context, repository.root()).await;
    match failure {
        None => Ok(synced),
        Some(error) => Err(error),
    }
}

/// Keeps how a pull request on GitHub stands, for boards; has the person told if it has got stuck.
async fn keep_what_was_heard(
    context: &Context,
    repository: &Repository,
    pull: &PullRequest,
) -> Result<(), Error> {
    if is_local_url(&pull.url) {
        return Ok(());
    }
    let (key, number) = (Context::repository_key(repository.root()), pull.number);
    let wanted = key.clone();
    let before = context
        .store
        .read(move |r| r.pull_standing(&wanted, false, number))
        .await?;
    if pull.state != PullState::Open {
        if before.is_some() {
            let forgotten = context
                .store
                .write(move |w| w.forget_pull_standing(&key, false, number));
            forgotten.await?;
        }
        return Ok(());
    }
    let now = heard(context, repository, pull).await?;
    let was_stuck = before.is_some_and(|it| it.is_stuck() && it.head_commit == now.head_commit);
    if now.is_stuck() && !was_stuck {
        tell(context);
    }
    Ok(())
}

/// Reports an agent whose branch has commits that its pull request lacks, though it does not work on them.
async fn behind_branch(
    repository: &Repository,
    instance: &Instance,
    pull: &PullRequest,
) -> Result<Option<Synced>, Error> {
    let is_its_branch = instance.branch_name.as_ref() == Some(&pull.head_branch);
    if instance.status != Status::PrCreated || !is_its_branch {
        return Ok(None);
    }
    let moved = moved_tip(repository, pull).await?;
    Ok(moved.map(|moved| Synced {
        id: instance.id.clone(),
        pr_number: pull.number,
        pr_url: pull.url.clone(),
        from: instance.status,
        to: instance.status,
        new_commits: moved.commits,
        kept: None,
    }))
}

/// Refuses the pull request of another repository that has the same number: the remote may have changed.
///
/// In a repository that was renamed, it has another address and the same branch.
fn own_pull(instance: &Instance, pull: PullRequest, url: &str) -> Result<PullRequest, Error> {
    if pull.url == url || Some(&pull.head_branch) == instance.branch_name.as_ref() {
        return Ok(pull);
    }
    Err(Error::new(
        Code::ForgeNotFound,
        format!("{url} can't be asked about: {} is another one", pull.url),
    )
    .hint("The remote leads to another repository now; sync again when it leads to that one."))
}

/// Moves the agents of one pull request.
pub(crate) async fn follow_pull(
    context: &Context,
    run: &Run,
    pull: &PullRequest,
) -> Result<Vec<Synced>, Error> {
    let mut synced = Vec::new();
    for instance in published(context).await? {
        if instance.pr_number == Some(pull.number) && instance.pr_url.as_deref() == Some(&pull.url)
        {
            synced.extend(follow(context, run, &instance, pull).await?);
        }
    }
    Ok(synced)
}

async fn published(context: &Context) -> Result<Vec<Instance>, Error> {
    let key = Context::repository_key(context.repository()?.root());
    let published = context.store.read(move |r| r.published(&key)).await?;
    Ok(published)
}

/// Returns what the state of its pull request means for an agent and its task.
fn next_move(status: Status, pull: PullState) -> Option<(StatusEvent, TaskStatus)> {
    let (event, task) = match pull {
        PullState::Merged => (StatusEvent::Merged, TaskStatus::Done),
        PullState::Closed => (StatusEvent::Closed, TaskStatus::Open),
        PullState::Open => (StatusEvent::Reopened, TaskStatus::InProgress),
    };
    // The publication that is under way decides first.
    let status = match status {
        Status::CreatingPr => Status::PrCreated,
        status => status,
    };
    let next = status.next(InstanceKind::Coding, event);
    next.is_ok().then_some((event, task))
}

/// Moves one agent, settles its task, and puts it away once its pull request is not open.
async fn follow(
    context: &Context,
    run: &Run,
    instance: &Instance,
    pull: &PullRequest,
) -> Result<Option<Synced>, Error> {
    if next_move(instance.status, pull.state).is_none() {
        return Ok(None);
    }
    let ends = pull.state != PullState::Open;
    wait_until_unowned(context, run, &instance.id).await?;
    // It may have published, or failed to, while it was waited for.
    let id = instance.id.clone();
    let instance = &context.store.read(move |r| r.instance(&id)).await?;
    let Some((event, task_status)) = next_move(instance.status, pull.state) else {
        return Ok(None);
    };
    let (id, task, seen) = (
        instance.id.clone(),
        instance.task_id.clone(),
        instance.status,
    );
    let change = context
        .store
        .write(move |w| {
            if w.instance(&id)?.status != seen {
                // Another process follows the same pull request.
                return Ok(None);
            }
            let change = w.transition(&id, event)?;
            if let Some(task) = &task {
                w.set_task_status(task, task_status)?;
            }
            if ends {
                // Owned by this process: after a crash, reconcile sees that the agent has yet to be finished.
                w.set_owner(&id, Some(&process::this_process()))?;
                // Nobody is left to take it; a round of a person keeps what it said.
                w.drop_messages(&id)?;
            }
            Ok(Some(change))
        })
        .await?;
    let Some(change) = change else {
        return Ok(None);
    };
    let to = change.to;
    run.changed(change);
    let kept = if ends {
        let kept = finish(context, run, &instance.id, None, None).await?.kept;
        finish_reviewer(context, run, &instance.id).await?;
        kept
    } else {
        None
    };
    Ok(Some(Synced {
        id: instance.id.clone(),
        pr_number: pull.number,
        pr_url: pull.url.clone(),
        from: instance.status,
        to,
        new_commits: 0,
        kept,
    }))
}
