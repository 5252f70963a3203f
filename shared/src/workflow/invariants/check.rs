//! `check_invariants`: reconciles, then asks every module for violations.

use super::violation::{Invariant, InvariantViolation};
use super::{agents, leftovers, messages, repositories};
use crate::error::Error;
use crate::workflow::{Context, reconcile};

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
