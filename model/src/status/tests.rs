//! The transition table, written a second time as data and held against the code.

use proptest::prelude::*;

use super::{Status, StatusEvent};
use crate::InstanceKind;
use Status as S;
use StatusEvent as E;

/// Event, the statuses it is allowed in, where it leads: the design's table, row by row.
const TABLE: &[(StatusEvent, &[Status], Status)] = &[
    (E::Connected, &[S::Started], S::Running),
    (
        E::ReviewRequested,
        &[S::Running, S::FeedbackReceived],
        S::WaitingReview,
    ),
    (E::ReviewerConnected, &[S::WaitingReview], S::UnderReview),
    (
        E::ChangesRequested,
        &[S::WaitingReview, S::UnderReview],
        S::FeedbackReceived,
    ),
    (E::FeedbackTaken, &[S::FeedbackReceived], S::Running),
    (
        E::ReviewerLost,
        &[S::WaitingReview, S::UnderReview],
        S::Running,
    ),
    (
        E::PublishBegins { by_reviewer: false },
        &[S::Running, S::FeedbackReceived],
        S::CreatingPr,
    ),
    (
        E::PublishBegins { by_reviewer: true },
        &[S::WaitingReview, S::UnderReview],
        S::CreatingPr,
    ),
    (
        E::PublishFailed { before: S::Running },
        &[S::CreatingPr],
        S::Running,
    ),
    (
        E::PublishFailed {
            before: S::UnderReview,
        },
        &[S::CreatingPr],
        S::UnderReview,
    ),
    (
        E::PublishFailed {
            before: S::PrMerged,
        },
        &[],
        S::PrMerged,
    ),
    (E::Published, &[S::CreatingPr], S::PrCreated),
    (
        E::SentBack,
        &[
            S::PrCreated,
            S::Running,
            S::WaitingReview,
            S::UnderReview,
            S::FeedbackReceived,
        ],
        S::FeedbackReceived,
    ),
    (
        E::Merged,
        &[
            S::PrCreated,
            S::PrClosed,
            S::Started,
            S::Running,
            S::WaitingReview,
            S::UnderReview,
            S::FeedbackReceived,
            S::Failed,
            S::Terminated,
        ],
        S::PrMerged,
    ),
    (
        E::Closed,
        &[
            S::PrCreated,
            S::Started,
            S::Running,
            S::WaitingReview,
            S::UnderReview,
            S::FeedbackReceived,
            S::Failed,
            S::Terminated,
        ],
        S::PrClosed,
    ),
    (E::Reopened, &[S::PrClosed], S::PrCreated),
    (E::VerdictGiven, &[], S::Completed),
    (E::PlanDone, &[], S::Completed),
    (E::Failed, LIVE, S::Failed),
    (E::Terminated, LIVE, S::Terminated),
    (
        E::Resumed,
        &[S::Failed, S::Terminated, S::PrCreated],
        S::Started,
    ),
    (
        E::RestartFailed,
        &[S::Started, S::FeedbackReceived],
        S::PrCreated,
    ),
];

const LIVE: &[Status] = &[
    S::Started,
    S::Running,
    S::WaitingReview,
    S::UnderReview,
    S::FeedbackReceived,
    S::CreatingPr,
];

fn expected(status: Status, event: StatusEvent) -> Option<Status> {
    TABLE
        .iter()
        .find(|(row, _, _)| *row == event)
        .and_then(|(_, from, to)| from.contains(&status).then_some(*to))
}

#[test]
fn every_cell_of_the_table_is_as_designed_for_coders() {
    for (event, _, _) in TABLE {
        for &status in Status::ALL {
            assert_eq!(
                status.next(InstanceKind::Coding, *event).ok(),
                expected(status, *event),
                "{event:?} from {status}"
            );
        }
    }
}

#[test]
fn reviewers_and_planners_only_start_run_and_end() {
    for (kind, done) in [
        (InstanceKind::Review, E::VerdictGiven),
        (InstanceKind::Planning, E::PlanDone),
    ] {
        assert_eq!(S::Running.next(kind, done), Ok(S::Completed));
        assert!(S::Started.next(kind, done).is_err());
        assert!(S::Running.next(kind, E::ReviewRequested).is_err());
        assert!(
            S::Running
                .next(kind, E::PublishBegins { by_reviewer: false })
                .is_err()
        );
        assert_eq!(S::Failed.next(kind, E::Resumed), Ok(S::Started));
    }
    assert!(S::Running.next(InstanceKind::Review, E::PlanDone).is_err());
    assert!(
        S::Running
            .next(InstanceKind::Planning, E::VerdictGiven)
            .is_err()
    );
}

#[test]
fn a_refusal_is_a_sentence() {
    let refused = S::PrMerged.next(InstanceKind::Coding, E::Resumed);
    assert_eq!(
        refused.unwrap_err().to_string(),
        "a coding agent whose status is pr_merged cannot be resumed"
    );
}

fn any_event() -> impl Strategy<Value = StatusEvent> {
    (0..TABLE.len()).prop_map(|row| TABLE[row].0)
}

proptest! {
    /// Whatever happens, in whatever order: each step taken is a step of the table, and an ended
    /// agent comes back to life by `resumed` or `sent back` alone.
    #[test]
    fn no_sequence_of_events_leaves_the_table(events in prop::collection::vec(any_event(), 0..60)) {
        let mut status = S::Started;
        for event in events {
            match status.next(InstanceKind::Coding, event) {
                Ok(next) => {
                    prop_assert_eq!(expected(status, event), Some(next));
                    if !status.is_live() && next.is_live() {
                        prop_assert!(matches!(event, E::Resumed | E::SentBack));
                    }
                    status = next;
                }
                Err(error) => {
                    prop_assert_eq!(expected(status, event), None);
                    prop_assert_eq!(error.status, status);
                }
            }
        }
    }
}
