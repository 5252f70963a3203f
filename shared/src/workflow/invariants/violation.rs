//! Types of the invariant checks: `Invariant`, and `InvariantViolation` with its subject and problem.

use serde::Serialize;

use crate::model::Instance;

/// What a violation is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Invariant {
    /// A message that was acknowledged is in exactly one transcript, exactly once.
    DeliveredOnce,
    /// A status agrees with the processes, sessions, worktrees and other rows that it speaks of.
    StatusIsTrue,
    /// Nothing is left of what has ended: sessions, buffers, worktrees, branches, references, files, processes.
    NothingLeftBehind,
    /// No pull request, issue, merge or task exists twice.
    NothingDoubled,
    /// Work that exists nowhere else is still there.
    WorkIsKept,
    /// A second look changes nothing.
    Settled,
}

impl Invariant {
    pub const ALL: [Self; 6] = [
        Self::DeliveredOnce,
        Self::StatusIsTrue,
        Self::NothingLeftBehind,
        Self::NothingDoubled,
        Self::WorkIsKept,
        Self::Settled,
    ];
}

/// Something that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InvariantViolation {
    pub invariant: Invariant,
    /// The agent, message, task, reference or file that it is about.
    pub subject: String,
    pub problem: String,
}

impl InvariantViolation {
    pub(super) fn new(
        invariant: Invariant,
        subject: impl Into<String>,
        problem: impl Into<String>,
    ) -> Self {
        Self {
            invariant,
            subject: subject.into(),
            problem: problem.into(),
        }
    }
}

/// Tells whether an agent's session and processes may be there.
pub(super) fn may_run(instance: &Instance) -> bool {
    use crate::model::Status;
    // After publishing, an agent stays if its cleanup policy says so.
    instance.status.is_live() || instance.status == Status::PrCreated
}
