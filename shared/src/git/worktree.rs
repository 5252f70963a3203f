//! The worktrees of a repository. Adding one is in `add_worktree`, removing one in `remove_worktree`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::delete_folder::delete_folder;
use super::discovery::Repository;
use super::error::GitError;
use super::oid::Oid;
use super::paths::{path_of, resolved};
use crate::file;

/// The reason git gives for its own lock while a worktree is being added.
pub(super) const UNFINISHED: &str = "initializing";

/// The file, in git's record of a worktree, that says whose it is.
const LABEL: &str = "claude-codex-label";

/// One line of `git worktree list`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    pub path: PathBuf,
    /// None in a bare repository and on an unborn branch.
    pub head: Option<Oid>,
    /// None if detached or bare.
    pub branch: Option<String>,
    pub bare: bool,
    /// The reason, which may be empty.
    pub locked: Option<String>,
    /// Why git could forget it, mostly because its directory is gone.
    pub prunable: Option<String>,
}

impl Repository {
    /// Lists the worktrees, the main one (or the bare repository) first.
    pub async fn worktrees(&self) -> Result<Vec<Worktree>, GitError> {
        const USAGE: Option<i32> = Some(129);
        let call = self.call("worktree list").args(["--porcelain", "-z"]);
        let finished = call.run().await?;
        if finished.status.success() {
            return Ok(self.with_root(parse_worktrees(&finished.stdout, 0)?));
        }
        if finished.status.code() != USAGE {
            return Err(call.failure(&finished));
        }
        // git before 2.36 has no -z; there a path with a line break shows wrongly.
        let finished = self
            .call("worktree list")
            .arg("--porcelain")
            .success()
            .await?;
        Ok(self.with_root(parse_worktrees(&finished.stdout, b'\n')?))
    }

    /// Puts right where the main worktree is: git guesses it from the git directory, which may be kept elsewhere.
    fn with_root(&self, mut worktrees: Vec<Worktree>) -> Vec<Worktree> {
        if let Some(main) = worktrees.first_mut().filter(|main| !main.bare) {
            self.root().clone_into(&mut main.path);
        }
        worktrees
    }

    /// Writes into git's record of a worktree whose it is. The note goes with the record.
    pub fn label_worktree(&self, path: &Path, label: &str) -> Result<(), GitError> {
        let path = resolved(path);
        let Some(record) = self.record_of(&path)? else {
            return Err(GitError::NotALinkedWorktree { path });
        };
        let path = record.join(LABEL);
        // Atomically: a half-written label would make the worktree another agent's, and it would never be removed.
        file::replace(&path, label, None).map_err(GitError::io("write", &path))
    }

    /// Reads whose a worktree is; none if nobody has said so.
    pub fn label_of_worktree(&self, path: &Path) -> Result<Option<String>, GitError> {
        let record = self.record_of(&resolved(path))?;
        Ok(record.and_then(|record| std::fs::read_to_string(record.join(LABEL)).ok()))
    }

    /// Tells whether a folder is a linked worktree that this repository knows.
    pub fn has_worktree(&self, path: &Path) -> Result<bool, GitError> {
        Ok(self.record_of(&resolved(path))?.is_some())
    }

    /// Tells whether the files of a linked worktree were never all written: git writes the index last.
    pub async fn checkout_is_unfinished(&self, path: &Path) -> Result<bool, GitError> {
        // A git that outlived its killed launcher may be adding the worktree now: it holds the lock.
        drop(self.lock().await?);
        let record = self.record_of(&resolved(path))?;
        Ok(record.is_some_and(|record| !record.join("index").exists()))
    }
}

/// Removes a directory tree; one that is gone already is fine.
pub(super) async fn remove_directory(path: &Path) -> Result<(), GitError> {
    // A git that is just being ended, or has lost its launcher, may still write files into it. Once
    // the directory is gone it can't.
    const ATTEMPTS: u32 = 100;
    const RETRY_INTERVAL: Duration = Duration::from_millis(50);
    let deleted = delete_folder(path, ATTEMPTS, RETRY_INTERVAL).await;
    deleted.map_err(GitError::io("remove", path))
}

/// Reads `git worktree list --porcelain`, whose lines end in NUL (with -z) or a line break.
pub fn parse_worktrees(output: &[u8], line_end: u8) -> Result<Vec<Worktree>, GitError> {
    let unexpected = |line: &[u8]| GitError::unexpected("worktree list", line);
    let mut worktrees: Vec<Worktree> = Vec::new();
    for line in output.split(|byte| *byte == line_end) {
        let (word, value) = match line.iter().position(|byte| *byte == b' ') {
            Some(space) => (&line[..space], &line[space + 1..]),
            None => (line, &[][..]),
        };
        let text = || String::from_utf8_lossy(value).into_owned();
        if word == b"worktree" {
            worktrees.push(Worktree {
                path: path_of(value),
                head: None,
                branch: None,
                bare: false,
                locked: None,
                prunable: None,
            });
            continue;
        }
        if word.is_empty() {
            continue;
        }
        let worktree = worktrees.last_mut().ok_or_else(|| unexpected(line))?;
        match word {
            b"HEAD" => {
                let oid = Oid::parse(&text()).ok_or_else(|| unexpected(line))?;
                // An unborn branch shows as the id of nothing.
                worktree.head = Some(oid).filter(|oid| oid.as_str().bytes().any(|b| b != b'0'));
            }
            b"branch" => {
                let name = text();
                worktree.branch =
                    Some(name.strip_prefix("refs/heads/").unwrap_or(&name).to_owned());
            }
            b"bare" => worktree.bare = true,
            b"locked" => worktree.locked = Some(text()),
            b"prunable" => worktree.prunable = Some(text()),
            // `detached`, and what later versions may add.
            _ => {}
        }
    }
    Ok(worktrees)
}
