//! HTML pages: each is a function from a view to markup.
//!
//! They work without scripts. With scripts, the same HTML is fetched again after each change and the differences are
//! swapped in, so there is only one rendering.
//!
//! The Content-Security-Policy allows no inline style and no inline script: everything is a class or an attribute.

mod activity;
mod agent;
mod agent_record;
mod analysis;
mod board;
mod diff;
mod events;
mod forms;
mod icons;
mod labels;
mod launch;
mod layout;
mod problem;
mod pulls;
mod task_forms;
mod tasks;
mod terminal;
mod time;

pub use agent::{agent, agent_diff, discard};
pub use analysis::{analyses, analysis};
pub use board::board;
pub use events::events;
pub use launch::launch;
pub use problem::{locked, problem};
pub use pulls::{pull, pulls};
pub use tasks::tasks;
pub use terminal::terminal;

#[cfg(test)]
mod tests;
