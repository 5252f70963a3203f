//! Ending an agent: its session, its processes, and what of its work may go.

use std::path::Path;
use std::time::Duration;

use super::launch::{is_own_worktree, session_name};
use super::request_changes::lose_review;
use super::{Context, Run, agent_files};
use crate::agent;
use crate::config::Cleanup;
use crate::error::Error;
use crate::git::{GitError, Repository, UnsavedWork};
use crate::model::hidden::reveal_in_line;
use crate::model::{
    Instance, InstanceId, InstanceKind, LaunchStep, Origin, ProcessMark, Status, StatusChange,
    StatusEvent, TaskStatus,
};
use crate::process::{self, Family, Grace};
use crate::tmux::{LaunchId, Life};

/// How long an agent's processes may take to end by themselves after the terminal is gone, and when asked.
const GRACE: Grace = Grace {
    unasked: Duration::from_millis(2_500),
    asked: Duration::from_millis(1_500),
};

/// How long a person waits for a repository that is locked; after that `reconcile` removes the worktree.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long git's own helpers and the like may take to leave a worktree.
const LEAVING: Duration = Duration::from_secs(1);

/// An agent that was ended, and what of it was kept.
#[derive(Debug, Clone)]
pub struct Stopped {
    pub instance: Instance,
    pub kept: Option<String>,
}

/// Ends an agent for good. One that has ended already is put away again, which changes nothing.
pub async fn stop(context: &Context, run: &Run, id: &InstanceId) -> Result<Stopped, Error> {
    run.step("Ending the session")?;
    let context = &context.with_patience(PATIENCE);
    let stopped = end(context, run, id, Some(StatusEvent::Terminated), None).await?;
    end_reviewer(context, run, id).await?;
    Ok(stopped)
}

/// Ends the reviewer of a coder that has ended: nobody waits for its verdict.
async fn end_reviewer(context: &Context, run: &Run, coder: &InstanceId) -> Result<(), Error> {
    let coder = coder.clone();
    let pending = context
        .store
        .read(move |r| r.pending_review(&coder))
        .await?;
    if let Some(review) = pending {
        let reason = Some("its coding agent has ended".to_owned());
        let reviewer = &review.review_instance_id;
        end(
            context,
            run,
            reviewer,
            Some(StatusEvent::Terminated),
            reason,
        )
        .await?;
    }
    Ok(())
}

/// Ends an agent: moves it, ends its session, and puts its worktree away by policy.
///
/// The owner mark stands in the row all the while: if this process dies, `reconcile` goes on.
pub(super) async fn end(
    context: &Context,
    run: &Run,
    id: &InstanceId,
    event: Option<StatusEvent>,
    reason: Option<String>,
) -> Result<Stopped, Error> {
    let ended = Box::pin(end_owned(context, run, id, event, reason)).await;
    if ended.is_err() {
        release(context, id).await?;
    }
    ended
}

/// Lets go of an instance that could not be put in order, so that whoever looks next tries again.
pub(super) async fn release(context: &Context, id: &InstanceId) -> Result<(), Error> {
    let (id, me) = (id.clone(), process::this_process());
    context
        .store
        .write(move |w| {
            if !w.instance_exists(&id)? {
                return Ok(());
            }
            let instance = w.instance(&id)?;
            if instance.owner.as_ref() != Some(&me) {
                return Ok(());
            }
            // An ended row without an owner counts as put away.
            let nobody = process::nobody();
            w.set_owner(&id, (!instance.status.is_live()).then_some(&nobody))
        })
        .await?;
    Ok(())
}

async fn end_owned(
    context: &Context,
    run: &Run,
    id: &InstanceId,
    event: Option<StatusEvent>,
    reason: Option<String>,
) -> Result<Stopped, Error> {
    let (wanted, me) = (id.clone(), process::this_process());
    let first_note = reason.clone();
    let (instance, changes) = context
        .store
        .write(move |w| {
            let instance = w.instance(&wanted)?;
            let change = match event {
                Some(event) if instance.status.is_live() => Some(w.transition(&wanted, event)?),
                Some(_) | None => None,
            };
            w.set_owner(&wanted, Some(&me))?;
            w.set_server(&wanted, None)?;
            let mut changes: Vec<StatusChange> = change.into_iter().collect();
            if !changes.is_empty() {
                w.set_note(&wanted, first_note.as_deref())?;
                if instance.kind == InstanceKind::Review {
                    let reason = first_note.as_deref().unwrap_or("it was stopped");
                    changes.extend(lose_review(w, &instance, reason)?);
                }
                if let Some(task) = &instance.task_id {
                    w.set_task_status(task, TaskStatus::Open)?;
                }
            }
            Ok((instance, changes))
        })
        .await?;
    for change in changes {
        run.changed(change);
    }
    let left = match instance.origin {
        Origin::Adopted => PutAway::Gone,
        Origin::Launched => {
            let survivors = end_session(context, &instance).await?;
            if survivors.is_empty() {
                agent_files::remove(context, id)?;
            }
            let settings = context.settings_of(&instance.repository);
            match settings.map_or(Cleanup::Manual, |settings| settings.resources.cleanup) {
                _ if !survivors.is_empty() => PutAway::Kept(still_in_use(&instance, &survivors)),
                // As long as its pull request is open, the work may have to go on.
                Cleanup::Auto if instance.status == Status::PrCreated => PutAway::Gone,
                Cleanup::Auto => put_away(context, &instance).await?,
                Cleanup::Manual | Cleanup::Scheduled if instance.worktree_path.exists() => {
                    PutAway::Kept(format!(
                        "kept by policy: {}",
                        instance.worktree_path.display()
                    ))
                }
                Cleanup::Manual | Cleanup::Scheduled => PutAway::Gone,
            }
        }
    };
    // Owned by nobody that lives: the row is unfinished for whoever looks next.
    let owner = matches!(left, PutAway::Later(_)).then(process::nobody);
    let kept = left.left();
    // What is removed in a moment is not worth a note that would outlive it.
    let noted = kept.as_ref().filter(|_| owner.is_none());
    let note = match (&reason, noted) {
        (Some(reason), Some(kept)) => Some(format!("{reason}; {kept}")),
        (Some(text), None) | (None, Some(text)) => Some(text.clone()),
        (None, None) => None,
    };
    let (wanted, me) = (id.clone(), process::this_process());
    let instance = context
        .store
        .write(move |w| {
            if w.instance(&wanted)?.owner != Some(me) {
                // Somebody was faster, and may have taken it up again.
                return w.instance(&wanted);
            }
            if note.is_some() {
                w.set_note(&wanted, note.as_deref())?;
            }
            w.set_launch_step(&wanted, LaunchStep::Ready)?;
            w.set_owner(&wanted, owner.as_ref())?;
            w.instance(&wanted)
        })
        .await?;
    Ok(Stopped { instance, kept })
}

/// What became of an agent's worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PutAway {
    Gone,
    /// What was kept, and where.
    Kept(String),
    /// Another process has the repository locked; `reconcile` removes it when it can.
    Later(String),
}

impl PutAway {
    /// Returns what is still there.
    pub(super) fn left(self) -> Option<String> {
        match self {
            Self::Gone => None,
            Self::Kept(text) | Self::Later(text) => Some(text),
        }
    }
}

/// Removes a worktree with the trust in it, unless work would be lost.
pub(super) async fn put_away(context: &Context, instance: &Instance) -> Result<PutAway, Error> {
    let outcome = keep_or_remove_worktree(context, instance).await?;
    if outcome == PutAway::Gone {
        agent_files::forget_trust(context, instance).await?;
    }
    if !matches!(outcome, PutAway::Later(_)) {
        let id = instance.id.clone();
        context.store.write(move |w| w.set_put_away(&id)).await?;
    }
    Ok(outcome)
}

/// Kills the session and everything that the agent has started; returns what could not be ended.
///
/// A session of that name that is not of the row's launch stays, as do processes that are provably neither
/// the agent's descendants nor marked as its own.
pub(super) async fn end_session(
    context: &Context,
    instance: &Instance,
) -> Result<Vec<ProcessMark>, Error> {
    let strangers = strangers(instance);
    let Ok(name) = session_name(instance) else {
        return Ok(strangers);
    };
    let tmux = context.terminals(instance);
    // Its processes can be ended where tmux can't be asked, too.
    let listed = tmux.list().await.inspect_err(|error| {
        tracing::warn!(instance = %instance.id, %error, "its terminal can't be reached");
    });
    let is_known = listed.is_ok();
    let panes = listed.unwrap_or_default();
    let launch = instance.launch_id.as_deref();
    let ours: Vec<_> = panes
        .iter()
        .filter(|pane| pane.session == name)
        .filter(|pane| pane.launch.as_ref().map(LaunchId::as_str) == launch)
        .collect();
    let has_session = ours.iter().any(|pane| pane.is_agent);
    let mut roots: Vec<u32> = instance
        .agent
        .iter()
        .filter(|agent| process::is_seen(agent))
        .map(|agent| agent.pid)
        .collect();
    if has_session {
        let running = ours.iter().filter(|pane| pane.life == Life::Running);
        roots.extend(running.map(|pane| pane.pid));
    }
    if launch.is_none() && roots.is_empty() && !has_session {
        return Ok(strangers);
    }
    let family = Family {
        roots,
        variable: agent::LAUNCH_ID,
        mark: launch,
        spared: agent::DETACHED,
    };
    // Before the kill: whose parent has ended is known by its mark alone.
    let members = family.members();
    if has_session {
        tmux.kill(&name).await?;
    } else if !is_known {
        // It may be there all the same; tmux kills none that is not of this launch.
        let _ = tmux.kill(&name).await;
    }
    let mut survivors = family.end(members, GRACE).await;
    // Whether it has ended is known only where it can be seen.
    let agent = instance.agent.iter();
    survivors.extend(
        agent
            .filter(|agent| process::is_out_of_sight(agent))
            .cloned(),
    );
    survivors.extend(strangers);
    Ok(survivors)
}

/// Finds processes of another launch in the agent's worktree. They are not the row's to end: it is older than they are,
/// as after a backup was restored.
fn strangers(instance: &Instance) -> Vec<ProcessMark> {
    process::started_with_in(agent::LAUNCH_ID, &instance.worktree_path)
        .into_iter()
        .filter(|(_, launch)| instance.launch_id.as_ref() != Some(launch))
        .filter(|(pid, _)| process::variable_of(*pid, agent::DETACHED).is_none())
        .filter_map(|(pid, _)| process::mark(pid))
        .collect()
}

/// Says that a worktree stays because of processes that could not be ended.
pub(super) fn still_in_use(instance: &Instance, survivors: &[ProcessMark]) -> String {
    let pids: Vec<_> = survivors.iter().map(|one| one.pid.to_string()).collect();
    format!(
        "kept {}: process {} works there and can't be ended; `claude-codex clean` removes it later",
        instance.worktree_path.display(),
        pids.join(", ")
    )
}

/// Returns the processes that go on in a worktree, each as `number (name)`: a person's shell, or what an agent has left that
/// carries no mark of ours. Nobody can tell them apart, so none is ended, and none loses the ground below it.
async fn standing_in(worktree: &Path) -> Vec<String> {
    let deadline = tokio::time::Instant::now() + LEAVING;
    loop {
        let standing = process::standing_in(worktree, agent::DETACHED);
        if standing.is_empty() || tokio::time::Instant::now() >= deadline {
            let named = standing.into_iter();
            return named
                .map(|(pid, name)| format!("{pid} ({})", reveal_in_line(&name)))
                .collect();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn occupied(worktree: &Path, standing: &[String]) -> String {
    /// A person needs one to begin with.
    const NAMED: usize = 5;
    let (path, names) = (
        worktree.display(),
        standing[..standing.len().min(NAMED)].join(", "),
    );
    let more = match standing.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "kept {path}: in use by process {names}{more}; once that has ended or left, `claude-codex clean` removes it"
    )
}

/// Removes the worktree and its branch if nothing would be lost.
pub(super) async fn keep_or_remove_worktree(
    context: &Context,
    instance: &Instance,
) -> Result<PutAway, Error> {
    let path = &instance.worktree_path;
    let repository = match Repository::at(&instance.repository).await {
        Ok(repository) => context.patience_with(repository),
        // It is gone, or has another name: nobody can be asked what may go.
        Err(GitError::NotARepository { .. } | GitError::Io { .. }) if path.exists() => {
            let (path, repository) = (path.display(), instance.repository.display());
            let text = format!("kept {path}: its repository {repository} is not there");
            return Ok(PutAway::Kept(text));
        }
        Err(GitError::NotARepository { .. } | GitError::Io { .. }) => return Ok(PutAway::Gone),
        Err(error) => return Err(error.into()),
    };
    let branch = instance.branch_name.as_deref();
    if !is_own_worktree(&repository, instance)? {
        return Ok(PutAway::Gone);
    }
    // Only an empty folder goes by this: git had not begun to fill it.
    let _ = std::fs::remove_dir(path);
    // No agent was ever in a worktree whose checkout did not end.
    let half_made =
        instance.launch_step == LaunchStep::Worktree && repository.checkout_is_unfinished(path);
    if !half_made {
        let standing = standing_in(path).await;
        if !standing.is_empty() {
            return Ok(PutAway::Kept(occupied(path, &standing)));
        }
    }
    let removed = if half_made {
        repository.erase_worktree(path).await.map(|()| None)
    } else {
        repository.remove_worktree(path, branch).await
    };
    match removed {
        Ok(None) => {}
        Ok(Some(unsaved)) => {
            return Ok(PutAway::Kept(format!(
                "kept {} on {} in {}",
                describe(&unsaved),
                branch.unwrap_or("a detached HEAD"),
                path.display()
            )));
        }
        // A person wants it to stay.
        Err(error @ GitError::WorktreeLocked { .. }) => {
            return Ok(PutAway::Kept(format!("kept: {error}")));
        }
        Err(error @ GitError::LockTimeout { .. }) => return Ok(later(&error)),
        Err(error) if path.exists() => {
            let path = path.display();
            return Ok(PutAway::Kept(format!(
                "kept {path}, because git can't tell: {error}"
            )));
        }
        Err(error) => return Err(error.into()),
    }
    if let Some(folder) = path.parent() {
        repository.delete_waste(folder).await;
    }
    if let Some(branch) = branch {
        match remove_branch(&repository, branch).await? {
            PutAway::Gone => {}
            left @ (PutAway::Kept(_) | PutAway::Later(_)) => return Ok(left),
        }
    }
    remove_empty_parents(instance, context);
    Ok(PutAway::Gone)
}

/// Deletes the branch if its commits are elsewhere too.
async fn remove_branch(repository: &Repository, branch: &str) -> Result<PutAway, Error> {
    match repository.delete_saved_branch(branch).await {
        Ok(0) => Ok(PutAway::Gone),
        Ok(commits) => Ok(PutAway::Kept(format!(
            "kept the branch {branch}: {commits} of its commits are nowhere else"
        ))),
        // A person has it checked out somewhere, or just committed to it: theirs now.
        Err(error @ (GitError::BranchCheckedOut { .. } | GitError::BranchMoved { .. })) => {
            Ok(PutAway::Kept(format!("kept the branch: {error}")))
        }
        Err(error @ GitError::LockTimeout { .. }) => Ok(later(&error)),
        Err(error) => Err(error.into()),
    }
}

fn later(error: &GitError) -> PutAway {
    PutAway::Later(format!("its worktree is removed later: {error}"))
}

/// Says what would be lost.
pub(super) fn describe(unsaved: &UnsavedWork) -> String {
    let mut parts = Vec::new();
    if unsaved.uncommitted > 0 {
        parts.push(format!("{} uncommitted files", unsaved.uncommitted));
    } else if unsaved.untracked_left_out {
        parts.push("very many untracked files".to_owned());
    }
    if unsaved.commits > 0 {
        parts.push(format!("{} commits that are nowhere else", unsaved.commits));
    }
    for submodule in &unsaved.submodules {
        let path = submodule.path.display();
        if submodule.uncommitted > 0 {
            let files = submodule.uncommitted;
            parts.push(format!("{files} uncommitted files in submodule {path}"));
        }
        if submodule.commits > 0 {
            let commits = submodule.commits;
            parts.push(format!(
                "{commits} commits or stashes in submodule {path} that its remotes lack"
            ));
        }
    }
    for worktree in &unsaved.worktrees {
        parts.push(format!(
            "work in the worktree {} inside",
            worktree.display()
        ));
    }
    if let Some(operation) = unsaved.operation {
        parts.push(format!("an unfinished {operation:?}").to_lowercase());
    }
    parts.join(" and ")
}

/// Removes the folders above a worktree that held nothing else; ones in use refuse by themselves.
fn remove_empty_parents(instance: &Instance, context: &Context) {
    let Some(settings) = context.settings_of(&instance.repository) else {
        return;
    };
    let root_name = Path::new(&settings.resources.worktree_root).file_name();
    for parent in instance.worktree_path.ancestors().skip(1).take(2) {
        if std::fs::remove_dir(parent).is_err() || parent.file_name() == root_name {
            return;
        }
    }
}

/// Ends an instance because of something that was noticed, and reports the move.
pub(super) async fn fail(
    context: &Context,
    id: &InstanceId,
    event: StatusEvent,
    reason: String,
) -> Result<Vec<StatusChange>, Error> {
    let run = Run::unattended();
    end(context, &run, id, Some(event), Some(reason)).await?;
    end_reviewer(context, &run, id).await?;
    Ok(run.changes())
}
