//! Git, through the git program alone.
//!
//! Every question costs one to three spawns of 2–3 ms, which is little beside what the answers are
//! used for, and the program reads everything its user's repositories may be (reftable, SHA-256,
//! partial clones, `includeIf`), with the user's hooks, filters and credentials. Text that git,
//! hooks or remotes print is made harmless in `scrub`; names are checked in `names`.

mod add_worktree;
mod advance;
mod command;
mod delete_folder;
mod diff;
mod discovery;
mod error;
mod hiding;
mod history;
mod index;
mod kept_refs;
mod lock;
mod merge;
mod mounts;
mod moving_checkout;
mod names;
mod nested;
mod push;
mod refs;
mod remove_worktree;
mod scrub;
mod snapshot;
mod status;
mod submodules;
mod unsaved;
mod version;
mod worktree;

#[cfg(test)]
mod tests;

pub use add_worktree::{AddedWorktree, Checkout};
pub use advance::{MergeTurn, Moved, Resumed};
pub use command::{AS_COMMITTED, Git};
pub use diff::{ChangedFile, DiffStat, DiffText, FileStat, parse_name_status, parse_numstat};
pub use discovery::Repository;
pub use error::{BranchUse, GitError, NameKind, RejectReason};
pub use hiding::{FILE as HIDING_FILE, remove_empty_folder};
pub use history::{AheadBehind, Commit, FastForward, parse_log};
pub use names::{
    Oid, check_branch, check_config_key, check_reference, check_remote, check_revision,
};
pub use push::{Auth, PushOutcome, PushSpec, parse_push};
pub use refs::Head;
pub use snapshot::{Changed, Snapshot, worktree_around};
pub use status::{ChangeKind, Entry, EntryKind, Status, Upstream, parse_status};
pub use submodules::SubmoduleWork;
pub use unsaved::{Operation, UnsavedWork};
pub use version::{MINIMUM, Version, parse_version};
pub use worktree::{Worktree, parse_worktrees, resolved};
