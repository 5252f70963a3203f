//! Removes a worktree atomically: a process that is killed on the way leaves it whole or gone.
//!
//! First it is renamed: nothing writes into it by its path any more, and what came after the first
//! look is found by a second one. Then git's record of it goes, by a rename too, under the
//! repository's lock: that takes microseconds. Only then are files deleted, outside the lock. So a
//! renamed worktree that git still knows is whole and goes back; one it does not know is waste.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::delete_folder::{delete_folder, entries};
use super::discovery::Repository;
use super::error::GitError;
use super::lock::WorktreeLock;
use super::mounts::mounts_in;
use super::nested::Nested;
use super::paths::{link_of, linked_record, recorded_link, resolved};
use super::unsaved::{Leaving, UnsavedWork};
use super::worktree::{UNFINISHED, remove_directory};
use crate::fault;
use crate::file;

/// Ends the name of a worktree that is being removed.
const MARK: &str = ".removing";
/// Where git's records of removed worktrees go, in the common directory.
const RECORDS: &str = "claude-codex-removed";
/// Waste that is older belongs to a removal that has died.
const WASTE_GRACE: Duration = Duration::from_mins(1);

impl Repository {
    /// Removes a linked worktree unless something would be lost with it and with `own_branch`: then
    /// it stays, and that is returned. One that is gone already is fine, one that is locked stays.
    pub async fn remove_worktree(
        &self,
        path: &Path,
        own_branch: Option<&str>,
    ) -> Result<Option<UnsavedWork>, GitError> {
        self.remove_if_saved(path, Leaving::WithBranches(own_branch))
            .await
    }

    /// Does the same with a worktree whose branch stays.
    pub async fn remove_worktree_beside_branches(
        &self,
        path: &Path,
    ) -> Result<Option<UnsavedWork>, GitError> {
        self.remove_if_saved(path, Leaving::Alone).await
    }

    async fn remove_if_saved(
        &self,
        path: &Path,
        leaving: Leaving<'_>,
    ) -> Result<Option<UnsavedWork>, GitError> {
        let path = resolved(path);
        self.restore_worktree(&path).await?;
        if self.record_to_remove(&path, false)?.is_none() {
            // A git that outlived its killed launcher may be making it now: it holds the lock.
            drop(self.lock().await?);
        }
        let Some(record) = self.record_to_remove(&path, false)? else {
            return Ok(None);
        };
        if path.symlink_metadata().is_err() {
            let unsaved = self.unsaved_in_record(&record).await?;
            if unsaved.is_none() {
                self.forget(&record).await?;
            }
            return Ok(unsaved);
        }
        let unsaved = self.unsaved(&path, leaving).await?;
        if !unsaved.is_nothing() {
            return Ok(Some(unsaved));
        }
        let inside = self.worktrees_inside(&path)?;
        let aside = set_aside(&path)?;
        let forgotten = match self.is_unchanged(&aside, &unsaved, &record, &inside).await {
            Ok(true) => self.forget_set_aside(&record, &aside).await,
            Ok(false) => {
                put_back(&aside, &path, &record)?;
                return Ok(Some(self.unsaved(&path, leaving).await?));
            }
            Err(error) => Err(error),
        };
        if let Err(error) = forgotten {
            if aside.symlink_metadata().is_ok() {
                put_back(&aside, &path, &record)?;
            } else if path.symlink_metadata().is_err() {
                // Another process has removed it.
                return Ok(None);
            }
            return Err(error);
        }
        for nested in inside {
            self.forget(&nested.record).await?;
        }
        delete(&aside).await;
        Ok(None)
    }

    /// Looks again, and only at what may have come since nothing was found to lose.
    async fn is_unchanged(
        &self,
        aside: &Path,
        found: &UnsavedWork,
        record: &Path,
        inside: &[Nested],
    ) -> Result<bool, GitError> {
        for nested in inside {
            if self.is_needed(nested, aside).await? {
                return Ok(false);
            }
        }
        if record.join("modules").exists() || aside.join(".gitmodules").exists() {
            let again = self.unsaved_work(aside, None).await?;
            return Ok(again.submodules.is_empty()
                && again.mounts.is_empty()
                && again.uncommitted == 0
                && again.commit == found.commit);
        }
        let status = self.status_without_submodules(aside, 0).await?;
        Ok(status.is_clean() && status.commit == found.commit && mounts_in(aside).is_empty())
    }

    /// Removes a linked worktree with all that is in it, also a broken one; one that is gone
    /// already is fine, one that a person has locked stays.
    pub async fn erase_worktree(&self, path: &Path) -> Result<(), GitError> {
        let path = resolved(path);
        let Some(record) = self.record_to_remove(&path, true)? else {
            return Ok(());
        };
        let lock = self.lock().await?;
        self.erase_under_lock(&path, &record, &lock).await
    }

    /// Does the same for what a failed addition has left.
    pub(super) async fn erase_unfinished(
        &self,
        path: &Path,
        lock: &WorktreeLock,
    ) -> Result<(), GitError> {
        match self.record_of(path)? {
            Some(record) => self.erase_under_lock(path, &record, lock).await,
            None => Ok(()),
        }
    }

    async fn erase_under_lock(
        &self,
        path: &Path,
        record: &Path,
        lock: &WorktreeLock,
    ) -> Result<(), GitError> {
        let waste = self.forget_under_lock(record, lock)?;
        delete(&waste).await;
        remove_directory(path).await
    }

    /// Brings back a worktree whose removal was interrupted before git had forgotten it, and deletes
    /// what interrupted removals have left of it otherwise.
    pub async fn restore_worktree(&self, path: &Path) -> Result<(), GitError> {
        let path = resolved(path);
        for aside in asides(&path) {
            match self.record_in(&aside, &path) {
                Some(record) if path.symlink_metadata().is_err() => {
                    put_back(&aside, &path, &record)?;
                }
                Some(_) => {}
                None => delete(&aside).await,
            }
        }
        Ok(())
    }

    /// Deletes what removals of other worktrees in this folder have left behind.
    pub async fn delete_waste(&self, folder: &Path) {
        let worktrees = entries(folder).filter(|path| self.is_waste(path));
        let records = entries(&self.common_dir().join(RECORDS));
        for waste in worktrees.chain(records) {
            let abandoned = waste.symlink_metadata().is_ok_and(|found| {
                let changed = Duration::from_secs(found.ctime().unsigned_abs());
                let age = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH + changed);
                age.is_ok_and(|age| age > WASTE_GRACE)
            });
            if abandoned {
                delete(&waste).await;
            }
        }
    }

    /// Tells whether a folder was a worktree of this repository that git has forgotten: its `.git` file is deleted last.
    pub(super) fn is_waste(&self, folder: &Path) -> bool {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        if !(name.starts_with('.') && name.rfind(MARK).is_some_and(|at| ends(&name[at..]))) {
            return false;
        }
        let record = link_of(folder).filter(|record| !record.exists());
        let mut above = record.iter().flat_map(|record| record.ancestors().skip(1));
        let (worktrees, common_dir) = (above.next(), above.next());
        worktrees.is_some_and(|path| path.ends_with("worktrees"))
            && common_dir
                .and_then(|path| path.canonicalize().ok())
                .as_deref()
                == Some(self.common_dir())
    }

    /// Finds git's record of a worktree that may be removed; none if there is nothing to remove.
    fn record_to_remove(&self, path: &Path, unfinished: bool) -> Result<Option<PathBuf>, GitError> {
        let Some(record) = self.record_of(path)? else {
            return if path.symlink_metadata().is_ok() {
                Err(GitError::NotALinkedWorktree {
                    path: path.to_owned(),
                })
            } else {
                Ok(None)
            };
        };
        match std::fs::read_to_string(record.join("locked")) {
            Ok(reason) if !(unfinished && reason.trim() == UNFINISHED) => {
                Err(GitError::WorktreeLocked {
                    path: path.to_owned(),
                    reason: reason.trim().to_owned(),
                })
            }
            Ok(_) | Err(_) => Ok(Some(record)),
        }
    }

    /// Finds the folder in which git keeps what it knows about a worktree.
    pub(super) fn record_of(&self, path: &Path) -> Result<Option<PathBuf>, GitError> {
        let wanted = path.join(".git");
        let mut records = self.records()?.into_iter();
        Ok(records.find(|record| recorded_link(record).as_ref() == Some(&wanted)))
    }

    /// Lists those folders of all linked worktrees.
    pub(super) fn records(&self) -> Result<Vec<PathBuf>, GitError> {
        let folder = self.common_dir().join("worktrees");
        match std::fs::read_dir(&folder) {
            Ok(found) => Ok(found.flatten().map(|entry| entry.path()).collect()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(source) => Err(GitError::io("read", &folder)(source)),
        }
    }

    /// Returns git's record of a worktree that was set aside, if it still is that worktree's.
    fn record_in(&self, aside: &Path, path: &Path) -> Option<PathBuf> {
        let record = linked_record(aside)?;
        // An agent may have written anything into that file.
        let ours = record.parent()? == self.common_dir().join("worktrees");
        let link = recorded_link(&record)?;
        // git brings the link up to date when it is used in a worktree that was moved.
        let meant = link == path.join(".git") || link == aside.join(".git");
        (ours && meant).then_some(record)
    }

    /// Takes away git's record of a worktree, if it still is where we have put it: somebody may have brought it back meanwhile,
    /// and then the record is theirs, or that of a new one.
    async fn forget_set_aside(&self, record: &Path, aside: &Path) -> Result<(), GitError> {
        let lock = self.lock().await?;
        if linked_record(aside) != record.canonicalize().ok() {
            return Err(GitError::NotALinkedWorktree {
                path: aside.to_owned(),
            });
        }
        let waste = self.forget_under_lock(record, &lock)?;
        drop(lock);
        delete(&waste).await;
        Ok(())
    }

    async fn forget(&self, record: &Path) -> Result<(), GitError> {
        let lock = self.lock().await?;
        let waste = self.forget_under_lock(record, &lock)?;
        drop(lock);
        delete(&waste).await;
        Ok(())
    }

    /// Takes away git's record of a worktree; what is returned is to be deleted.
    fn forget_under_lock(&self, record: &Path, _lock: &WorktreeLock) -> Result<PathBuf, GitError> {
        let folder = self.common_dir().join(RECORDS);
        std::fs::create_dir_all(&folder).map_err(GitError::io("make", &folder))?;
        let name = record.file_name().unwrap_or_default();
        let free = |number: u32| {
            let mut name = name.to_owned();
            name.push(format!(".{number}"));
            folder.join(name)
        };
        let waste = match rename_to_free(record, free) {
            // Another process has taken it.
            Err(_) if !record.exists() => free(0),
            outcome => outcome?,
        };
        // As git does with the last one; it stays if there are others.
        let _ = std::fs::remove_dir(self.common_dir().join("worktrees"));
        Ok(waste)
    }
}

/// Renames a worktree to a hidden name beside it.
fn set_aside(path: &Path) -> Result<PathBuf, GitError> {
    let name = path.file_name().unwrap_or_default().to_owned();
    rename_to_free(path, |number| {
        let mut aside = std::ffi::OsString::from(".");
        aside.push(&name);
        aside.push(MARK);
        if number > 0 {
            aside.push(format!("-{number}"));
        }
        path.with_file_name(aside)
    })
}

fn put_back(aside: &Path, path: &Path, record: &Path) -> Result<(), GitError> {
    std::fs::rename(aside, path).map_err(GitError::io("rename", aside))?;
    if recorded_link(record).is_none_or(|link| link != path.join(".git")) {
        use std::os::unix::ffi::OsStrExt;
        let mut line = path.join(".git").as_os_str().as_bytes().to_owned();
        line.push(b'\n');
        let gitdir = record.join("gitdir");
        file::replace(&gitdir, line, None).map_err(GitError::io("write", &gitdir))?;
    }
    Ok(())
}

/// Renames to the first of the names that is not taken.
fn rename_to_free(from: &Path, name: impl Fn(u32) -> PathBuf) -> Result<PathBuf, GitError> {
    const MAX_NAMES: u32 = 1_000;
    let mut number = 0;
    loop {
        let to = name(number);
        match std::fs::rename(from, &to) {
            Ok(()) => {
                fault::after("rename of a worktree or its record");
                return Ok(to);
            }
            Err(error) if number < MAX_NAMES && to.symlink_metadata().is_ok() => {
                tracing::debug!(%error, "{} is taken", to.display());
            }
            Err(source) => return Err(GitError::io("rename", from)(source)),
        }
        number += 1;
    }
}

/// Lists what is left of removals of one worktree.
fn asides(path: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Vec::new();
    };
    let start = format!(".{}{MARK}", name.to_string_lossy());
    let of_it = |found: &PathBuf| {
        let found = found.file_name().unwrap_or_default().to_string_lossy();
        found
            .strip_prefix(&start)
            .is_some_and(|number| ends(&format!("{MARK}{number}")))
    };
    entries(folder).filter(of_it).collect()
}

/// Tells whether this is the mark, or the mark with a number.
fn ends(end: &str) -> bool {
    end.strip_prefix(MARK).is_some_and(|rest| {
        let number = rest.strip_prefix('-');
        rest.is_empty() || number.is_some_and(|number| number.parse::<u32>().is_ok())
    })
}

/// Deletes waste. What can't be deleted is left to the next removal: git has forgotten it already.
async fn delete(waste: &Path) {
    const ATTEMPTS: u32 = 3;
    // Something may just have written one more file.
    const RETRY_INTERVAL: Duration = Duration::from_millis(20);
    fault::after("all but the deletion of a worktree's files");
    if let Err(error) = delete_folder(waste, ATTEMPTS, RETRY_INTERVAL).await {
        tracing::warn!(%error, "{} could not be deleted", waste.display());
    }
}
