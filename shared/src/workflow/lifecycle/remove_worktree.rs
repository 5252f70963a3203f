//! Removal of an agent's worktree and branch if no work would be lost; otherwise both are kept, with the reason (`Kept`).

use std::path::Path;
use std::time::Duration;

use crate::agent;
use crate::error::Error;
use crate::git::{self, GitError, Operation, Repository, UnsavedWork, remove_empty_folder};
use crate::model::hidden::reveal_in_line;
use crate::model::{Instance, InstanceId, Kept, LaunchStep, Unsaved, counted};
use crate::process::{self, ProcessError};
use crate::workflow::Context;
use crate::workflow::instance::agent_files;
use crate::workflow::instance::facts::is_own_worktree;

/// How long short-lived processes, such as git's own helpers, get to leave a worktree.
const LEAVE_GRACE: Duration = Duration::from_secs(1);

/// Keeps a worktree for a person, or for the schedule.
///
/// `unfinished`: a process died while it was finishing the agent, perhaps in `clean`. Then a worktree that was only set
/// aside is restored, and if it is already gone its branch is removed as well.
pub(crate) async fn keep_by_policy(
    context: &Context,
    instance: &Instance,
    unfinished: bool,
) -> Result<Removal, Error> {
    let path = &instance.worktree_path;
    if unfinished {
        match Repository::at(&instance.repository).await {
            Ok(repository) => repository.restore_worktree(path).await?,
            Err(GitError::NotARepository { .. } | GitError::Io { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    match path.exists() {
        true => Ok(Removal::Kept(Kept::Policy {
            worktree: path.display().to_string(),
        })),
        false if unfinished => remove_worktree_if_safe(context, instance).await,
        false => Ok(Removal::Done),
    }
}

/// Keeps the worktree of an agent whose pull request is open: it may have to go on. What in it exists nowhere else is named;
/// commits are on its branch, which stays.
pub(crate) async fn keep_for_open_pull(instance: &Instance) -> Result<Removal, Error> {
    let path = &instance.worktree_path;
    if !path.exists() {
        return Ok(Removal::Done);
    }
    let unsaved = match Repository::at(&instance.repository).await {
        Ok(repository) if is_own_worktree(&repository, instance)? => {
            repository.unsaved_beside_branches(path).await
        }
        Ok(_) => return Ok(Removal::Done),
        Err(error) => Err(error),
    };
    Ok(match unsaved {
        Ok(unsaved) if unsaved.is_nothing() => Removal::Done,
        Ok(unsaved) => Removal::Kept(Kept::UnsavedWork {
            worktree: path.display().to_string(),
            branch: instance.branch_name.clone(),
            work: summarize(&unsaved),
        }),
        Err(error) => Removal::Kept(Kept::Unchecked {
            worktree: path.display().to_string(),
            error: error.to_string(),
        }),
    })
}

/// Outcome of a removal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Removal {
    Done,
    Kept(Kept),
    /// Another process has the repository locked; `reconcile` removes it when it can.
    Deferred(String),
}

impl Removal {
    /// Returns what is still there, as a sentence.
    pub(crate) fn sentence(&self) -> Option<String> {
        match self {
            Self::Done => None,
            Self::Kept(kept) => Some(kept.to_string()),
            Self::Deferred(text) => Some(text.clone()),
        }
    }

    pub(crate) fn into_kept(self) -> Option<Kept> {
        match self {
            Self::Kept(kept) => Some(kept),
            Self::Done | Self::Deferred(_) => None,
        }
    }
}

/// Removes a worktree with the trust in it, unless work would be lost.
pub(crate) async fn remove_worktree_if_safe(
    context: &Context,
    instance: &Instance,
) -> Result<Removal, Error> {
    let outcome = remove_worktree_and_branch(context, instance).await?;
    if outcome == Removal::Done {
        agent_files::forget_trust(context, instance).await?;
    }
    if !matches!(outcome, Removal::Deferred(_)) {
        let id = instance.id.clone();
        context.store.write(move |w| w.set_put_away(&id)).await?;
    }
    Ok(outcome)
}

/// Returns the processes whose working directory is in a worktree, each as `number (name)`: a person's shell, or an unmarked
/// process that an agent left. They cannot be told apart, so none is ended, and the worktree is kept while they run.
pub(super) async fn standing_in(worktree: &Path) -> Vec<String> {
    let deadline = tokio::time::Instant::now() + LEAVE_GRACE;
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

pub(super) fn occupied(worktree: &Path, mut processes: Vec<String>) -> Kept {
    /// A person needs one to begin with.
    const MAX_NAMED: usize = 5;
    let more = processes.len().saturating_sub(MAX_NAMED);
    processes.truncate(MAX_NAMED);
    Kept::InUse {
        worktree: worktree.display().to_string(),
        processes,
        more,
    }
}

/// Removes the worktree and its branch if nothing would be lost.
pub(crate) async fn remove_worktree_and_branch(
    context: &Context,
    instance: &Instance,
) -> Result<Removal, Error> {
    let path = &instance.worktree_path;
    let repository = match Repository::at(&instance.repository).await {
        Ok(repository) => context.limit_lock_wait(repository),
        // The repository is gone or renamed, so git cannot say what would be lost.
        Err(GitError::NotARepository { .. } | GitError::Io { .. }) if path.exists() => {
            return Ok(Removal::Kept(Kept::RepositoryMissing {
                worktree: path.display().to_string(),
                repository: instance.repository.display().to_string(),
            }));
        }
        Err(GitError::NotARepository { .. } | GitError::Io { .. }) => return Ok(Removal::Done),
        Err(error) => return Err(error.into()),
    };
    let continues = continues_branch(context, &instance.id).await?;
    let own_branch = instance.branch_name.as_deref().filter(|_| !continues);
    if !is_own_worktree(&repository, instance)? {
        return Ok(Removal::Done);
    }
    // Only an empty folder goes by this: git had not begun to fill it.
    let _ = std::fs::remove_dir(path);
    let removed = match is_half_made(&repository, instance).await {
        Ok(true) => repository.erase_worktree(path).await.map(|()| None),
        Ok(false) => {
            let standing = standing_in(path).await;
            if !standing.is_empty() {
                return Ok(Removal::Kept(occupied(path, standing)));
            }
            if continues {
                repository.remove_worktree_beside_branches(path).await
            } else {
                repository.remove_worktree(path, own_branch).await
            }
        }
        Err(error) => Err(error),
    };
    match removed {
        Ok(None) => {}
        Ok(Some(unsaved)) => {
            return Ok(Removal::Kept(Kept::UnsavedWork {
                worktree: path.display().to_string(),
                branch: instance.branch_name.clone(),
                work: summarize(&unsaved),
            }));
        }
        // A person wants it to stay.
        Err(error @ GitError::WorktreeLocked { .. }) => {
            let error = error.to_string();
            return Ok(Removal::Kept(Kept::Locked { error }));
        }
        // Another process has the repository locked, or none can be started just now: that passes.
        Err(
            error @ (GitError::LockTimeout { .. }
            | GitError::Process {
                source: ProcessError::Spawn { .. },
            }),
        ) => return Ok(later(&error)),
        Err(error) if path.exists() => {
            return Ok(Removal::Kept(Kept::Unchecked {
                worktree: path.display().to_string(),
                error: error.to_string(),
            }));
        }
        Err(error) => return Err(error.into()),
    }
    if let Some(folder) = path.parent() {
        repository.delete_waste(folder).await;
    }
    if let Some(branch) = own_branch {
        match remove_branch(&repository, branch).await? {
            Removal::Done => {}
            left @ (Removal::Kept(_) | Removal::Deferred(_)) => return Ok(left),
        }
    }
    remove_empty_parents(instance, context);
    Ok(Removal::Done)
}

/// Tells whether an agent continues a branch that was there before it, and that stays when the agent goes.
pub(super) async fn continues_branch(context: &Context, id: &InstanceId) -> Result<bool, Error> {
    let id = id.clone();
    Ok(context.store.read(move |r| r.continues_branch(&id)).await?)
}

/// Tells whether the checkout of a worktree never ended, so that no agent was ever in it.
async fn is_half_made(repository: &Repository, instance: &Instance) -> Result<bool, GitError> {
    if instance.launch_step != LaunchStep::Worktree {
        return Ok(false);
    }
    repository
        .checkout_is_unfinished(&instance.worktree_path)
        .await
}

/// Deletes the branch if its commits are elsewhere too.
async fn remove_branch(repository: &Repository, branch: &str) -> Result<Removal, Error> {
    match repository.delete_saved_branch(branch).await {
        Ok(0) => Ok(Removal::Done),
        Ok(commits) => Ok(Removal::Kept(Kept::BranchCommits {
            branch: branch.to_owned(),
            commits,
        })),
        // A person has it checked out somewhere, or just committed to it: theirs now.
        Err(error @ (GitError::BranchCheckedOut { .. } | GitError::BranchMoved { .. })) => {
            let error = error.to_string();
            Ok(Removal::Kept(Kept::BranchInUse { error }))
        }
        Err(error @ GitError::LockTimeout { .. }) => Ok(later(&error)),
        Err(error) => Err(error.into()),
    }
}

fn later(error: &GitError) -> Removal {
    Removal::Deferred(format!("its worktree is removed later: {error}"))
}

/// Summarizes unsaved work for a note.
pub(crate) fn summarize(unsaved: &UnsavedWork) -> Unsaved {
    let mut others = Vec::new();
    if unsaved.uncommitted == 0 && unsaved.untracked_left_out {
        others.push("very many untracked files".to_owned());
    }
    for submodule in &unsaved.submodules {
        let path = submodule.path.display();
        let work = Unsaved {
            files: submodule.uncommitted,
            ..Unsaved::default()
        };
        if submodule.uncommitted > 0 {
            others.push(format!("{work} in submodule {path}"));
        }
        if submodule.commits > 0 {
            let commits = submodule.commits;
            let commits = counted(commits, "commit or stash", "commits or stashes");
            others.push(format!(
                "{commits} in submodule {path} that its remotes lack"
            ));
        }
        if let Some(operation) = submodule.operation {
            let operation = unfinished(operation);
            others.push(format!("{operation} in submodule {path}"));
        }
        for worktree in &submodule.worktrees {
            let worktree = worktree.display();
            others.push(format!("the worktree {worktree} of submodule {path}"));
        }
    }
    for worktree in &unsaved.worktrees {
        others.push(format!(
            "work in the nested worktree {}",
            worktree.display()
        ));
    }
    for mount in &unsaved.mounts {
        others.push(format!("a mount at {}", mount.display()));
    }
    others.extend(unsaved.operation.map(unfinished));
    Unsaved {
        files: unsaved.uncommitted,
        commits: unsaved.commits,
        others,
    }
}

fn unfinished(operation: Operation) -> String {
    format!("an unfinished {operation:?}").to_lowercase()
}

/// Removes the folders above a worktree that held nothing else; ones in use refuse by themselves.
pub(super) fn remove_empty_parents(instance: &Instance, context: &Context) {
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
