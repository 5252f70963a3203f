//! `git status`: the changes in a worktree, and how far its branch is ahead of and behind its upstream.

use std::path::{Path, PathBuf};

use super::command::Call;
use super::discovery::Repository;
use super::error::GitError;
use super::history::AheadBehind;
use super::oid::Oid;
use super::paths::path_of;
use super::refs::Head;
use crate::process::{Finished, ProcessError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    pub head: Head,
    /// None on an unborn branch.
    pub commit: Option<Oid>,
    pub upstream: Option<Upstream>,
    /// The first entries, as many as were asked for.
    pub entries: Vec<Entry>,
    /// How many entries there are in all.
    pub total: usize,
    /// How many of them are untracked.
    pub untracked: usize,
    /// There are so many untracked files that they were left out of all the above.
    pub untracked_left_out: bool,
}

impl Status {
    /// Tells whether there is nothing to commit and nothing untracked.
    pub fn is_clean(&self) -> bool {
        self.total == 0 && !self.untracked_left_out
    }

    /// Tells whether files that git knows have changed.
    pub fn has_tracked_changes(&self) -> bool {
        self.total > self.untracked
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// Such as `origin/main`.
    pub name: String,
    /// None if the upstream branch is gone.
    pub ahead_behind: Option<AheadBehind>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Relative to the worktree; untracked directories end in `/`.
    pub path: PathBuf,
    /// Where it was renamed or copied from.
    pub original: Option<PathBuf>,
    pub kind: EntryKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    Changed {
        staged: Option<ChangeKind>,
        unstaged: Option<ChangeKind>,
        submodule: bool,
    },
    Conflicted,
    Untracked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
    Renamed,
    Copied,
    TypeChanged,
}

impl ChangeKind {
    /// Reads git's letter; `None` for one that is not a change.
    pub(super) fn of_letter(letter: u8) -> Option<Self> {
        match letter {
            b'A' => Some(Self::Added),
            b'M' => Some(Self::Modified),
            b'D' => Some(Self::Deleted),
            b'R' => Some(Self::Renamed),
            b'C' => Some(Self::Copied),
            b'T' => Some(Self::TypeChanged),
            _ => None,
        }
    }
}

impl Repository {
    /// Returns the state of a worktree with at most `limit` entries.
    ///
    /// An untracked directory counts as one entry. Ignored files do not count.
    pub async fn status(&self, worktree: &Path, limit: usize) -> Result<Status, GitError> {
        self.bounded_status(worktree, &EVERYTHING, limit).await
    }

    /// Does the same before a deletion: by the files themselves, not by what a file system monitor or a setting says of
    /// them. Of submodules it sees only whether another commit is checked out.
    pub(super) async fn status_without_submodules(
        &self,
        worktree: &Path,
        limit: usize,
    ) -> Result<Status, GitError> {
        self.bounded_status(worktree, &BEFORE_REMOVAL, limit).await
    }

    async fn bounded_status(
        &self,
        worktree: &Path,
        look: &StatusOptions,
        limit: usize,
    ) -> Result<Status, GitError> {
        match self.read_status(worktree, look, "normal", limit).await {
            Err(GitError::Process {
                source: ProcessError::TooMuchOutput { .. },
            }) => {
                let status = self.read_status(worktree, look, "no", limit).await?;
                Ok(Status {
                    untracked_left_out: true,
                    ..status
                })
            }
            outcome => outcome,
        }
    }

    async fn read_status(
        &self,
        worktree: &Path,
        look: &StatusOptions,
        untracked: &str,
        limit: usize,
    ) -> Result<Status, GitError> {
        let call = self
            .call_in(worktree, "status")
            .settings(look.settings)
            .env("GIT_WORK_TREE", worktree)
            .args(["--porcelain=v2", "-z", "--branch", "--ahead-behind"])
            // The user's settings may hide what would be lost with the worktree.
            .arg(format!("--ignore-submodules={}", look.ignored_submodules))
            .arg("--renames")
            .arg(format!("--untracked-files={untracked}"));
        let finished = call.success().await?;
        if look.must_see_all {
            refuse_unseen(&call, &finished)?;
        }
        parse_status(&finished.stdout, limit)
    }
}

/// How closely to look at a worktree.
struct StatusOptions {
    ignored_submodules: &'static str,
    settings: &'static [&'static str],
    /// A folder that can't be read is a failure.
    must_see_all: bool,
}

/// Fails if git has left out a folder that it may not read: there may be anything in it.
pub(super) fn refuse_unseen(call: &Call<'_>, finished: &Finished) -> Result<(), GitError> {
    if finished.stderr_text().contains("could not open directory") {
        return Err(call.failure(finished));
    }
    Ok(())
}

const EVERYTHING: StatusOptions = StatusOptions {
    ignored_submodules: "none",
    settings: &[],
    must_see_all: false,
};
const BEFORE_REMOVAL: StatusOptions = StatusOptions {
    ignored_submodules: "dirty",
    settings: &BY_THE_FILES,
    must_see_all: true,
};
/// A file system monitor that has died, or lies, says that nothing has changed; so do times and sizes that were preserved.
pub(super) const BY_THE_FILES: [&str; 8] = [
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.trustctime=true",
    "-c",
    "core.checkStat=default",
];

/// Reads `git status --porcelain=v2 -z --branch`.
pub fn parse_status(output: &[u8], limit: usize) -> Result<Status, GitError> {
    let mut header = Header::default();
    let mut entries = Vec::new();
    let (mut total, mut untracked) = (0, 0);
    let mut lines = output.split(|byte| *byte == 0);
    while let Some(line) = lines.next() {
        if line.is_empty() {
            continue;
        }
        if let Some(text) = line.strip_prefix(b"# ") {
            header.read(&String::from_utf8_lossy(text));
            continue;
        }
        let unexpected = || GitError::unexpected("status", line);
        let original = if line.starts_with(b"2 ") {
            Some(lines.next().ok_or_else(unexpected)?)
        } else {
            None
        };
        let (kind, path) = parse_entry(line).ok_or_else(unexpected)?;
        total += 1;
        untracked += usize::from(kind == EntryKind::Untracked);
        if entries.len() < limit {
            entries.push(Entry {
                path: path_of(path),
                original: original.map(path_of),
                kind,
            });
        }
    }
    let commit = header.commit.as_deref().and_then(Oid::parse);
    let head = match (header.branch, &commit) {
        (Some(name), Some(oid)) if name == "(detached)" => Head::Detached(oid.clone()),
        (Some(name), Some(_)) => Head::Branch(name),
        (Some(name), None) => Head::Unborn(name),
        (None, _) => return Err(GitError::unexpected("status", output)),
    };
    let ahead_behind = header.ahead_behind;
    Ok(Status {
        head,
        commit,
        upstream: header.upstream.map(|name| Upstream { name, ahead_behind }),
        entries,
        total,
        untracked,
        untracked_left_out: false,
    })
}

#[derive(Default)]
struct Header {
    commit: Option<String>,
    branch: Option<String>,
    upstream: Option<String>,
    ahead_behind: Option<AheadBehind>,
}

impl Header {
    fn read(&mut self, text: &str) {
        let Some((key, value)) = text.split_once(' ') else {
            return;
        };
        match key {
            "branch.oid" => self.commit = Some(value.to_owned()),
            "branch.head" => self.branch = Some(value.to_owned()),
            "branch.upstream" => self.upstream = Some(value.to_owned()),
            "branch.ab" => {
                self.ahead_behind = value.split_once(' ').and_then(|(ahead, behind)| {
                    Some(AheadBehind {
                        ahead: ahead.strip_prefix('+')?.parse().ok()?,
                        behind: behind.strip_prefix('-')?.parse().ok()?,
                    })
                });
            }
            // git may add headers, such as `stash`.
            _ => {}
        }
    }
}

/// Reads one entry and its path, which is the last field and may contain spaces.
fn parse_entry(line: &[u8]) -> Option<(EntryKind, &[u8])> {
    let fields = match line.first()? {
        b'?' => return Some((EntryKind::Untracked, line.strip_prefix(b"? ")?)),
        b'u' => return Some((EntryKind::Conflicted, nth_field(line, 10)?)),
        b'1' => 8,
        b'2' => 9,
        _ => return None,
    };
    let letters = line.get(2..4)?;
    let kind = EntryKind::Changed {
        staged: ChangeKind::of_letter(letters[0]),
        unstaged: ChangeKind::of_letter(letters[1]),
        submodule: line.get(5) == Some(&b'S'),
    };
    Some((kind, nth_field(line, fields)?))
}

/// Returns what follows the first `skip` fields; never empty.
fn nth_field(line: &[u8], skip: usize) -> Option<&[u8]> {
    line.splitn(skip + 1, |byte| *byte == b' ')
        .nth(skip)
        .filter(|field| !field.is_empty())
}
