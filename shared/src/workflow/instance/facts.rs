//! Facts of an instance that many verbs need: unused ids, worktree folder and label, tmux session name, launch step.

use std::path::PathBuf;

use crate::error::{Code, Error};
use crate::git::{self, Repository};
use crate::model::id::Subject;
use crate::model::{Instance, InstanceId, InstanceKind, LaunchStep};
use crate::store::{Reader, StoreError};
use crate::tmux::SessionName;
use crate::workflow::Context;

/// An issue that an agent is to work on.
#[derive(Debug, Clone)]
pub struct Issue {
    pub number: u64,
    pub title: String,
    pub body: String,
}

/// Returns the folder for a repository's worktrees: outside of it, so that nothing in it sees them.
pub(crate) fn worktree_folder(context: &Context, repository: &Repository) -> PathBuf {
    let root = repository.root();
    let beside = root.parent().unwrap_or(root);
    let folder = beside
        .join(&context.settings().resources.worktree_root)
        .join(repository.name());
    // A link may lead to another disk; Claude Code and git know a folder by its real path.
    git::resolved(&folder)
}

/// Tells whether the worktree in an agent's place is not another's: an agent of another state folder may have the
/// same name, and so the same place.
pub(crate) fn is_own_worktree(repository: &Repository, instance: &Instance) -> Result<bool, Error> {
    let label = repository.label_of_worktree(&instance.worktree_path)?;
    Ok(label.is_none_or(|label| label == worktree_label(instance)))
}

pub(crate) fn worktree_label(instance: &Instance) -> String {
    format!("{} {}", instance.id, instance.created_at)
}

/// Returns the name of an instance's tmux session.
pub(crate) fn session_name(instance: &Instance) -> Result<SessionName, Error> {
    match &instance.tmux_session {
        Some(name) => Ok(SessionName::new(name.as_str())?),
        None => Err(Error::new(
            Code::TmuxSessionNotFound,
            format!("`{}` runs in a session of its own", instance.id),
        )
        .hint("Claude Codex has no terminal of it: go to the terminal where it was started.")),
    }
}

pub(crate) async fn record_step(
    context: &Context,
    instance: &Instance,
    step: LaunchStep,
) -> Result<(), Error> {
    let id = instance.id.clone();
    context
        .store
        .write(move |w| w.set_launch_step(&id, step))
        .await?;
    Ok(())
}

/// Returns the first id of a subject that was never used.
pub(crate) fn unused_id(
    reader: &Reader<'_>,
    kind: InstanceKind,
    subject: &Subject,
) -> Result<InstanceId, StoreError> {
    let mut attempt = 1;
    loop {
        let id = match kind {
            InstanceKind::Coding => InstanceId::coding(subject, attempt),
            InstanceKind::Planning => InstanceId::planning(subject, attempt),
            InstanceKind::Review => InstanceId::review(&InstanceId::coding(subject, 1), attempt),
        };
        if !reader.instance_exists(&id)? {
            return Ok(id);
        }
        attempt += 1;
    }
}
