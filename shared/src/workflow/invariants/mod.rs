//! Invariants: what must be true of rows, agents, messages, repositories and files once everything is at rest.
//!
//! `doctor --deep` prints what is not, and the fault tests call it after every crash. It repairs nothing but what
//! every command repairs, and it may take seconds: it reads transcripts and asks git about each repository.

mod agents;
mod check;
mod leftovers;
mod messages;
mod repositories;
mod violation;

pub use check::check_invariants;
pub use repositories::unknown_worktrees;
pub use violation::{Invariant, InvariantViolation};
