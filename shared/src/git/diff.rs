//! Diffs of a branch against its merge base.

use std::path::{Path, PathBuf};

use super::command::MAX_OUTPUT;
use super::discovery::Repository;
use super::error::GitError;
use super::oid::Oid;
use super::paths::path_of;
use super::status::ChangeKind;
use crate::process::ProcessError;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiffStat {
    pub files: Vec<FileStat>,
    pub added: u64,
    pub removed: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStat {
    pub path: PathBuf,
    pub renamed_from: Option<PathBuf>,
    /// Lines; 0 if binary.
    pub added: u64,
    pub removed: u64,
    pub binary: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    pub path: PathBuf,
    pub original: Option<PathBuf>,
    pub kind: ChangeKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffText {
    /// Whole lines; invalid UTF-8 replaced.
    pub text: String,
    pub truncated: bool,
}

impl Repository {
    /// Counts the lines that `head` changes in each file since it left `base`.
    pub async fn diff_stat(&self, base: &str, head: &str) -> Result<DiffStat, GitError> {
        let output = self
            .diff(base, head, &["--numstat", "-z"], MAX_OUTPUT)
            .await?;
        parse_numstat(&output)
    }

    /// Lists the files that `head` changes since it left `base`.
    pub async fn changed_files(
        &self,
        base: &str,
        head: &str,
    ) -> Result<Vec<ChangedFile>, GitError> {
        let output = self
            .diff(base, head, &["--name-status", "-z"], MAX_OUTPUT)
            .await?;
        parse_name_status(&output)
    }

    /// Returns the diff of `head` since it left `base`, cut after a line to at most `max_bytes`.
    ///
    /// A diff of many megabytes is given as no text at all, marked as truncated.
    pub async fn diff_text(
        &self,
        base: &str,
        head: &str,
        max_bytes: usize,
    ) -> Result<DiffText, GitError> {
        let limit = max_bytes.max(MAX_OUTPUT);
        let output = self.diff(base, head, &["--patch"], limit).await;
        cut_at_line(output, max_bytes)
    }

    /// Returns what differs between two commits, whatever their history, cut like [`Self::diff_text`].
    pub async fn diff_text_between(
        &self,
        from: &str,
        to: &str,
        max_bytes: usize,
    ) -> Result<DiffText, GitError> {
        let (from, to) = self.resolve_both(from, to).await?;
        let limit = max_bytes.max(MAX_OUTPUT);
        let output = self.diff_of(&from, &to, &["--patch"], &[], limit).await;
        cut_at_line(output, max_bytes)
    }

    /// Returns the diff of a worktree as it is, with what is not committed yet, since it left `base`.
    ///
    /// Files that git does not know, and does not ignore, are in it as added ones, after the others. A diff of many
    /// megabytes is given as no text at all.
    pub async fn worktree_diff_text(
        &self,
        worktree: &Path,
        base: &str,
        max_bytes: usize,
    ) -> Result<DiffText, GitError> {
        let head = self.head_commit(worktree).await?;
        let base = self.resolve(base).await?;
        let from = self.merge_base_of(&base, &head).await?;
        let from: Oid = from.ok_or_else(|| GitError::NoCommonHistory { base, head })?;
        let finished = self
            .call_in(worktree, "diff-index")
            .args([
                "--patch",
                "-M",
                "--no-color",
                "--no-ext-diff",
                "--no-textconv",
            ])
            .args([from.as_str(), "--"])
            .output(max_bytes.max(MAX_OUTPUT))
            .success()
            .await;
        let mut diff = cut_at_line(finished.map(|finished| finished.stdout), max_bytes)?;
        let room = max_bytes.saturating_sub(diff.text.len());
        let new = self.untracked_diff_text(worktree, room).await?;
        diff.text.push_str(&new.text);
        diff.truncated |= new.truncated;
        Ok(diff)
    }

    async fn diff(
        &self,
        base: &str,
        head: &str,
        format: &[&str],
        limit: usize,
    ) -> Result<Vec<u8>, GitError> {
        let (base, head) = self.resolve_both(base, head).await?;
        let from = self.merge_base_of(&base, &head).await?;
        let from: Oid = from.ok_or_else(|| GitError::NoCommonHistory {
            base,
            head: head.clone(),
        })?;
        self.diff_of(&from, &head, format, &[], limit).await
    }

    /// Runs `git diff-tree` on two commits; on some paths, or on all if none is given.
    pub(super) async fn diff_of(
        &self,
        from: &Oid,
        head: &Oid,
        format: &[&str],
        paths: &[String],
        limit: usize,
    ) -> Result<Vec<u8>, GitError> {
        // diff-tree, because the user's settings for `git diff` would change what it prints.
        let finished = self
            .call("diff-tree")
            .args(["-r", "-M", "--no-color", "--no-ext-diff", "--no-textconv"])
            .args(format)
            .args([from.as_str(), head.as_str(), "--"])
            .args(paths)
            .output(limit)
            .success()
            .await?;
        Ok(finished.stdout)
    }
}

/// Cuts a diff after a line; one that was too much to read is no text at all.
fn cut_at_line(output: Result<Vec<u8>, GitError>, max_bytes: usize) -> Result<DiffText, GitError> {
    let output = match output {
        Err(GitError::Process {
            source: ProcessError::TooMuchOutput { .. },
        }) => {
            return Ok(DiffText {
                text: String::new(),
                truncated: true,
            });
        }
        output => output?,
    };
    let text = String::from_utf8_lossy(&output);
    if text.len() <= max_bytes {
        return Ok(DiffText {
            text: text.into_owned(),
            truncated: false,
        });
    }
    let end = text.as_bytes()[..max_bytes]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |position| position + 1);
    Ok(DiffText {
        text: text[..end].to_owned(),
        truncated: true,
    })
}

/// Reads `git diff-tree --numstat -z`.
pub fn parse_numstat(output: &[u8]) -> Result<DiffStat, GitError> {
    let mut stat = DiffStat::default();
    let mut fields = output.split(|byte| *byte == 0);
    while let Some(line) = fields.next() {
        if line.is_empty() {
            continue;
        }
        let unexpected = || GitError::unexpected("diff-tree", line);
        let mut parts = line.splitn(3, |byte| *byte == b'\t');
        let (added, removed, path) = (parts.next(), parts.next(), parts.next());
        let (Some(added), Some(removed), Some(path)) = (added, removed, path) else {
            return Err(unexpected());
        };
        let binary = added == b"-";
        let count = |digits: &[u8]| match std::str::from_utf8(digits) {
            Ok("-") => Ok(0),
            digits => digits
                .ok()
                .and_then(|digits| digits.parse::<u64>().ok())
                .ok_or_else(unexpected),
        };
        let (added, removed) = (count(added)?, count(removed)?);
        // For a rename the path is empty, and the old and new paths follow as fields of their own.
        let (renamed_from, path) = if path.is_empty() {
            let old = fields.next().ok_or_else(unexpected)?;
            (Some(path_of(old)), fields.next().ok_or_else(unexpected)?)
        } else {
            (None, path)
        };
        stat.added = stat.added.saturating_add(added);
        stat.removed = stat.removed.saturating_add(removed);
        stat.files.push(FileStat {
            path: path_of(path),
            renamed_from,
            added,
            removed,
            binary,
        });
    }
    Ok(stat)
}

/// Reads `git diff-tree --name-status -z`.
pub fn parse_name_status(output: &[u8]) -> Result<Vec<ChangedFile>, GitError> {
    let mut files = Vec::new();
    let mut fields = output.split(|byte| *byte == 0);
    while let Some(letter) = fields.next() {
        if letter.is_empty() {
            continue;
        }
        let unexpected = || GitError::unexpected("diff-tree", letter);
        let kind = ChangeKind::of_letter(letter[0]).ok_or_else(unexpected)?;
        let original = match kind {
            ChangeKind::Renamed | ChangeKind::Copied => {
                Some(path_of(fields.next().ok_or_else(unexpected)?))
            }
            ChangeKind::Added
            | ChangeKind::Modified
            | ChangeKind::Deleted
            | ChangeKind::TypeChanged => None,
        };
        let path = fields.next().ok_or_else(unexpected)?;
        files.push(ChangedFile {
            path: path_of(path),
            original,
            kind,
        });
    }
    Ok(files)
}
