//! The pages: each a function from what it shows to HTML.
//!
//! They work without scripts: links, tables and forms. With scripts the same HTML is fetched again after each change
//! and what differs is swapped, so there is one rendering and it is here.
//!
//! The Content-Security-Policy allows no inline style and no inline script: everything is a class or an attribute.

mod agent;
mod agent_record;
mod analysis;
mod board;
mod diff;
mod events;
mod forms;
mod icons;
mod launch;
mod layout;
mod problem;
mod pulls;
mod tasks;
mod terminal;
mod time;
mod words;

pub use agent::{agent, agent_diff};
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
