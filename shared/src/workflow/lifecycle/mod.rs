//! Agent lifecycle: launch, resume, stop, undo of a failed launch, crash recovery (reconcile), cleanup, retention.

pub(super) mod base;
pub(super) mod clean;
mod continued_branch;
pub(super) mod detached_process;
pub(super) mod discard;
mod ending;
pub(super) mod finish;
mod first_moments;
pub(super) mod launch;
pub(super) mod launch_request;
pub(super) mod reconcile;
pub(super) mod reconcile_turn;
pub(super) mod remove_worktree;
pub(super) mod resume;
pub(super) mod retention;
pub(super) mod undo;
