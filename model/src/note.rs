//! Note of an ended agent: why it ended and what of its work was kept, as data. The sentence for people is made here alone.

use std::fmt;

use crate::plural::plural;
use serde::{Deserialize, Serialize, Serializer};

/// Why an agent ended, and what of its work was kept. Its JSON is the sentence for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Note {
    pub reason: Option<String>,
    pub kept: Option<Kept>,
}

impl Note {
    /// Returns a note about an agent of which nothing was kept.
    pub fn because(reason: impl Into<String>) -> Self {
        Self {
            reason: Some(reason.into()),
            kept: None,
        }
    }

    /// Returns both parts as one sentence, without a full stop.
    pub fn sentence(&self) -> Option<String> {
        let kept = self.kept.as_ref().filter(|kept| **kept != Kept::InReason);
        match (&self.reason, kept) {
            (Some(reason), Some(kept)) => Some(format!("{reason}; {kept}")),
            (Some(reason), None) => Some(reason.clone()),
            (None, Some(kept)) => Some(kept.to_string()),
            (None, None) => None,
        }
    }
}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.sentence().serialize(serializer)
    }
}

/// Why a worktree or a branch was not removed. Paths and branches are text, as in the other columns of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Kept {
    /// `resources.cleanup` leaves it to a person or to the schedule.
    Policy { worktree: String },
    /// Processes of the agent could not be ended.
    AgentRunning { worktree: String, pids: Vec<u32> },
    /// Processes of unknown origin work in it, each as `number (name)`.
    InUse {
        worktree: String,
        processes: Vec<String>,
        /// How many are not named.
        more: usize,
    },
    RepositoryMissing {
        worktree: String,
        repository: String,
    },
    UnsavedWork {
        worktree: String,
        /// `None` on a detached HEAD.
        branch: Option<String>,
        work: Unsaved,
    },
    /// A person has locked it with `git worktree lock`.
    Locked { error: String },
    /// git could not say whether work would be lost.
    Unchecked { worktree: String, error: String },
    /// Only the branch was kept.
    BranchCommits { branch: String, commits: usize },
    /// Only the branch was kept: it is checked out elsewhere, or was just committed to.
    BranchInUse { error: String },
    /// Recorded before schema version 7, when the reason was the whole sentence.
    InReason,
}

impl Kept {
    /// Tells whether a person should look at it; what policy keeps can wait.
    pub const fn needs_attention(&self) -> bool {
        !matches!(self, Self::Policy { .. })
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy { worktree } => write!(f, "kept by policy: {worktree}"),
            Self::AgentRunning { worktree, pids } => {
                let names: Vec<_> = pids.iter().map(ToString::to_string).collect();
                let processes = plural(pids.len(), "process", "processes");
                write!(
                    f,
                    "kept {worktree}: {processes} {} could not be ended; `claude-codex clean` removes it later",
                    names.join(", ")
                )
            }
            Self::InUse {
                worktree,
                processes,
                more,
            } => {
                let noun = plural(processes.len() + more, "process", "processes");
                write!(
                    f,
                    "kept {worktree}: in use by {noun} {}",
                    processes.join(", ")
                )?;
                if *more > 0 {
                    write!(f, " and {more} more")?;
                }
                f.write_str("; `claude-codex clean` removes it once nothing runs there")
            }
            Self::RepositoryMissing {
                worktree,
                repository,
            } => write!(f, "kept {worktree}: its repository {repository} is missing"),
            Self::UnsavedWork {
                worktree,
                branch,
                work,
            } => {
                let branch = branch.as_deref().unwrap_or("a detached HEAD");
                write!(f, "kept {work} on {branch} in {worktree}")
            }
            Self::Locked { error } => write!(f, "kept: {error}"),
            Self::Unchecked { worktree, error } => {
                write!(f, "kept {worktree}, because git can't tell: {error}")
            }
            Self::BranchCommits { branch, commits } => {
                let are = plural(*commits, "is", "are");
                write!(
                    f,
                    "kept the branch {branch}: {commits} of its commits {are} nowhere else"
                )
            }
            Self::BranchInUse { error } => write!(f, "kept the branch: {error}"),
            Self::InReason => f.write_str("kept"),
        }
    }
}

/// Work that exists nowhere else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsaved {
    pub files: usize,
    pub commits: usize,
    /// Anything else, each in a few words: submodules, nested worktrees, mounts, an unfinished merge.
    pub others: Vec<String>,
}

impl fmt::Display for Unsaved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.files > 0 {
            let noun = plural(self.files, "file", "files");
            parts.push(format!("{} uncommitted {noun}", self.files));
        }
        if self.commits > 0 {
            let noun = plural(self.commits, "commit that is", "commits that are");
            parts.push(format!("{} {noun} nowhere else", self.commits));
        }
        parts.extend(self.others.iter().cloned());
        f.write_str(&parts.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unsaved(files: usize, commits: usize) -> Kept {
        Kept::UnsavedWork {
            worktree: "/w/a".to_owned(),
            branch: Some("codex/a".to_owned()),
            work: Unsaved {
                files,
                commits,
                others: Vec::new(),
            },
        }
    }

    #[test]
    fn sentences_have_their_plurals() {
        let said = |kept: Kept| kept.to_string();
        assert_eq!(
            said(unsaved(1, 1)),
            "kept 1 uncommitted file and 1 commit that is nowhere else on codex/a in /w/a"
        );
        assert_eq!(
            said(unsaved(2, 0)),
            "kept 2 uncommitted files on codex/a in /w/a"
        );
        let running = |pids: &[u32]| Kept::AgentRunning {
            worktree: "/w/a".to_owned(),
            pids: pids.to_vec(),
        };
        assert!(said(running(&[7])).contains("process 7 could not be ended"));
        assert!(said(running(&[7, 8])).contains("processes 7, 8 could not be ended"));
        let busy = Kept::InUse {
            worktree: "/w/a".to_owned(),
            processes: vec!["7 (bash)".to_owned()],
            more: 2,
        };
        assert!(said(busy).contains("in use by processes 7 (bash) and 2 more;"));
    }

    #[test]
    fn a_note_joins_reason_and_kept_work() {
        assert_eq!(Note::default().sentence(), None);
        let mut note = Note::because("its session is gone");
        assert_eq!(note.sentence().unwrap(), "its session is gone");
        note.kept = Some(unsaved(2, 0));
        assert_eq!(
            note.sentence().unwrap(),
            "its session is gone; kept 2 uncommitted files on codex/a in /w/a"
        );
        let old = Note {
            kept: Some(Kept::InReason),
            ..Note::because("kept 2 uncommitted files on codex/a in /w/a")
        };
        assert_eq!(old.sentence(), old.reason);
        assert_eq!(serde_json::to_value(&old).unwrap(), old.reason.unwrap());
    }

    #[test]
    fn what_is_stored_is_read_back() {
        for kept in [unsaved(1, 2), Kept::InReason] {
            let text = serde_json::to_string(&kept).unwrap();
            assert_eq!(serde_json::from_str::<Kept>(&text).unwrap(), kept);
        }
        assert_eq!(
            serde_json::to_string(&Kept::InReason).unwrap(),
            r#"{"why":"in_reason"}"#
        );
    }

    #[test]
    fn only_policy_needs_nobody() {
        assert!(unsaved(1, 0).needs_attention());
        let worktree = "/w/a".to_owned();
        assert!(!Kept::Policy { worktree }.needs_attention());
    }
}
