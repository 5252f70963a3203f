//! Commit history: merge base, ahead and behind, log, fast-forward.

use std::path::Path;

use super::command::CHECKOUT_TIMEOUT;
use super::discovery::Repository;
use super::error::GitError;
use super::libgit2;
use super::oid::Oid;
use super::refs;
use crate::model::hidden::drop_hidden_in_line;

/// How far two commits have grown apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AheadBehind {
    pub ahead: usize,
    pub behind: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    pub oid: Oid,
    pub author: String,
    /// Seconds since 1970, as the author's clock had it.
    pub time: i64,
    pub subject: String,
}

/// The outcome of a fast-forward.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FastForward {
    Done { from: Oid },
    AlreadyThere,
    NotFastForward,
}

impl Repository {
    /// Counts the commits that `head` has and `base` lacks, and the other way round.
    pub async fn ahead_behind(&self, base: &str, head: &str) -> Result<AheadBehind, GitError> {
        let (base, head) = self.resolve_both(base, head).await?;
        let ends = (base.clone(), head.clone());
        let in_process = move |repository: &_| {
            Ok(AheadBehind {
                ahead: libgit2::count_ahead(repository, &ends.0, &ends.1)?,
                behind: libgit2::count_ahead(repository, &ends.1, &ends.0)?,
            })
        };
        if let Some(counted) = self.ask(in_process).await {
            return Ok(counted);
        }
        let counted = self
            .call("rev-list")
            .args(["--left-right", "--count"])
            .arg(format!("{base}...{head}"))
            .arg("--")
            .success()
            .await?;
        let text = counted.stdout_text();
        let mut numbers = text.split_whitespace().map(str::parse);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(behind)), Some(Ok(ahead))) => Ok(AheadBehind { ahead, behind }),
            _ => Err(GitError::unexpected("rev-list", &counted.stdout)),
        }
    }

    /// Returns the best common ancestor, if the two have any.
    pub async fn merge_base(&self, base: &str, head: &str) -> Result<Option<Oid>, GitError> {
        let (base, head) = self.resolve_both(base, head).await?;
        self.merge_base_of(&base, &head).await
    }

    pub(super) async fn merge_base_of(
        &self,
        base: &Oid,
        head: &Oid,
    ) -> Result<Option<Oid>, GitError> {
        let ends = (base.clone(), head.clone());
        let in_process = move |repository: &_| libgit2::merge_base(repository, &ends.0, &ends.1);
        if let Some(found) = self.ask(in_process).await {
            return Ok(found);
        }
        let answer = self
            .call("merge-base")
            .args(["--", base.as_str(), head.as_str()])
            .answer()
            .await?;
        answer.as_ref().map(refs::oid).transpose()
    }

    /// Lists the commits of `head` that `base` lacks, the newest first.
    pub async fn commits_between(
        &self,
        base: &str,
        head: &str,
        limit: usize,
    ) -> Result<Vec<Commit>, GitError> {
        let (base, head) = self.resolve_both(base, head).await?;
        let log = self
            .call("log")
            .args(LOG_FORMAT)
            .arg(format!("--max-count={limit}"))
            .arg(format!("{base}..{head}"))
            .arg("--")
            .success()
            .await?;
        parse_log(&log.stdout)
    }

    /// Moves a worktree's branch forward to a commit that contains it.
    ///
    /// Changes to tracked files are refused; untracked files, ignored or not, only if they are in the way.
    pub async fn fast_forward(&self, worktree: &Path, to: &Oid) -> Result<FastForward, GitError> {
        let status = self.status(worktree, 0).await?;
        if status.has_tracked_changes() {
            return Err(GitError::WorktreeDirty {
                path: worktree.to_owned(),
            });
        }
        let from = status.commit.ok_or_else(|| GitError::EmptyRepository {
            path: worktree.to_owned(),
        })?;
        match self.merge_base_of(&from, to).await? {
            Some(common) if common == *to => return Ok(FastForward::AlreadyThere),
            Some(common) if common == from => {}
            _ => return Ok(FastForward::NotFastForward),
        }
        let call = self
            .call_in(worktree, "merge")
            .args(["--ff-only", "--no-autostash", "--quiet", "--no-stat"])
            // By default git takes ignored files for worthless.
            .args(["--no-overwrite-ignore", "--"])
            .arg(to.as_str())
            .writes()
            .time(CHECKOUT_TIMEOUT);
        let finished = call.run().await?;
        if finished.status.success() {
            return Ok(FastForward::Done { from });
        }
        let stderr = call.stderr(&finished);
        if stderr.contains("Not possible to fast-forward") {
            Ok(FastForward::NotFastForward)
        } else if stderr.contains("would be overwritten by merge") {
            Err(GitError::WorktreeDirty {
                path: worktree.to_owned(),
            })
        } else {
            Err(call.failure(&finished))
        }
    }

    pub(super) async fn resolve_both(
        &self,
        base: &str,
        head: &str,
    ) -> Result<(Oid, Oid), GitError> {
        let (base, head) = tokio::join!(self.resolve(base), self.resolve(head));
        // The first one that is missing is named, whichever answer comes first.
        Ok((base?, head?))
    }
}

/// Four fields for each commit, each ended by NUL.
pub(super) const LOG_FORMAT: [&str; 5] = [
    "-z",
    "--format=tformat:%H%x00%an%x00%at%x00%s",
    "--encoding=UTF-8",
    "--no-show-signature",
    "--no-color",
];

/// Reads `git log` in the format that this module asks for.
pub fn parse_log(output: &[u8]) -> Result<Vec<Commit>, GitError> {
    let Some(output) = output.strip_suffix(&[0]) else {
        return if output.is_empty() {
            Ok(Vec::new())
        } else {
            Err(GitError::unexpected("log", output))
        };
    };
    let fields: Vec<_> = output
        .split(|byte| *byte == 0)
        .map(String::from_utf8_lossy)
        .collect();
    fields
        .chunks(4)
        .map(|commit| match commit {
            [oid, author, time, subject] => Some(Commit {
                oid: Oid::parse(oid)?,
                author: drop_hidden_in_line(author),
                time: time.parse().ok()?,
                subject: drop_hidden_in_line(subject),
            }),
            _ => None,
        })
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| GitError::unexpected("log", output))
}

/// Reads `git rev-list --count`.
pub(super) fn parse_count(output: &[u8]) -> Result<usize, GitError> {
    std::str::from_utf8(output)
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .ok_or_else(|| GitError::unexpected("rev-list", output))
}
