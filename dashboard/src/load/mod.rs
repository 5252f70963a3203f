//! Loads views from the workflows and the store.

mod activity;
mod agent;
mod board;
mod diff;
mod lists;
mod pulls;
mod review;
mod tasks;

pub(crate) use activity::activity;
pub(crate) use agent::{agent, agent_diff, discarding, terminal};
pub(crate) use board::{board, counts};
#[cfg(test)]
pub(crate) use diff::parse_diff;
pub(crate) use lists::{analyses, analysis, events, launch};
pub(crate) use pulls::{pull, pull_card, pulls};
pub(crate) use tasks::tasks;
