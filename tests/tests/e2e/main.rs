//! The real servers, from the outside. One binary: linking is most of what a test binary costs.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking, also in its helper functions"
)]

mod adoption;
mod analysis;
mod audit;
mod bad_database;
mod bad_input;
mod care;
mod cycles;
mod dependencies;
mod docs;
mod examples;
mod faults;
mod focus;
mod fuzz;
mod lifecycle;
mod places;
mod protocol;
mod sessions;
mod setup;
mod surface;
mod tasks;
mod tidy;
mod tool_pages;
mod upgrade;
