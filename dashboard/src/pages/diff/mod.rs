//! Renders a diff: the list of files, then each file with its hunks, highlighted; and a review of it.

mod bar;
mod notes;
mod reviewing;
mod split;
mod text;
mod unified;

use maud::{Markup, html};

use crate::highlight::Language;
use crate::view::{DiffLayout, DiffView, FileDiff, FileStatus};
use notes::Notes;
pub(super) use reviewing::Reviewing;
use reviewing::short;

/// Files with more lines are collapsed.
const MAX_OPEN_LINES: usize = 400;

pub(super) fn shown_diff(view: &DiffView, reviewing: Option<&Reviewing<'_>>) -> Markup {
    let layout = reviewing.map_or(DiffLayout::Unified, |reviewing| reviewing.view.shown.view);
    let commentable = reviewing.is_some_and(Reviewing::is_commentable);
    // The script needs to know where a comment goes.
    let api = reviewing
        .filter(|_| commentable)
        .map(|reviewing| reviewing.api);
    html! {
        @if let Some(reviewing) = reviewing {
            (bar::choices(reviewing))
            (notes::outside(&view.files, reviewing))
        }
        @if view.files.is_empty() {
            p.nothing { "No differences between " span.mono { (short(&view.base)) } " and " span.mono { (short(&view.head)) } "." }
        } @else {
            div #diff .diff data-comments=[api] data-commit=[api.and(reviewing).map(|reviewing| reviewing.view.commit.as_str())] data-repository=[reviewing.and_then(|reviewing| reviewing.repository)] {
                (files(view))
                div.file-list {
                    @for (index, file) in view.files.iter().enumerate() {
                        (shown_file(file, index, layout, reviewing))
                    }
                    @if view.truncated {
                        p.nothing { "This diff is too long to show all of it. See the worktree for the rest." }
                    }
                }
            }
        }
        @if let Some(reviewing) = reviewing { (bar::bar(reviewing)) }
    }
}

fn files(view: &DiffView) -> Markup {
    html! {
        nav.files aria-label="Changed files" {
            p {
                strong { (super::labels::counted(view.files.len() as u64, "file", "files")) }
                " " (counts(view.additions, view.deletions))
            }
            p.muted.small { "against " span.mono { (short(&view.base)) } }
            ul {
                @for (index, file) in view.files.iter().enumerate() {
                    li {
                        a.path href={ "#file-" (index) } { (file.path) }
                        (counts(file.additions, file.deletions))
                    }
                }
            }
        }
    }
}

pub(super) fn counts(additions: u64, deletions: u64) -> Markup {
    html! {
        span.counts {
            @if additions > 0 { span.plus { "+" (additions) } }
            @if deletions > 0 { span.minus { "−" (deletions) } }
        }
    }
}

fn shown_file(
    file: &FileDiff,
    index: usize,
    layout: DiffLayout,
    reviewing: Option<&Reviewing<'_>>,
) -> Markup {
    let lines: usize = file.hunks.iter().map(|hunk| hunk.lines.len()).sum();
    let notes = Notes::of(file, reviewing);
    let language = Language::of_path(&file.path);
    let word = match file.status {
        FileStatus::Added => Some("new"),
        FileStatus::Deleted => Some("deleted"),
        FileStatus::Renamed => Some("renamed"),
        FileStatus::Copied => Some("copied"),
        FileStatus::Modified => None,
    };
    html! {
        details.file #{ "file-" (index) } data-path=(file.path) open[lines <= MAX_OPEN_LINES] {
            summary {
                span.path {
                    @if let Some(old) = &file.old_path { span.muted { (old) " → " } }
                    (file.path)
                }
                @if let Some(word) = word { span.pill.ended { (word) } }
                (counts(file.additions, file.deletions))
            }
            @if file.binary {
                p.nothing { "A binary file." }
            } @else if file.hunks.is_empty() {
                p.nothing { "The content did not change." }
            } @else {
                div.scroll tabindex="0" role="region" aria-label=(file.path) {
                    table.code.split[layout == DiffLayout::Split] {
                        @if layout == DiffLayout::Split {
                            colgroup { col.no; col; col.no; col; }
                        }
                        @for hunk in &file.hunks {
                            @match layout {
                                DiffLayout::Unified => (unified::shown_hunk(hunk, language, &notes)),
                                DiffLayout::Split => (split::shown_hunk(hunk, language, &notes)),
                            }
                        }
                    }
                }
            }
            (notes.elsewhere(file))
            @if let Some(reviewing) = reviewing && reviewing.is_commentable() && file.status != FileStatus::Deleted {
                (notes::comment_form(file, reviewing))
            }
        }
    }
}
