//! The analysis of fixture repositories with known answers.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

mod architecture;
mod codebase;
mod hostile;
mod support;
