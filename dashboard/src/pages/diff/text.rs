//! A line of a diff: highlighted, the changed part emphasised, hidden characters revealed.

use std::ops::Range;

use maud::{Markup, html};
use shared::model::hidden;

use crate::highlight::{Language, Lexer, Piece, emphasised};
use crate::view::{DiffLine, Hunk, LineKind};

/// Renders the text of all lines of a hunk.
pub(super) fn painted_lines(hunk: &Hunk, language: &'static Language) -> Vec<Markup> {
    // The old and the new file are separate texts: a comment may be open in only one of them.
    let (mut old, mut new) = (Lexer::new(language), Lexer::new(language));
    let emphasis = pairs(&hunk.lines);
    let lines = hunk.lines.iter().zip(emphasis);
    let painted = lines.map(|(line, emphasis)| {
        let pieces = match line.kind {
            LineKind::Del => old.line(&line.text),
            LineKind::Add => new.line(&line.text),
            LineKind::Context => {
                old.line(&line.text);
                new.line(&line.text)
            }
        };
        painted(&pieces, emphasis)
    });
    painted.collect()
}

/// Returns the changed part of each line, compared with the line that it replaces or that replaces it.
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
        // With unequal numbers the lines cannot be paired.
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

/// Renders the pieces of a line, split where the emphasis begins and ends.
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

/// Shows hidden and bidirectional characters by their code points: a reviewer must see them.
fn revealed(text: &str) -> Markup {
    // At the end of a line it hides nothing.
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

/// Returns the class of a line.
pub(super) const fn class(kind: LineKind) -> &'static str {
    match kind {
        LineKind::Add => "add",
        LineKind::Del => "del",
        LineKind::Context => "ctx",
    }
}
