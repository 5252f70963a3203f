//! Discard: ends an agent and deletes its worktree and branch, also work that exists nowhere else, because a person said so.

use std::fmt;
use std::path::PathBuf;

use serde::{Serialize, Serializer};

use super::finish::{has_open_pull, kill_session, still_in_use, stop};
use super::remove_worktree::{
    continues_branch, occupied, remove_empty_parents, standing_in, summarize,
};
use crate::error::{Code, Error};
use crate::git::{GitError, Repository};
use crate::model::{Instance, InstanceId, Note, Origin, Unsaved};
use crate::workflow::instance::agent_files;
use crate::workflow::instance::facts::is_own_worktree;
use crate::workflow::instance::ownership::{claim, release, wait_until_unowned};
use crate::workflow::{Context, Run, Step};

/// What is lost when an agent's work is discarded. Its JSON is the sentence for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Discarding {
    /// Whether the agent is at work.
    pub is_live: bool,
    pub worktree: Option<PathBuf>,
    /// The branch that is deleted; none if it was there before the agent.
    pub branch: Option<String>,
    /// What exists nowhere else.
    pub work: Unsaved,
}

impl fmt::Display for Discarding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.is_live {
            parts.push("its session".to_owned());
        }
        if let Some(worktree) = &self.worktree {
            parts.push(format!("the worktree {}", worktree.display()));
        }
        if let Some(branch) = &self.branch {
            parts.push(format!("the branch {branch}"));
        }
        if parts.is_empty() {
            return formatter.write_str("nothing: its worktree and its branch are gone");
        }
        formatter.write_str(&parts.join(", "))?;
        if self.work == Unsaved::default() {
            formatter.write_str("; no work that exists nowhere else")
        } else {
            write!(formatter, "; with them {}", self.work)
        }
    }
}

impl Serialize for Discarding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// An agent whose work was discarded.
#[derive(Debug, Clone)]
pub struct Discarded {
    pub instance: Instance,
    pub lost: Discarding,
    /// What could not be deleted, and why.
    pub kept: Option<String>,
}

/// Returns what would be lost with an agent's work. Changes nothing.
pub async fn preview_discard(context: &Context, id: &InstanceId) -> Result<Discarding, Error> {
    let instance = read(context, id).await?;
    check(&instance)?;
    let repository = Repository::at(&instance.repository).await?;
    loss(context, &repository, &instance).await
}

/// Returns why there is nothing of an agent to discard, in a few words; none if its work may be discarded.
pub async fn nothing_to_discard(
    context: &Context,
    instance: &Instance,
) -> Result<Option<&'static str>, Error> {
    let status = instance.status;
    if instance.origin == Origin::Adopted {
        return Ok(Some("a person started it"));
    }
    if status.is_live() {
        return Ok(None);
    }
    if !status.is_over() {
        return Ok(Some("its pull request is open: close it first"));
    }
    if instance.worktree_path.exists() {
        return Ok(None);
    }
    let repository = Repository::at(&instance.repository).await?;
    let branch = own_branch(context, &repository, instance).await?;
    Ok(branch
        .is_none()
        .then_some("its worktree and its branch are gone"))
}

/// Ends an agent, if it is at work, and deletes its worktree and its own branch with all that is in them.
///
/// `named` is what the person was told before: an agent that had ended is neither ended again nor deleted with other work.
pub async fn discard(
    context: &Context,
    run: &Run,
    id: &InstanceId,
    named: &Discarding,
) -> Result<Discarded, Error> {
    let instance = read(context, id).await?;
    check(&instance)?;
    let repository = context.limit_lock_wait(Repository::at(&instance.repository).await?);
    if named.is_live && instance.status.is_live() {
        stop(context, run, id).await?;
    }
    wait_until_unowned(context, run, id).await?;
    run.step(Step::DiscardingWork)?;
    let instance = read(context, id).await?;
    // It may have published its work, or been resumed, until now; from the claim on nobody can.
    check(&instance)?;
    if instance.status.is_live() {
        return Err(changed(id, "was started again"));
    }
    if !claim(context, &instance).await? {
        return Err(Error::new(
            Code::NotAvailable,
            format!("another process is starting or ending `{id}` right now"),
        )
        .hint("Nothing was deleted. Try again in a moment."));
    }
    let (lost, kept) = match delete(context, &repository, &instance, named).await {
        Ok(done) => done,
        Err(error) => {
            release(context, id).await?;
            return Err(error);
        }
    };
    let wanted = id.clone();
    let instance = context
        .store
        .write(move |w| {
            w.set_put_away(&wanted)?;
            w.dismiss(std::slice::from_ref(&wanted))?;
            w.set_note(&wanted, &Note::because("a person discarded its work"))?;
            w.set_owner(&wanted, None)?;
            w.instance(&wanted)
        })
        .await?;
    Ok(Discarded {
        instance,
        lost,
        kept,
    })
}

async fn read(context: &Context, id: &InstanceId) -> Result<Instance, Error> {
    let id = id.clone();
    Ok(context.store.read(move |r| r.instance(&id)).await?)
}

/// Returns what would be lost with an agent's work, if it still is what the person has read: `lost`, as [`Discarding`] prints it.
pub async fn confirmed_discard(
    context: &Context,
    id: &InstanceId,
    lost: &str,
) -> Result<Discarding, Error> {
    let now = preview_discard(context, id).await?;
    if now.to_string() == lost {
        Ok(now)
    } else {
        Err(changed(id, "has other work"))
    }
}

/// Nothing was deleted, because it is not what the person was asked about.
fn changed(id: &InstanceId, how: &str) -> Error {
    Error::new(
        Code::IllegalState,
        format!("`{id}` {how} since you were asked"),
    )
    .hint(format!(
        "Nothing was deleted. `claude-codex stop --discard {id}` asks again."
    ))
}

/// Refuses agents whose work is not ours to delete.
fn check(instance: &Instance) -> Result<(), Error> {
    let id = &instance.id;
    if instance.origin == Origin::Adopted {
        return Err(Error::new(
            Code::NotAvailable,
            format!("`{id}` is a session that a person started, in a folder of their own"),
        )
        .hint("Its work is theirs to delete, with git."));
    }
    if !has_open_pull(instance) {
        return Ok(());
    }
    let number = instance.pr_number.unwrap_or_default();
    Err(Error::new(
        Code::IllegalState,
        format!("the work of `{id}` is pull request {number}, which is open"),
    )
    .hint(format!(
        "`claude-codex pr close {number}` closes it; then its work can be discarded."
    )))
}

async fn loss(
    context: &Context,
    repository: &Repository,
    instance: &Instance,
) -> Result<Discarding, Error> {
    let path = &instance.worktree_path;
    let own_branch = own_branch(context, repository, instance).await?;
    let has_worktree = path.exists() && is_own_worktree(repository, instance)?;
    let work = if has_worktree {
        let unsaved = match &own_branch {
            None => repository.unsaved_beside_branches(path).await,
            Some(branch) => repository.unsaved_work(path, Some(branch)).await,
        };
        match unsaved {
            Ok(unsaved) => summarize(&unsaved),
            Err(error) => Unsaved {
                others: vec![format!("files that git cannot check ({error})")],
                ..Unsaved::default()
            },
        }
    } else {
        let commits = match &own_branch {
            Some(branch) => repository.unsaved_on_branch(branch).await?,
            None => 0,
        };
        Unsaved {
            commits,
            ..Unsaved::default()
        }
    };
    Ok(Discarding {
        is_live: instance.status.is_live(),
        worktree: has_worktree.then(|| path.clone()),
        branch: own_branch,
        work,
    })
}

/// Returns the branch that goes with the agent, if it exists.
async fn own_branch(
    context: &Context,
    repository: &Repository,
    instance: &Instance,
) -> Result<Option<String>, Error> {
    let Some(branch) = &instance.branch_name else {
        return Ok(None);
    };
    let goes = !continues_branch(context, &instance.id).await?
        && *branch != instance.base_branch
        && repository.branch_exists(branch).await?;
    Ok(goes.then(|| branch.clone()))
}

/// Deletes session, files, worktree and branch; returns what was in them, and what could not be deleted.
async fn delete(
    context: &Context,
    repository: &Repository,
    instance: &Instance,
    named: &Discarding,
) -> Result<(Discarding, Option<String>), Error> {
    let path = &instance.worktree_path;
    let survivors = kill_session(context, instance).await?;
    if !survivors.is_empty() {
        let text = still_in_use(instance, &survivors).to_string();
        return Err(Error::new(Code::AgentFailed, text));
    }
    let lost = Discarding {
        is_live: named.is_live,
        ..loss(context, repository, instance).await?
    };
    if !named.is_live && lost != *named && lost.work != Unsaved::default() {
        return Err(changed(&instance.id, "has other work"));
    }
    let branch = lost.branch.clone();
    if path.exists() && is_own_worktree(repository, instance)? {
        let standing = standing_in(path).await;
        if !standing.is_empty() {
            let text = occupied(path, standing).to_string();
            return Err(Error::new(Code::NotAvailable, text)
                .hint("Leave the folder in those processes, and discard it again."));
        }
        if let Ok(unsaved) = repository.unsaved_beside_branches(path).await
            && let Some(mount) = unsaved.mounts.first()
        {
            return Err(Error::new(
                Code::NotAvailable,
                format!("something is mounted at {}", mount.display()),
            )
            .hint("Unmount it, and discard the work again."));
        }
        repository.erase_worktree(path).await?;
    }
    agent_files::remove(context, &instance.id)?;
    agent_files::forget_trust(context, instance).await?;
    remove_empty_parents(instance, context);
    let Some(branch) = branch else {
        return Ok((lost, None));
    };
    match repository.delete_branch(&branch, None).await {
        Ok(()) => Ok((lost, None)),
        // A person has it checked out somewhere: theirs now.
        Err(error @ GitError::BranchCheckedOut { .. }) => {
            Ok((lost, Some(format!("kept the branch: {error}"))))
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_is_named() {
        let lost = Discarding {
            is_live: true,
            worktree: Some("/w/a".into()),
            branch: Some("codex/a".to_owned()),
            work: Unsaved {
                files: 1,
                commits: 2,
                others: Vec::new(),
            },
        };
        assert_eq!(
            lost.to_string(),
            "its session, the worktree /w/a, the branch codex/a; with them 1 uncommitted file and 2 commits that are nowhere else"
        );
        assert!(Discarding::default().to_string().starts_with("nothing"));
    }
}
