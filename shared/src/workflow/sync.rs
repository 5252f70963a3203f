//! Following pull requests: what became of them becomes of their agents and tasks.

use std::time::Duration;

use super::finish::end;
use super::pull_forge::Pulls;
use super::{Context, Run};
use crate::error::{Code, Error};
use crate::model::pull_request::is_local_url;
use crate::model::{Instance, InstanceId, PullRequest, PullState, Status, StatusEvent, TaskStatus};
use crate::process;

/// Longer than an agent gets for its last turn.
const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);

/// An agent that followed its pull request.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Synced {
    pub id: InstanceId,
    pub pr_number: u64,
    pub pr_url: String,
    pub from: Status,
    pub to: Status,
    /// What of its work was kept, and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

/// Asks what became of the pull requests of this repository's agents, and moves those along.
///
/// One that can't be asked about does not keep the others from moving; the first such failure is
/// returned when all were asked.
pub async fn sync(context: &Context, run: &Run) -> Result<Vec<Synced>, Error> {
    let repository = context.repository()?;
    let published = published(context).await?;
    if published.is_empty() {
        return Ok(Vec::new());
    }
    let forge = Pulls::open(context, repository).await?;
    let mut synced = Vec::new();
    let mut failure = None;
    for instance in published {
        let (Some(number), Some(url)) = (instance.pr_number, &instance.pr_url) else {
            continue;
        };
        run.step(&format!("Asking about pull request {number}"))?;
        let pull = if is_local_url(url) {
            Pulls::Local.get(context, repository, number).await
        } else {
            match &forge {
                Pulls::Github(github) => match github.get(context, number).await {
                    Ok(pull) => own_pull(&instance, pull, url),
                    Err(error) => Err(error),
                },
                Pulls::Local => Err(Error::new(
                    Code::ForgeNotConfigured,
                    format!("{url} can't be asked about: the forge is local now"),
                )
                .hint("`claude-codex doctor` says why; GITHUB_TOKEN may be missing.")),
            }
        };
        let followed = match pull {
            Ok(pull) => follow(context, run, &instance, &pull).await,
            Err(error) => Err(error),
        };
        match followed {
            Ok(moved) => synced.extend(moved),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    match failure {
        None => Ok(synced),
        Some(error) => Err(error),
    }
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
pub(super) async fn follow_pull(
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

/// Moves one agent, settles its task, and puts it away once its pull request is not open.
async fn follow(
    context: &Context,
    run: &Run,
    instance: &Instance,
    pull: &PullRequest,
) -> Result<Option<Synced>, Error> {
    let (event, task_status) = match (instance.status, pull.state) {
        (Status::PrCreated | Status::PrClosed, PullState::Merged) => {
            (StatusEvent::Merged, TaskStatus::Done)
        }
        (Status::PrCreated, PullState::Closed) => (StatusEvent::Closed, TaskStatus::Open),
        (Status::PrClosed, PullState::Open) => (StatusEvent::Reopened, TaskStatus::InProgress),
        (_, PullState::Open | PullState::Closed | PullState::Merged) => return Ok(None),
    };
    let ends = pull.state != PullState::Open;
    until_left_alone(context, run, &instance.id).await?;
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
                // Whoever finds this row after a crash sees that it is still to be put away.
                w.set_owner(&id, Some(&process::this_process()))?;
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
        end(context, run, &instance.id, None, None).await?.kept
    } else {
        None
    };
    Ok(Some(Synced {
        id: instance.id.clone(),
        pr_number: pull.number,
        pr_url: pull.url.clone(),
        from: instance.status,
        to,
        kept,
    }))
}

/// Waits, but not for ever, until nobody else is putting the agent away.
///
/// A session ends only when its agent has had the answer that its work is published.
pub(super) async fn until_left_alone(
    context: &Context,
    run: &Run,
    id: &InstanceId,
) -> Result<(), Error> {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    let mut told = false;
    loop {
        let wanted = id.clone();
        let owner = context
            .store
            .read(move |r| Ok(r.instance(&wanted)?.owner))
            .await?;
        let busy = owner
            .is_some_and(|owner| owner != process::this_process() && process::is_alive(&owner));
        if !busy || tokio::time::Instant::now() >= deadline {
            return Ok(());
        }
        if !told {
            run.step(&format!("Waiting for {id} to end"))?;
            told = true;
        }
        tokio::time::sleep(POLL).await;
    }
}
