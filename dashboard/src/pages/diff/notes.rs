//! Notes in a diff: pending comments and findings at their lines, and the form for a new comment.

use maud::{Markup, html};
use shared::model::Severity;
use shared::model::review::MAX_FINDING_CHARS;

use super::reviewing::Reviewing;
use crate::markdown::markdown;
use crate::pages::forms::{Button, csrf};
use crate::pages::icons::icon;
use crate::pages::labels::pill;
use crate::view::{FileDiff, NoteSource, NoteView};

/// The notes of one file.
pub(super) struct Notes<'v> {
    reviewing: Option<&'v Reviewing<'v>>,
    notes: Vec<&'v NoteView>,
}

impl<'v> Notes<'v> {
    pub(super) fn of(file: &FileDiff, reviewing: Option<&'v Reviewing<'v>>) -> Self {
        let notes = reviewing.map_or(&[] as &[NoteView], |reviewing| &reviewing.view.notes);
        Self {
            reviewing,
            notes: notes.iter().filter(|note| note.file == file.path).collect(),
        }
    }

    /// The notes at a line, as a row of the table.
    pub(super) fn at(&self, line: u32, columns: u8) -> Markup {
        let here = self.notes.iter().filter(|note| note.line == Some(line));
        self.row(here.copied().collect(), columns)
    }

    /// The notes of lines that are not shown.
    pub(super) fn elsewhere(&self, file: &FileDiff) -> Markup {
        let is_shown = |wanted: u32| {
            let mut lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
            lines.any(|line| line.new == Some(wanted))
        };
        let rest = self
            .notes
            .iter()
            .filter(|note| !note.line.is_some_and(is_shown));
        let rest: Vec<_> = rest.copied().collect();
        html! {
            @if let Some(reviewing) = self.reviewing && !rest.is_empty() {
                div.notes { @for note in rest { (shown_note(note, reviewing, true)) } }
            }
        }
    }

    fn row(&self, notes: Vec<&NoteView>, columns: u8) -> Markup {
        html! {
            @if let Some(reviewing) = self.reviewing && !notes.is_empty() {
                tr.note-row { td colspan=(columns) { div.notes { @for note in notes { (shown_note(note, reviewing, false)) } } } }
            }
        }
    }
}

/// Notes on files that are not in the diff.
pub(super) fn outside(files: &[FileDiff], reviewing: &Reviewing<'_>) -> Markup {
    let is_in = |note: &&NoteView| files.iter().any(|file| file.path == note.file);
    let rest: Vec<_> = reviewing
        .view
        .notes
        .iter()
        .filter(|note| !is_in(note))
        .collect();
    html! {
        @if !rest.is_empty() {
            section.panel #notes-outside aria-label="On files that are not shown" {
                div.notes { @for note in rest { (shown_note(note, reviewing, true)) } }
            }
        }
    }
}

fn shown_note(note: &NoteView, reviewing: &Reviewing<'_>, with_place: bool) -> Markup {
    let place = html! {
        @if with_place {
            span.mono.path { (note.file) @if let Some(line) = note.line { ":" (line) } }
        }
        @if note.outdated { span.muted.small { "the line has changed since" } }
    };
    match &note.source {
        NoteSource::Draft { id } => html! {
            article.note.draft #{ "draft-" (id) } {
                div.card-line {
                    (pill("waiting", "not sent"))
                    span { "your comment" }
                    (place)
                    (remove(*id, reviewing))
                }
                (markdown(&note.message))
            }
        },
        NoteSource::Finding {
            round,
            reviewer,
            severity,
        } => html! {
            article.note {
                div.card-line {
                    (pill(tone(*severity), severity.as_str()))
                    @if let Some(reviewer) = reviewer {
                        span { "round " (round) " · " a.mono href={ "/agents/" (reviewer) } { (reviewer) } }
                    } @else {
                        span { "round " (round) " of a person" }
                    }
                    (place)
                }
                (markdown(&note.message))
            }
        },
    }
}

const fn tone(severity: Severity) -> &'static str {
    match severity {
        Severity::Blocking => "danger",
        Severity::Major => "waiting",
        Severity::Minor => "ended",
    }
}

fn remove(id: i64, reviewing: &Reviewing<'_>) -> Markup {
    let address = format!("{}/comments/{id}/remove", reviewing.api);
    let repository = reviewing.repository.map(|path| ("repository", path));
    let fields: Vec<_> = repository.into_iter().collect();
    html! {
        @if !reviewing.frame.read_only {
            (Button {
                id: &format!("remove-{id}"),
                address: &address,
                label: "Delete",
                icon: "cross",
                class: "small",
                confirm: None,
                fields: &fields,
            }.live(reviewing.frame))
        }
    }
}

/// The form for a comment on a line of a file, which works without scripts; with them a click on the line's number is shorter.
pub(super) fn comment_form(file: &FileDiff, reviewing: &Reviewing<'_>) -> Markup {
    let numbers = || {
        let lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
        lines.filter_map(|line| line.new)
    };
    let Some(first) = numbers().next() else {
        return html! {};
    };
    html! {
        details.add-comment {
            summary { (icon("message")) "Comment on a line" }
            form.stack method="post" action={ (reviewing.api) "/comments" } {
                (csrf(reviewing.frame))
                (reviewing.repository_field())
                input type="hidden" name="file" value=(file.path);
                input type="hidden" name="commit" value=(reviewing.view.commit);
                label { "Line" input type="number" name="line" required min="1" value=(first); }
                label { "Comment" textarea name="text" rows="3" required maxlength=(MAX_FINDING_CHARS) {} }
                div.row {
                    span.muted.small { "Nobody is told before you send your review." }
                    button.btn.primary type="submit" { "Add" }
                }
            }
        }
    }
}
