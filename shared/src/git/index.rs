//! The index of a worktree: its entries, and changed files that `assume-unchanged` and `skip-worktree` hide.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::command::Call;
use super::error::GitError;
use super::paths::path_of;
use super::status::{ChangeKind, EntryKind, parse_status};

/// The list of all files in the largest repositories.
const MAX_LISTING: usize = 256 << 20;
/// An index without marks, in the git directory of the worktree that is to go.
const UNMARKED: &str = "claude-codex-index";

/// What a worktree has checked out, as far as it may hide work.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Commits of other repositories.
    pub(super) links: Vec<PathBuf>,
    /// Folders with files of this repository that are also the top of another one.
    pub(super) repositories: Vec<PathBuf>,
    /// A file is there that is marked `assume-unchanged` or `skip-worktree`.
    pub(super) conceals: bool,
}

impl Listing {
    /// Reads the index of the worktree in `folder` by a call of `ls-files`.
    pub(super) async fn read(call: Call<'_>, folder: &Path) -> Result<Self, GitError> {
        let listed = call
            .args(["--stage", "-v", "-z"])
            .output(MAX_LISTING)
            .success()
            .await?;
        let mut listing = Self::default();
        let mut folders = BTreeSet::new();
        for line in listed.stdout.split(|byte| *byte == 0) {
            let Some(tab) = line.iter().position(|byte| *byte == b'\t') else {
                continue;
            };
            let path = path_of(&line[tab + 1..]);
            let mut inside = path.parent();
            while let Some(folder) = inside
                && !folder.as_os_str().is_empty()
                && folders.insert(folder.to_owned())
            {
                inside = folder.parent();
            }
            // A letter, a space, the mode: small letters are assumed unchanged, S is not checked out.
            if line[1..].starts_with(b" 160000 ") {
                listing.links.push(path);
            } else if line[0].is_ascii_lowercase() || line[0] == b'S' {
                listing.conceals |= folder.join(path).symlink_metadata().is_ok();
            }
        }
        let is_repository = |inside: &PathBuf| folder.join(inside).join(".git").exists();
        listing.repositories = folders.into_iter().filter(is_repository).collect();
        Ok(listing)
    }
}

/// Counts the files that differ from the commit, whatever the index is told to assume of them.
///
/// `git_dir` is where the index for that is made. Files that are missing don't count.
pub(super) async fn concealed<'a>(
    call: impl Fn(&'static str) -> Call<'a>,
    git_dir: &Path,
) -> Result<usize, GitError> {
    let index = git_dir.join(UNMARKED);
    let counted = async {
        call("read-tree")
            .arg("HEAD")
            .env("GIT_INDEX_FILE", &index)
            .writes()
            .success()
            .await?;
        let status = call("status")
            .args(["--porcelain=v2", "-z", "--branch", "--no-ahead-behind"])
            .args(["--ignore-submodules=all", "--untracked-files=no"])
            .env("GIT_INDEX_FILE", &index)
            .success()
            .await?;
        parse_status(&status.stdout, usize::MAX)
    };
    let counted = counted.await;
    let _ = std::fs::remove_file(&index);
    let is_lost = |kind: &EntryKind| {
        let EntryKind::Changed { unstaged, .. } = kind else {
            return false;
        };
        unstaged.is_some_and(|change| change != ChangeKind::Deleted)
    };
    let entries = counted?.entries;
    Ok(entries.iter().filter(|entry| is_lost(&entry.kind)).count())
}
