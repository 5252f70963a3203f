//! `clean`: removes worktrees, sessions and files of ended agents, but never unsaved work.

use std::collections::HashSet;

use super::finish::{kill_session, still_in_use};
use super::remove_worktree::{Removal, continues_branch, remove_worktree_if_safe};
use crate::error::{Code, Error};
use crate::model::{Instance, InstanceId, Note, Origin};
use crate::process;
use crate::workflow::instance::agent_files;
use crate::workflow::instance::ownership::{claim, release};
use crate::workflow::terminal::panes::Panes;
use crate::workflow::{Context, Run, Step};

/// One thing that was put away, or would be, or is kept.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Cleaned {
    pub id: InstanceId,
    pub what: String,
    pub kept: bool,
}

/// Whether [`clean`] only reports what it would remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CleanMode {
    Preview,
    Remove,
}

/// Removes worktrees, sessions and files of ended agents; work that exists nowhere else is kept. Failed agents that a
/// person has cleaned up after need nobody any more.
///
/// `only`: these agents, which must have ended; none means all.
pub async fn clean(
    context: &Context,
    run: &Run,
    mode: CleanMode,
    only: &[InstanceId],
) -> Result<Vec<Cleaned>, Error> {
    check_ended(context, only).await?;
    let mut instances = ended_with_leftovers(context).await?;
    instances.retain(|instance| only.is_empty() || only.contains(&instance.id));
    let panes = Panes::of(context, &instances.iter().collect::<Vec<_>>()).await;
    let mut cleaned = Vec::new();
    for instance in instances {
        let session = panes.pane(&instance).is_some();
        let worktree = instance.worktree_path.exists();
        let files = context.agent_folder(&instance.id).exists();
        if !is_over(&instance) || !(session || worktree || files) {
            continue;
        }
        run.step(Step::Cleaning(instance.id.clone()))?;
        match mode {
            CleanMode::Preview => cleaned.push(would_clean(context, instance, worktree).await?),
            CleanMode::Remove => cleaned.extend(clean_one(context, instance).await?),
        }
    }
    if mode == CleanMode::Remove {
        let only = only.to_vec();
        let dismissed = context.store.write(move |w| w.dismiss(&only));
        dismissed.await?;
    }
    Ok(cleaned)
}

/// Refuses agents that a person has named and that are not over.
pub async fn check_ended(context: &Context, ids: &[InstanceId]) -> Result<(), Error> {
    let ids = ids.to_vec();
    let named: Vec<Instance> = context
        .store
        .read(move |r| ids.iter().map(|id| r.instance(id)).collect())
        .await?;
    for instance in named {
        let (id, status) = (&instance.id, instance.status);
        let refused = |hint: String| {
            let message = format!("{id} has not ended: it is {status}");
            Err(Error::new(Code::IllegalState, message).hint(hint))
        };
        match (instance.pr_number, status.is_over()) {
            (_, true) => {}
            (Some(number), false) if !status.is_live() => {
                return refused(format!(
                    "`claude-codex pr merge {number}` or `claude-codex pr close {number}` ends it."
                ));
            }
            (_, false) => return refused(format!("`claude-codex stop {id}` ends it.")),
        }
    }
    Ok(())
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

/// Returns whether an agent that we launched is over, and nobody is putting it away.
fn is_over(instance: &Instance) -> bool {
    instance.origin == Origin::Launched
        && instance.status.is_over()
        && !instance.owner.as_ref().is_some_and(process::is_alive)
}

async fn would_clean(
    context: &Context,
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
            let path = &instance.worktree_path;
            let unsaved = if continues_branch(context, &instance.id).await? {
                repository.unsaved_beside_branches(path).await
            } else {
                let branch = instance.branch_name.as_deref();
                repository.unsaved_work(path, branch).await
            };
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
pub(crate) async fn clean_one(
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
    let survivors = kill_session(context, instance).await?;
    let left = if survivors.is_empty() {
        agent_files::remove(context, &instance.id)?;
        remove_worktree_if_safe(context, instance).await?
    } else {
        Removal::Kept(still_in_use(instance, &survivors))
    };
    let owner = matches!(left, Removal::Deferred(_)).then(process::nobody);
    let kept = left.sentence();
    let id = instance.id.clone();
    let note = Note {
        reason: None,
        kept: left.into_kept(),
    };
    context
        .store
        .write(move |w| {
            w.set_note(&id, &note)?;
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
