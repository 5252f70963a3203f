//! Putting away what ended agents left.

use std::collections::HashSet;

use super::finish::{claim, end_session, release, still_in_use};
use super::panes::Panes;
use super::put_away::{PutAway, put_away};
use super::{Context, Run, agent_files};
use crate::error::Error;
use crate::model::{Instance, InstanceId, Origin, Status};
use crate::process;

/// One thing that was put away, or would be, or is kept.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Cleaned {
    pub id: InstanceId,
    pub what: String,
    pub kept: bool,
}

/// Removes worktrees, sessions and files of ended agents; work that exists nowhere else is kept.
pub async fn clean(context: &Context, run: &Run, dry_run: bool) -> Result<Vec<Cleaned>, Error> {
    let instances = ended_with_leftovers(context).await?;
    let panes = Panes::of(context, &instances.iter().collect::<Vec<_>>()).await;
    let mut cleaned = Vec::new();
    for instance in instances {
        let session = panes.pane(&instance).is_some();
        let worktree = instance.worktree_path.exists();
        let files = context.agent_folder(&instance.id).exists();
        if !is_over(&instance) || !(session || worktree || files) {
            continue;
        }
        run.step(&format!("Putting {} away", instance.id))?;
        if dry_run {
            cleaned.push(would_clean(context, instance, worktree).await?);
        } else {
            cleaned.extend(clean_one(context, instance).await?);
        }
    }
    Ok(cleaned)
}

/// Returns the ended agents that have a worktree, a session or files. There may be thousands that have none of these.
async fn ended_with_leftovers(context: &Context) -> Result<Vec<Instance>, Error> {
    let sessions = context.tmux.list().await.unwrap_or_default();
    let sessions: HashSet<String> = sessions
        .into_iter()
        .map(|pane| pane.session.as_str().to_owned())
        .collect();
    let ended = context
        .store
        .read(move |r| r.ended(Origin::Launched))
        .await?;
    let left: Vec<InstanceId> = ended
        .into_iter()
        .filter(|(id, worktree)| {
            worktree.exists() || context.agent_folder(id).exists() || sessions.contains(id.as_str())
        })
        .map(|(id, _)| id)
        .collect();
    let instances = context
        .store
        .read(move |r| left.iter().map(|id| r.instance(id)).collect());
    Ok(instances.await?)
}

/// An agent whose pull request is open may be needed again; one that has ended is not.
fn is_over(instance: &Instance) -> bool {
    instance.origin == Origin::Launched
        && !instance.owner.as_ref().is_some_and(process::is_alive)
        && match instance.status {
            Status::Completed
            | Status::Failed
            | Status::Terminated
            | Status::PrMerged
            | Status::PrClosed => true,
            Status::Started
            | Status::Running
            | Status::WaitingReview
            | Status::UnderReview
            | Status::FeedbackReceived
            | Status::CreatingPr
            | Status::PrCreated => false,
        }
}

async fn would_clean(
    _context: &Context,
    instance: Instance,
    worktree: bool,
) -> Result<Cleaned, Error> {
    let what = if worktree {
        format!("worktree {}", instance.worktree_path.display())
    } else {
        "session and files".to_owned()
    };
    let unsaved = match crate::git::Repository::at(&instance.repository).await {
        Ok(repository) if worktree => {
            let branch = instance.branch_name.as_deref();
            let unsaved = repository
                .unsaved_work(&instance.worktree_path, branch)
                .await;
            unsaved.is_ok_and(|unsaved| !unsaved.is_nothing())
        }
        Ok(_) | Err(_) => false,
    };
    Ok(Cleaned {
        id: instance.id,
        what,
        kept: unsaved,
    })
}

/// Puts one agent away, unless somebody else has taken it meanwhile: a person may have resumed it.
pub(super) async fn clean_one(
    context: &Context,
    instance: Instance,
) -> Result<Option<Cleaned>, Error> {
    if !claim(context, &instance).await? {
        return Ok(None);
    }
    let cleaned = clean_claimed(context, &instance).await;
    if cleaned.is_err() {
        release(context, &instance.id).await?;
    }
    cleaned.map(Some)
}

async fn clean_claimed(context: &Context, instance: &Instance) -> Result<Cleaned, Error> {
    let survivors = end_session(context, instance).await?;
    let left = if survivors.is_empty() {
        agent_files::remove(context, &instance.id)?;
        put_away(context, instance).await?
    } else {
        PutAway::Kept(still_in_use(instance, &survivors))
    };
    let owner = matches!(left, PutAway::Later(_)).then(process::nobody);
    let kept = left.left();
    let (id, note) = (instance.id.clone(), kept.clone());
    context
        .store
        .write(move |w| {
            w.set_note(&id, note.as_deref().filter(|_| owner.is_none()))?;
            w.set_owner(&id, owner.as_ref())
        })
        .await?;
    let path = &instance.worktree_path;
    let removed = || {
        if path.exists() {
            "removed its session and files".to_owned()
        } else {
            format!("removed {}", path.display())
        }
    };
    Ok(Cleaned {
        id: instance.id.clone(),
        kept: kept.is_some(),
        what: kept.unwrap_or_else(removed),
    })
}
