//! Launching, ending and repairing agents on real git and real tmux, with everything that can go wrong.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod contended;
mod crashes;
mod elsewhere;
mod ending;
mod launcher;
mod own_repository;
mod places;
mod races;
mod reconciling;
mod refusals;
mod resuming;
mod support;
