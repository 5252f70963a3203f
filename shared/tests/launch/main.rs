//! Launching, ending and repairing agents on real git and real tmux, with everything that can go wrong.

mod crashes;
mod ending;
mod launcher;
mod places;
mod races;
mod reconciling;
mod refusals;
mod resuming;
mod support;
