//! A diff: the files, then each with its hunks.

use std::ops::Range;

use maud::{Markup, html};
use shared::model::hidden;

use crate::highlight::{Language, Lexer, Piece, emphasised};
use crate::view::{DiffLine, DiffView, FileDiff, FileStatus, Hunk, LineKind};

/// Lines of one file that are shown at once; more are folded away.
const OPEN: usize = 400;

pub(super) fn shown_diff(view: &DiffView) -> Markup {
    if view.files.is_empty() {
        return html! {
            p.nothing { "Nothing differs between " span.mono { (view.base) } " and " span.mono { (short(&view.head)) } "." }
        };
    }
    html! {
        div #diff .diff {
            nav.files aria-label="Changed files" {
                p {
                    strong { (super::words::counted(view.files.len() as u64, "file", "files")) }
                    " " (counts(view.additions, view.deletions))
                }
                p.muted.small { "against " span.mono { (view.base) } }
                ul {
                    @for (index, file) in view.files.iter().enumerate() {
                        li {
                            a.path href={ "#file-" (index) } { (file.path) }
                            (counts(file.additions, file.deletions))
                        }
                    }
                }
            }
            div.file-list {
                @for (index, file) in view.files.iter().enumerate() {
                    (shown_file(file, index))
                }
                @if view.truncated {
                    p.nothing { "There is more than is shown here. The worktree has all of it." }
                }
            }
        }
    }
}

fn short(commit: &str) -> &str {
    commit
        .get(..12)
        .filter(|_| commit.len() == 40)
        .unwrap_or(commit)
}

pub(super) fn counts(additions: u64, deletions: u64) -> Markup {
    html! {
        span.counts {
            @if additions > 0 { span.plus { "+" (additions) } }
            @if deletions > 0 { span.minus { "−" (deletions) } }
        }
    }
}

fn shown_file(file: &FileDiff, index: usize) -> Markup {
    let lines: usize = file.hunks.iter().map(|hunk| hunk.lines.len()).sum();
    let word = match file.status {
        FileStatus::Added => Some("new"),
        FileStatus::Deleted => Some("deleted"),
        FileStatus::Renamed => Some("renamed"),
        FileStatus::Copied => Some("copied"),
        FileStatus::Modified => None,
    };
    html! {
        details.file #{ "file-" (index) } open[lines <= OPEN] {
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
                p.nothing { "Its content is the same." }
            } @else {
                div.scroll tabindex="0" role="region" aria-label=(file.path) {
                    table.code {
                        @for hunk in &file.hunks {
                            (shown_hunk(hunk, Language::of_path(&file.path)))
                        }
                    }
                }
            }
        }
    }
}

fn shown_hunk(hunk: &Hunk, language: &'static Language) -> Markup {
    // What was and what is are two texts: a comment that is opened in one is not open in the other.
    let (mut old, mut new) = (Lexer::new(language), Lexer::new(language));
    let emphasis = pairs(&hunk.lines);
    html! {
        tbody {
            tr.hunk { td colspan="3" { (hunk.header) } }
            @for (line, emphasis) in hunk.lines.iter().zip(emphasis) {
                @let pieces = match line.kind {
                    LineKind::Del => old.line(&line.text),
                    LineKind::Add => new.line(&line.text),
                    LineKind::Context => { old.line(&line.text); new.line(&line.text) }
                };
                tr .(class(line.kind)) {
                    td.no data-n=[line.old] {}
                    td.no data-n=[line.new] {}
                    td.line { (painted(&pieces, emphasis)) }
                }
            }
        }
    }
}

const fn class(kind: LineKind) -> &'static str {
    match kind {
        LineKind::Add => "add",
        LineKind::Del => "del",
        LineKind::Context => "ctx",
    }
}

/// For each line, what of it differs from the line it replaced or was replaced by.
fn pairs(lines: &[DiffLine]) -> Vec<Option<Range<usize>>> {
    let mut found = vec![None; lines.len()];
    let mut at = 0;
    while at < lines.len() {
        let run = |from: usize, kind: LineKind| {
            lines[from..]
                .iter()
                .take_while(|line| line.kind == kind)
                .count()
        };
        let removed = run(at, LineKind::Del);
        let added = run(at + removed, LineKind::Add);
        // Of unequal numbers nobody knows which became which.
        if removed > 0 && removed == added {
            for offset in 0..removed {
                let (one, other) = (at + offset, at + removed + offset);
                if let Some(emphasis) = emphasised(&lines[one].text, &lines[other].text) {
                    found[one] = Some(emphasis.old);
                    found[other] = Some(emphasis.new);
                }
            }
        }
        at += (removed + added).max(1);
    }
    found
}

/// The pieces of a line in their colours, cut where the emphasis begins and ends.
fn painted(pieces: &[Piece<'_>], emphasis: Option<Range<usize>>) -> Markup {
    let range = emphasis.unwrap_or(0..0);
    let mut begin = 0;
    let mut parts = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let end = begin + piece.text.len();
        let from = range.start.clamp(begin, end) - begin;
        let to = range.end.clamp(begin, end) - begin;
        parts.push((piece.token, &piece.text[..from], false));
        parts.push((piece.token, &piece.text[from..to], true));
        parts.push((piece.token, &piece.text[to..], false));
        begin = end;
    }
    html! {
        @for (token, text, strong) in parts {
            @if !text.is_empty() {
                @match (token.class(), strong) {
                    (None, false) => (revealed(text)),
                    (Some(class), false) => span .(class) { (revealed(text)) },
                    (None, true) => span.em { (revealed(text)) },
                    (Some(class), true) => span.em .(class) { (revealed(text)) },
                }
            }
        }
    }
}

/// Characters that hide or turn text around are shown by their names: a reviewer must see them.
fn revealed(text: &str) -> Markup {
    // Where lines end with it, it hides nothing.
    let text = text.strip_suffix('\r').unwrap_or(text);
    html! {
        @for piece in hidden::pieces(text) {
            @match piece {
                hidden::Piece::Visible(part) => (part),
                hidden::Piece::Hidden(character) => span.hidden-char { (hidden::number(character)) },
            }
        }
    }
}
