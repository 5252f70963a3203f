//! Invariants: what must be true of rows, agents, messages, repositories and files once everything is at rest.
//!
//! `doctor --deep` prints what is not, and the fault tests call it after every crash. It repairs nothing but what
//! every command repairs, and it may take seconds: it reads transcripts and asks git about each repository.

mod agents;
mod leftovers;
mod messages;
mod repositories;

pub use repositories::unknown_worktrees;
use serde::Serialize;

use super::{Context, reconcile};
use crate::error::Error;
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
    fn new(invariant: Invariant, subject: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            invariant,
            subject: subject.into(),
            problem: problem.into(),
        }
    }
}

/// Reconciles, then looks for everything that is not as it must be.
pub async fn check_invariants(context: &Context) -> Result<Vec<InvariantViolation>, Error> {
    reconcile(context).await?;
    let mut found = second_look(context).await?;
    let (instances, contradictions) = context
        .store
        .read(|r| Ok((r.instances(false)?, r.contradictions()?)))
        .await?;
    found.extend(contradictions.into_iter().map(|row| {
        let invariant = if row.doubled {
            Invariant::NothingDoubled
        } else {
            Invariant::StatusIsTrue
        };
        InvariantViolation::new(invariant, row.subject, row.problem)
    }));
    found.extend(agents::violations(context, &instances).await?);
    found.extend(messages::violations(context, &instances).await?);
    found.extend(leftovers::violations(context, &instances).await?);
    found.extend(repositories::violations(context, &instances).await?);
    Ok(found)
}

async fn second_look(context: &Context) -> Result<Vec<InvariantViolation>, Error> {
    let again = reconcile(context).await?;
    let moved = again.changes.into_iter().map(|change| {
        InvariantViolation::new(
            Invariant::Settled,
            change.instance.to_string(),
            format!("a second look moved it to {}", change.to),
        )
    });
    let unsettled = again.unsettled.into_iter().map(|row| {
        InvariantViolation::new(
            Invariant::Settled,
            row.instance.to_string(),
            format!("could not be put in order: {}", row.error),
        )
    });
    Ok(moved.chain(unsettled).collect())
}

/// Tells whether an agent's session and processes may be there.
fn may_run(instance: &Instance) -> bool {
    use crate::model::Status;
    // After publishing, an agent stays if its cleanup policy says so.
    instance.status.is_live() || instance.status == Status::PrCreated
}
