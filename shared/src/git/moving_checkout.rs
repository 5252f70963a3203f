//! Moves one checkout of an advancing branch: locks its index (`index.lock`) and updates its files.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use super::command::{CHECKOUT_TIMEOUT, Call};
use super::discovery::Repository;
use super::error::GitError;
use super::lock::WorktreeLock;
use super::oid::Oid;
use super::paths::path_of;
use crate::model::hidden::reveal_in_line;

/// How long a git of the person may take in the worktree.
const INDEX_TIMEOUT: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(10);
const MAX_FILE: usize = 1 << 30;
/// What our lock files of an index hold.
const OURS: &[u8] = b"claude-codex: a merge moves this worktree\n";
/// Paths that one call of git is given.
const MAX_PATHS: usize = 500;
/// Files that an error names.
const MAX_SHOWN: usize = 20;
/// The index that is made ready beside the one in use.
const INDEX_LOCK: &str = "index.lock";
const NEXT_INDEX: &str = "claude-codex.index";

/// A worktree that has the branch checked out.
#[derive(Debug)]
pub(super) struct MovingCheckout<'a> {
    pub(super) repository: &'a Repository,
    /// The merge lock, which the gits that are started here hold too.
    pub(super) lock: &'a WorktreeLock,
    pub(super) path: PathBuf,
    pub(super) git_dir: PathBuf,
}

impl MovingCheckout<'_> {
    fn index(&self) -> PathBuf {
        self.git_dir.join("index")
    }

    fn next_index(&self) -> PathBuf {
        self.git_dir.join(NEXT_INDEX)
    }

    fn index_lock(&self) -> PathBuf {
        self.git_dir.join(INDEX_LOCK)
    }

    /// Keeps other gits from changing the index, as they do themselves.
    pub(super) async fn lock_index(&self) -> Result<(), GitError> {
        let path = self.index_lock();
        // Linked with its content in it: killed at any moment, a lock of ours can be told from others.
        let mark = self.git_dir.join("claude-codex.mark");
        std::fs::write(&mark, OURS).map_err(GitError::io("write", &mark))?;
        let start = Instant::now();
        loop {
            match std::fs::hard_link(&mark, &path) {
                Ok(()) => break,
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(GitError::io("make", &path)(source)),
            }
            // We hold the merge lock, so the process that made a lock of ours has died.
            if is_locked_by_us(&self.git_dir) {
                break;
            }
            if start.elapsed() >= INDEX_TIMEOUT {
                let _ = std::fs::remove_file(&mark);
                return Err(GitError::IndexLocked {
                    worktree: self.path.clone(),
                    lock: path,
                });
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        let _ = std::fs::remove_file(&mark);
        Ok(())
    }

    pub(super) fn unlock_index(&self) {
        remove_lock_of_ours(&self.git_dir);
    }

    /// Refuses a move that would overwrite files which git ignores: `read-tree` takes those for worthless.
    ///
    /// Other untracked files are refused by `read-tree` itself.
    pub(super) async fn refuse_ignored(&self, from: &Oid, to: &Oid) -> Result<(), GitError> {
        let changes = self.changes(from, to).await?;
        let added = changes
            .iter()
            .filter(|(_, change)| change.before.is_none() && !change.is_submodule());
        let taken: BTreeSet<PathBuf> = added.filter_map(|(path, _)| self.taken(path)).collect();
        let taken: Vec<PathBuf> = taken.into_iter().collect();
        for some in taken.chunks(MAX_PATHS) {
            // Without a rule of what to exclude, this lists ignored files too.
            let untracked = self
                .call("ls-files")
                .args([
                    "--others",
                    "-z",
                    "--directory",
                    "--no-empty-directory",
                    "--",
                ])
                .args(some)
                .env("GIT_LITERAL_PATHSPECS", "1")
                .success()
                .await?;
            let files: Vec<String> = untracked
                .stdout
                .split(|byte| *byte == 0)
                .filter(|name| !name.is_empty())
                .take(MAX_SHOWN)
                .map(|name| reveal_in_line(&String::from_utf8_lossy(name)))
                .collect();
            if !files.is_empty() {
                return Err(GitError::FilesInTheWay {
                    worktree: self.path.clone(),
                    files,
                });
            }
        }
        Ok(())
    }

    /// Returns what is where a new file is to be: a file or folder of that name, or a file in place of a folder above it.
    fn taken(&self, path: &Path) -> Option<PathBuf> {
        let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
        above.pop();
        for folder in above.into_iter().rev() {
            match self.path.join(folder).symlink_metadata() {
                Ok(found) if found.is_dir() => {}
                Ok(_) => return Some(folder.to_owned()),
                Err(_) => return None,
            }
        }
        let found = self.path.join(path).symlink_metadata();
        found.is_ok().then(|| path.to_owned())
    }

    /// Copies the index, and brings the copy up to date with the files.
    pub(super) async fn prepare(&self) -> Result<(), GitError> {
        let next = self.next_index();
        // Left by a git that was killed: only merges use this name, and we hold their lock.
        let _ = std::fs::remove_file(self.git_dir.join(format!("{NEXT_INDEX}.lock")));
        std::fs::copy(self.index(), &next).map_err(GitError::io("copy", &self.index()))?;
        self.refresh().await
    }

    async fn refresh(&self) -> Result<(), GitError> {
        // It ends with status 1 if files differ, which is no failure.
        self.call("update-index")
            .args(["-q", "--refresh"])
            .run()
            .await?;
        Ok(())
    }

    /// Starts a call that uses the next index.
    fn call(&self, operation: &'static str) -> Call<'_> {
        self.repository
            .call_in(&self.path, operation)
            .env("GIT_INDEX_FILE", self.next_index())
            .writes()
            .holding(self.lock)
            .time(CHECKOUT_TIMEOUT)
    }

    /// Moves files and next index from one commit to another, or only finds out whether it can.
    pub(super) async fn read_tree(
        &self,
        from: &Oid,
        to: &Oid,
        dry_run: bool,
    ) -> Result<(), GitError> {
        let mut call = self.call("read-tree").args(["-m", "-u"]);
        if dry_run {
            call = call.arg("-n");
        }
        let call = call.args([from.as_str(), to.as_str()]);
        let finished = call.run().await?;
        if finished.status.success() {
            return Ok(());
        }
        let stderr = call.stderr(&finished);
        let in_the_way = [
            "not uptodate",
            "would be overwritten",
            "would be removed",
            "would lose",
        ];
        if in_the_way.iter().any(|phrase| stderr.contains(phrase)) {
            return Err(GitError::WorktreeDirty {
                path: self.path.clone(),
            });
        }
        Err(call.failure(&finished))
    }

    pub(super) fn use_next_index(&self) -> Result<(), GitError> {
        let next = self.next_index();
        std::fs::rename(&next, self.index()).map_err(GitError::io("rename", &next))
    }

    /// Does what a move that was interrupted after the branch had moved has left to do.
    pub(super) async fn follow(&self, from: &Oid, to: &Oid) -> Result<(), GitError> {
        self.prepare().await?;
        match self.read_tree(from, to, false).await {
            Ok(()) => self.use_next_index(),
            // Some files were written already.
            Err(_) => self.move_files(from, to).await,
        }
    }

    /// Moves the files that differ between two commits one by one, whichever of the two each is at.
    ///
    /// None of them had changes when the move began. So one that is like neither commit was either
    /// half written, or changed by a person since, and then it stays.
    pub(super) async fn move_files(&self, from: &Oid, to: &Oid) -> Result<(), GitError> {
        let changes = self.changes(from, to).await?;
        let mut left_out = self.left_out().await?;
        left_out.retain(|path| {
            changes
                .get(path)
                .is_some_and(|change| change.after.is_some())
        });
        let null = from.null_of_same_kind();
        let unlike_from = self
            .differing(&changes, &null, |change| change.before.as_ref())
            .await?;
        let unlike_to = self
            .differing(&changes, &null, |change| change.after.as_ref())
            .await?;
        let at_from = |path: &PathBuf, change: &Change| {
            change.before.is_some()
                && !unlike_from.contains(path)
                && self.path.join(path).symlink_metadata().is_ok()
        };
        // Files first that may be in the place of folders.
        for (path, change) in &changes {
            if change.after.is_none() && !change.is_submodule() && at_from(path, change) {
                let file = self.path.join(path);
                std::fs::remove_file(&file).map_err(GitError::io("remove", &file))?;
                self.remove_empty_parents(&file);
            }
        }
        let mut written = Vec::new();
        for (path, change) in &changes {
            let wanted = change.after.is_some() && !left_out.contains(path);
            if !wanted || !unlike_to.contains(path) {
                continue;
            }
            let file = self.path.join(path);
            if file.symlink_metadata().is_err()
                || at_from(path, change)
                || self.is_half_written(&file, to, path).await?
            {
                written.extend_from_slice(path.as_os_str().as_bytes());
                written.push(0);
            }
        }
        if !written.is_empty() {
            self.call("checkout-index")
                .args(["-f", "-q", "-u", "-z", "--stdin"])
                .input(&written)
                .success()
                .await?;
        }
        if !left_out.is_empty() {
            let mut names = Vec::new();
            for path in &left_out {
                names.extend_from_slice(path.as_os_str().as_bytes());
                names.push(0);
            }
            self.call("update-index")
                .args(["--skip-worktree", "-z", "--stdin"])
                .input(&names)
                .success()
                .await?;
        }
        self.refresh().await?;
        self.use_next_index()
    }

    /// Lists the files that a sparse checkout leaves out, as the index has them now.
    async fn left_out(&self) -> Result<BTreeSet<PathBuf>, GitError> {
        self.prepare().await?;
        let listed = self.call("ls-files").args(["-t", "-z"]).success().await?;
        let names = listed.stdout.split(|byte| *byte == 0);
        Ok(names
            .filter_map(|line| Some(path_of(line.strip_prefix(b"S ")?)))
            .collect())
    }

    /// Lists what differs between two commits.
    async fn changes(&self, from: &Oid, to: &Oid) -> Result<BTreeMap<PathBuf, Change>, GitError> {
        let finished = self
            .repository
            .call("diff-tree")
            .args(["-r", "-z", "--raw", "--no-renames", "--no-abbrev"])
            .args([from.as_str(), to.as_str(), "--"])
            .success()
            .await?;
        let mut changes = BTreeMap::new();
        let mut fields = finished.stdout.split(|byte| *byte == 0);
        while let (Some(facts), Some(path)) = (fields.next(), fields.next()) {
            let unexpected = || GitError::unexpected("diff-tree", facts);
            let text = std::str::from_utf8(facts).map_err(|_| unexpected())?;
            let facts: Vec<&str> = text.trim_start_matches(':').split(' ').collect();
            let [old_mode, new_mode, old, new, _] = facts[..] else {
                return Err(unexpected());
            };
            let side = |mode: &str, oid: &str| {
                (mode != "000000").then(|| (mode.to_owned(), oid.to_owned()))
            };
            let change = Change {
                before: side(old_mode, old),
                after: side(new_mode, new),
            };
            changes.insert(path_of(path), change);
        }
        Ok(changes)
    }

    /// Sets the next index to one side of the changes, and returns which files are not like it.
    async fn differing(
        &self,
        changes: &BTreeMap<PathBuf, Change>,
        null: &str,
        side: impl Fn(&Change) -> Option<&(String, String)>,
    ) -> Result<BTreeSet<PathBuf>, GitError> {
        self.prepare().await?;
        let mut input = Vec::new();
        for (path, change) in changes {
            let line = match side(change) {
                Some((mode, oid)) => format!("{mode} {oid} 0\t"),
                None => format!("0 {null}\t"),
            };
            input.extend_from_slice(line.as_bytes());
            input.extend_from_slice(path.as_os_str().as_bytes());
            input.push(0);
        }
        self.call("update-index")
            .args(["-z", "--index-info"])
            .input(&input)
            .success()
            .await?;
        self.refresh().await?;
        let finished = self
            .call("diff-files")
            .args([
                "--name-only",
                "-z",
                "--ignore-submodules=all",
                "--no-ext-diff",
            ])
            .success()
            .await?;
        let differing = finished.stdout.split(|byte| *byte == 0).map(path_of);
        Ok(differing
            .filter(|path| changes.contains_key(path))
            .collect())
    }

    /// Tells whether a file is the beginning of what it was to become.
    async fn is_half_written(&self, file: &Path, to: &Oid, path: &Path) -> Result<bool, GitError> {
        let Ok(found) = std::fs::read(file) else {
            return Ok(false);
        };
        let mut name = std::ffi::OsString::from(format!("{to}:"));
        name.push(path);
        let whole = self
            .repository
            .call_in(&self.path, "cat-file")
            .arg("--filters")
            .arg(name)
            .output(MAX_FILE)
            .run()
            .await?;
        Ok(whole.status.success() && whole.stdout.starts_with(&found))
    }

    fn remove_empty_parents(&self, file: &Path) {
        for parent in file.ancestors().skip(1) {
            if parent == self.path || std::fs::remove_dir(parent).is_err() {
                return;
            }
        }
    }

    /// Runs the hook that `git merge` would have run; what it says changes nothing.
    pub(super) async fn run_hook(&self) -> Result<(), GitError> {
        self.repository
            .call_in(&self.path, "hook run")
            .args(["--ignore-missing", "post-merge", "--", "0"])
            .writes()
            .time(CHECKOUT_TIMEOUT)
            .run()
            .await?;
        Ok(())
    }
}

/// One file: mode and object on both sides, if it is there.
struct Change {
    before: Option<(String, String)>,
    after: Option<(String, String)>,
}

impl Change {
    fn is_submodule(&self) -> bool {
        let sides = [&self.before, &self.after];
        let mut modes = sides.into_iter().flatten().map(|(mode, _)| mode);
        modes.any(|mode| mode == "160000")
    }
}

/// Unlocks an index that a merge has locked, if it still is.
pub(super) fn remove_lock_of_ours(git_dir: &Path) {
    let _ = std::fs::remove_file(git_dir.join(NEXT_INDEX));
    if is_locked_by_us(git_dir) {
        let _ = std::fs::remove_file(git_dir.join(INDEX_LOCK));
    }
}

/// Tells whether an index is locked by a merge.
pub(super) fn is_locked_by_us(git_dir: &Path) -> bool {
    std::fs::read(git_dir.join(INDEX_LOCK)).is_ok_and(|found| found == OURS)
}
