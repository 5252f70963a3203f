//! The analysis of fixture repositories with known answers.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

mod architecture;
mod clones;
mod codebase;
mod commands;
mod facts;
mod fingerprint;
mod focus;
mod history;
mod hostile;
mod imports;
mod support;
mod symbols;
mod unproven;
