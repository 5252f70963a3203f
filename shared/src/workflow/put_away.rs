//! Putting an agent's worktree away: removed if nothing would be lost, else kept, with the reason.

use std::path::Path;
use std::time::Duration;

use super::instance_facts::is_own_worktree;
use super::{Context, agent_files};
use crate::agent;
use crate::error::Error;
use crate::git::{self, GitError, Operation, Repository, UnsavedWork, remove_empty_folder};
use crate::model::hidden::reveal_in_line;
use crate::model::{Instance, LaunchStep};
use crate::process::{self, ProcessError};

/// How long git's own helpers and the like may take to leave a worktree.
const LEAVING: Duration = Duration::from_secs(1);

/// Leaves a worktree to a person, or to the schedule.
///
/// If whoever was putting the agent away has died, that was `clean`, maybe: a worktree that was only set aside comes
/// back, and after one that is gone the branch goes as well.
pub(super) async fn leave_by_policy(
    context: &Context,
    instance: &Instance,
    unfinished: bool,
) -> Result<PutAway, Error> {
    let path = &instance.worktree_path;
    if unfinished {
        match Repository::at(&instance.repository).await {
            Ok(repository) => repository.restore_worktree(path).await?,
            Err(GitError::NotARepository { .. } | GitError::Io { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    match path.exists() {
        true => Ok(PutAway::Kept(format!("kept by policy: {}", path.display()))),
        false if unfinished => put_away(context, instance).await,
        false => Ok(PutAway::Gone),
    }
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
        // Another process has the repository locked, or none can be started just now: that passes.
        Err(
            error @ (GitError::LockTimeout { .. }
            | GitError::Process {
                source: ProcessError::Spawn { .. },
            }),
        ) => return Ok(later(&error)),
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
        if let Some(operation) = submodule.operation {
            let operation = unfinished(operation);
            parts.push(format!("{operation} in submodule {path}"));
        }
        for worktree in &submodule.worktrees {
            let worktree = worktree.display();
            parts.push(format!("the worktree {worktree} of submodule {path}"));
        }
    }
    for worktree in &unsaved.worktrees {
        parts.push(format!(
            "work in the worktree {} inside",
            worktree.display()
        ));
    }
    for place in &unsaved.mounts {
        parts.push(format!("what is mounted at {} inside", place.display()));
    }
    if let Some(operation) = unsaved.operation {
        parts.push(unfinished(operation));
    }
    parts.join(" and ")
}

fn unfinished(operation: Operation) -> String {
    format!("an unfinished {operation:?}").to_lowercase()
}

/// Removes the folders above a worktree that held nothing else; ones in use refuse by themselves.
fn remove_empty_parents(instance: &Instance, context: &Context) {
    let Some(settings) = context.settings_of(&instance.repository) else {
        return;
    };
    let beside = instance.repository.parent().unwrap_or(Path::new("/"));
    let root = beside.join(&settings.resources.worktree_root);
    // Without a slash at its end, which would lead through it.
    let is_link = root.components().as_path().is_symlink();
    for parent in instance.worktree_path.ancestors().skip(1).take(2) {
        let is_root = parent.file_name() == root.file_name();
        // A link that a person has made leads nowhere without its folder.
        let stays = is_link && parent == git::resolved(&root);
        if stays || !remove_empty_folder(parent) || is_root {
            return;
        }
    }
}
