//! Git: the git program for everything that writes or runs hooks, filters and credentials, libgit2 for reading.
//!
//! A question to the program costs a spawn of 2–3 ms, one to `libgit2` a thread. The program reads everything
//! its user's repositories may be (reftable, SHA-256, partial clones, `includeIf`) and answers where libgit2 can't.
//! Text that git, hooks or remotes print is made harmless in `scrub`; names are checked in `names`.

mod add_worktree;
mod advance;
mod command;
mod delete_folder;
mod diff;
mod discovery;
mod error;
mod file_lines;
mod hiding;
mod history;
mod index;
mod kept_refs;
mod libgit2;
mod lock;
mod merge;
mod mounts;
mod moved_line;
mod moving_checkout;
mod names;
mod nested;
mod oid;
mod operation;
mod paths;
mod push;
mod refs;
mod remove_worktree;
mod scrub;
mod snapshot;
mod status;
mod submodules;
mod tips;
mod unsaved;
mod untracked_diff;
mod version;
mod worktree;

#[cfg(test)]
mod tests;

pub use add_worktree::{AddedWorktree, Checkout};
pub use advance::{MergeLock, MovedCheckouts, Resumed};
pub use command::{AS_COMMITTED, Git};
pub use diff::{ChangedFile, DiffStat, DiffText, FileStat, parse_name_status, parse_numstat};
pub use discovery::Repository;
pub use error::{BranchUse, GitError, NameKind, RejectReason};
pub use hiding::{FILE as HIDING_FILE, remove_empty_folder};
pub use history::{AheadBehind, Commit, FastForward, parse_log};
pub use moved_line::MovedLine;
pub use names::{check_branch, check_config_key, check_reference, check_remote, check_revision};
pub use oid::Oid;
pub use operation::Operation;
pub use paths::resolved;
pub use push::{Auth, PushOutcome, PushSpec, parse_push};
pub use refs::Head;
pub use snapshot::{Changed, Snapshot, worktree_around};
pub use status::{ChangeKind, Entry, EntryKind, Status, Upstream, parse_status};
pub use submodules::SubmoduleWork;
pub use unsaved::UnsavedWork;
pub use version::{MINIMUM_VERSION, Version};
pub use worktree::{Worktree, parse_worktrees};
