//! Pull requests: publishing, listing, merging, and agents that follow what became of theirs.

pub(super) mod address;
pub(super) mod fresh_standings;
pub(super) mod moved_branch;
pub(super) mod publish;
pub(super) mod publish_moves;
pub(super) mod pull_agent;
pub(super) mod pulls;
pub(super) mod resolve;
pub(super) mod standing;
pub(super) mod sync;
pub(super) mod update;
pub(super) mod webhook;
