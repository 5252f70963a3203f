//! A review with hostile text, of the diff in `samples`.

use shared::model::{Severity, Verdict};

use super::samples::{HOSTILE, hostile, time};
use crate::view::{CommitView, DiffLayout, DiffQuery, NoteSource, NoteView, ReviewView, RoundView};

pub(super) fn review_view(layout: DiffLayout) -> ReviewView {
    let note = |file: &str, line, source| NoteView {
        file: file.to_owned(),
        line: Some(line),
        outdated: true,
        source,
        message: hostile(),
    };
    let finding = NoteSource::Finding {
        round: 2,
        reviewer: Some("review-work-42-a1".parse().unwrap()),
        severity: Severity::Blocking,
    };
    ReviewView {
        coder: "work-42-a1".parse().unwrap(),
        commit: "b".repeat(40),
        commentable: true,
        can_request_changes: true,
        can_approve: true,
        why_not: None,
        pending: 1,
        notes: vec![
            note("x.rs", 1, NoteSource::Draft { id: 5 }),
            note("x.rs", 2, finding.clone()),
            note("x.rs", 99, finding.clone()),
            note(&format!("not-in-the-diff.rs{HOSTILE}"), 1, finding),
        ],
        rounds: vec![RoundView {
            round: 1,
            verdict: Verdict::ChangesRequested,
            coder: "work-42-a1".parse().unwrap(),
            reviewer: None,
            commit: "a".repeat(40),
            description: hostile(),
            feedback: Some(hostile()),
            findings: Vec::new(),
            requested_at: time(),
            decided_at: Some(time()),
        }],
        commits: vec![CommitView {
            id: "b".repeat(40),
            subject: hostile(),
            author: hostile(),
        }],
        uncommitted: 2,
        published: Some(hostile()),
        shown: DiffQuery {
            view: layout,
            ..DiffQuery::default()
        },
    }
}
