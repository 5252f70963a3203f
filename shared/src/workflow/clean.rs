//! Putting away what ended agents left.

use super::finish::{end_session, put_away, still_in_use};
use super::panes::Panes;
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
    let instances = context.store.read(|r| r.instances(false)).await?;
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
        cleaned.push(if dry_run {
            would_clean(context, instance, worktree).await?
        } else {
            clean_one(context, instance).await?
        });
    }
    Ok(cleaned)
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
    let unsaved = match crate::git::Repository::discover(&instance.repository).await {
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

pub(super) async fn clean_one(context: &Context, instance: Instance) -> Result<Cleaned, Error> {
    let survivors = end_session(context, &instance).await?;
    agent_files::remove(context, &instance.id)?;
    let kept = if survivors.is_empty() {
        put_away(context, &instance).await?.left()
    } else {
        Some(still_in_use(&instance, &survivors))
    };
    let (id, note) = (instance.id.clone(), kept.clone());
    context
        .store
        .write(move |w| w.set_note(&id, note.as_deref()))
        .await?;
    Ok(Cleaned {
        id: instance.id,
        kept: kept.is_some(),
        what: kept.unwrap_or_else(|| format!("removed {}", instance.worktree_path.display())),
    })
}
