//! Adds a worktree (`git worktree add`) atomically, also when many processes add worktrees at the same time.
//!
//! Registering the worktree and its branch (some 10 ms) happens under the repository's lock;
//! writing the files happens outside it, so that ten checkouts run side by side.

use std::path::{Path, PathBuf};

use tokio::sync::oneshot;

use super::command::CHECKOUT_TIMEOUT;
use super::discovery::Repository;
use super::error::GitError;
use super::lock::WorktreeLock;
use super::names::check_branch;
use super::oid::Oid;
use super::paths::resolved;
use super::worktree::remove_directory;

/// What a new worktree has checked out; `at` is any revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checkout {
    NewBranch { name: String, at: String },
    ExistingBranch { name: String },
    Detached { at: String },
}

/// A worktree with all its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedWorktree {
    pub path: PathBuf,
    pub head: Oid,
    pub branch: Option<String>,
    /// What the repository's post-checkout hook said when it failed; git keeps the worktree then.
    pub hook_failure: Option<String>,
}

const OPERATION: &str = "worktree add";

impl Repository {
    /// Adds a worktree at a path that does not exist yet (or is an empty directory).
    ///
    /// On failure, and when the future is dropped, everything made so far is removed again; in the
    /// latter case by a task of its own, which needs the runtime to live a moment longer.
    pub async fn add_worktree(
        &self,
        path: &Path,
        checkout: Checkout,
    ) -> Result<AddedWorktree, GitError> {
        self.add_worktree_until(path, checkout, std::future::pending())
            .await
    }

    /// Like [`Repository::add_worktree`], but gives up when `stop` comes, and returns when all is
    /// removed again.
    pub async fn add_worktree_until(
        &self,
        path: &Path,
        checkout: Checkout,
        stop: impl Future<Output = ()>,
    ) -> Result<AddedWorktree, GitError> {
        let repository = self.clone();
        let path = path.to_owned();
        let (caller_waits, caller_left) = oneshot::channel::<()>();
        let mut task = tokio::spawn(async move {
            let mut addition = Addition::prepare(repository, &path, checkout).await?;
            addition.run(caller_left).await
        });
        let outcome = tokio::select! {
            biased;
            outcome = &mut task => {
                drop(caller_waits);
                outcome
            }
            () = stop => {
                drop(caller_waits);
                task.await
            }
        };
        outcome.map_err(|source| GitError::Task {
            operation: OPERATION,
            source,
        })?
    }

    async fn start_of(&self, checkout: &Checkout) -> Result<Oid, GitError> {
        let found = match checkout {
            Checkout::NewBranch { name, at } => {
                check_branch(name)?;
                self.resolve(at).await
            }
            Checkout::Detached { at } => self.resolve(at).await,
            Checkout::ExistingBranch { name } => {
                check_branch(name)?;
                let tip = self.read_ref(&format!("refs/heads/{name}")).await?;
                tip.ok_or_else(|| GitError::BranchNotFound { name: name.clone() })
            }
        };
        if found.is_err() && self.is_empty().await? {
            return Err(GitError::EmptyRepository {
                path: self.root().to_owned(),
            });
        }
        found
    }

    async fn is_empty(&self) -> Result<bool, GitError> {
        let any = self
            .call("rev-list")
            .args(["--all", "--max-count=1"])
            .success()
            .await?;
        Ok(any.stdout.is_empty())
    }
}

/// A worktree that is being added, and what must be undone if that fails.
struct Addition {
    repository: Repository,
    path: PathBuf,
    checkout: Checkout,
    start: Oid,
    /// An empty directory was there before and will be again.
    directory_was_there: bool,
    /// The directories above the path that git will have to make, innermost first.
    missing_parents: Vec<PathBuf>,
}

impl Addition {
    async fn prepare(
        repository: Repository,
        path: &Path,
        checkout: Checkout,
    ) -> Result<Self, GitError> {
        use std::os::unix::ffi::OsStrExt;
        let ends_in_space = path
            .as_os_str()
            .as_bytes()
            .last()
            .is_none_or(u8::is_ascii_whitespace);
        // git strips white space from the end of the line in which it keeps the path.
        if !path.is_absolute() || ends_in_space || path.file_name().is_none() {
            return Err(GitError::InvalidPath {
                path: path.to_owned(),
            });
        }
        let directory_was_there = match path.symlink_metadata() {
            Err(_) => false,
            Ok(_) if is_empty_directory(path) => true,
            Ok(_) => {
                return Err(GitError::PathTaken {
                    path: path.to_owned(),
                });
            }
        };
        let start = repository.start_of(&checkout).await?;
        let path = resolved(path);
        let missing_parents = path
            .ancestors()
            .skip(1)
            .take_while(|parent| parent.symlink_metadata().is_err())
            .map(Path::to_owned)
            .collect();
        Ok(Self {
            repository,
            path,
            checkout,
            start,
            directory_was_there,
            missing_parents,
        })
    }

    async fn run(
        &mut self,
        mut caller_left: oneshot::Receiver<()>,
    ) -> Result<AddedWorktree, GitError> {
        let cancelled = || GitError::Cancelled {
            operation: OPERATION,
        };
        let lock = tokio::select! {
            biased;
            _ = &mut caller_left => return Err(cancelled()),
            lock = self.repository.lock() => lock?,
        };
        // Not cancelled half-way: it is over in milliseconds, and a whole step is easier to undo.
        let registered = self.register(&lock).await;
        drop(lock);
        registered?;
        let populated = tokio::select! {
            biased;
            _ = &mut caller_left => Err(cancelled()),
            populated = self.populate() => populated,
        };
        match populated {
            Ok(added) => Ok(added),
            Err(cause) => {
                let undone = match self.repository.lock().await {
                    Ok(lock) => self.undo(&lock).await,
                    Err(error) => Err(error),
                };
                Err(self.outcome_of_undo(cause, undone))
            }
        }
    }

    /// Makes the branch, the administrative files and the empty worktree; to be called under the lock.
    async fn register(&self, lock: &WorktreeLock) -> Result<(), GitError> {
        self.repository.note_root()?;
        // Known for certain, so that undoing never deletes a branch that was there before.
        if let Checkout::NewBranch { name, .. } = &self.checkout
            && self.repository.branch_exists(name).await?
        {
            return Err(GitError::BranchExists { name: name.clone() });
        }
        let Err(first) = self.try_register(lock).await else {
            return Ok(());
        };
        if let Registration::Stale(_) = first
            && !self.has_work_in_record().await?
        {
            self.repository.erase_unfinished(&self.path, lock).await?;
            return self
                .try_register(lock)
                .await
                .map_err(Registration::into_error);
        }
        Err(first.into_error())
    }

    /// Tells whether something would be lost with the record of a worktree that was here: its directory is gone,
    /// but not what git keeps of it elsewhere.
    async fn has_work_in_record(&self) -> Result<bool, GitError> {
        match self.repository.record_of(&self.path)? {
            Some(record) => Ok(self.repository.unsaved_in_record(&record).await?.is_some()),
            None => Ok(false),
        }
    }

    async fn try_register(&self, lock: &WorktreeLock) -> Result<(), Registration> {
        let mut call = self
            .repository
            .call(OPERATION)
            .args(["--quiet", "--no-checkout"])
            .writes()
            .holding(lock);
        call = match &self.checkout {
            Checkout::NewBranch { name, .. } => call.args(["--no-track", "-b", name]),
            Checkout::ExistingBranch { .. } => call,
            Checkout::Detached { .. } => call.arg("--detach"),
        };
        call = call.arg("--").arg(&self.path);
        call = match &self.checkout {
            Checkout::ExistingBranch { name } => call.arg(name),
            Checkout::NewBranch { .. } | Checkout::Detached { .. } => call.arg(self.start.as_str()),
        };
        let cause = match call.run().await {
            Ok(finished) if finished.status.success() => return Ok(()),
            Ok(finished) => {
                let stderr = call.stderr(&finished);
                let failure = call.failure(&finished);
                match self.explain(&stderr).await.map_err(Registration::Failed)? {
                    Some(refused) => return Err(refused),
                    None => failure,
                }
            }
            Err(error) => error,
        };
        let undone = self.undo(lock).await;
        Err(Registration::Failed(self.outcome_of_undo(cause, undone)))
    }

    /// Recognises the refusals that leave the path as it was.
    async fn explain(&self, stderr: &str) -> Result<Option<Registration>, GitError> {
        let refused = match &self.checkout {
            Checkout::NewBranch { name, .. }
                if stderr.contains("a branch named") && stderr.contains("already exists") =>
            {
                GitError::BranchExists { name: name.clone() }
            }
            Checkout::ExistingBranch { name }
                if stderr.contains("already checked out at")
                    || stderr.contains("already used by worktree at") =>
            {
                let at = self.repository.branch_checked_out_at(name).await?;
                GitError::BranchCheckedOut {
                    name: name.clone(),
                    at: at.unwrap_or_else(|| quoted_path(stderr)),
                }
            }
            Checkout::NewBranch { .. }
            | Checkout::ExistingBranch { .. }
            | Checkout::Detached { .. } => {
                let stale = stderr.contains("missing but already registered");
                let in_the_way = stale
                    || stderr.contains("missing but locked")
                    || (stderr.contains(" already exists") && !stderr.contains("cannot lock ref"));
                if !in_the_way {
                    return Ok(None);
                }
                // git makes the branch before it checks the path.
                self.drop_branch().await?;
                let taken = GitError::PathTaken {
                    path: self.path.clone(),
                };
                if stale {
                    return Ok(Some(Registration::Stale(taken)));
                }
                taken
            }
        };
        Ok(Some(Registration::Failed(refused)))
    }

    /// Writes the files and runs the hook that `git worktree add` would have run.
    async fn populate(&self) -> Result<AddedWorktree, GitError> {
        // Not `reset --hard`: that also writes the branch anew, and a git that is ended there can leave the
        // branch's lock file behind, which nobody could tell from one that is in use.
        self.repository
            .call_in(&self.path, "read-tree")
            .args(["--reset", "-u", "HEAD"])
            .writes()
            .time(CHECKOUT_TIMEOUT)
            .success()
            .await?;
        let hook = self
            .repository
            .call_in(&self.path, "hook run")
            .args(["--ignore-missing", "post-checkout", "--"])
            .arg(self.start.null_of_same_kind())
            .args([self.start.as_str(), "1"])
            .writes()
            .time(CHECKOUT_TIMEOUT);
        let finished = hook.run().await?;
        let stderr = hook.stderr(&finished);
        // git before 2.36 cannot run hooks for others.
        let failed = !finished.status.success() && !stderr.contains("is not a git command");
        Ok(AddedWorktree {
            path: self.path.clone(),
            head: self.start.clone(),
            branch: match &self.checkout {
                Checkout::NewBranch { name, .. } | Checkout::ExistingBranch { name } => {
                    Some(name.clone())
                }
                Checkout::Detached { .. } => None,
            },
            hook_failure: failed.then_some(stderr),
        })
    }

    async fn undo(&self, lock: &WorktreeLock) -> Result<(), GitError> {
        self.repository.erase_unfinished(&self.path, lock).await?;
        // Also when git has forgotten it: an ended checkout may have written one more file.
        remove_directory(&self.path).await?;
        if self.directory_was_there {
            tokio::fs::create_dir_all(&self.path)
                .await
                .map_err(GitError::io("create", &self.path))?;
        }
        for parent in &self.missing_parents {
            // Another worktree may have come to live there.
            if tokio::fs::remove_dir(parent).await.is_err() {
                break;
            }
        }
        self.drop_branch().await
    }

    /// Deletes the branch that was made for this worktree.
    async fn drop_branch(&self) -> Result<(), GitError> {
        match &self.checkout {
            Checkout::NewBranch { name, .. } => {
                self.repository
                    .delete_branch_under_lock(name, Some(&self.start))
                    .await
            }
            Checkout::ExistingBranch { .. } | Checkout::Detached { .. } => Ok(()),
        }
    }

    fn outcome_of_undo(&self, cause: GitError, undone: Result<(), GitError>) -> GitError {
        match undone {
            Ok(()) => cause,
            Err(undo) => GitError::LeftBehind {
                path: self.path.clone(),
                cause: Box::new(cause),
                undo: Box::new(undo),
            },
        }
    }
}

/// Why a worktree could not be registered.
enum Registration {
    /// The path belongs to a worktree whose directory is gone.
    Stale(GitError),
    Failed(GitError),
}

impl Registration {
    fn into_error(self) -> GitError {
        match self {
            Self::Stale(error) | Self::Failed(error) => error,
        }
    }
}

fn is_empty_directory(path: &Path) -> bool {
    std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// Takes the path from a message that ends in `at '<path>'`.
fn quoted_path(message: &str) -> PathBuf {
    let quoted = message.rsplit_once(" at '").map(|(_, path)| path);
    PathBuf::from(quoted.unwrap_or_default().trim_end_matches('\''))
}
