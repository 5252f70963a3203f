//! A hunk of a diff, side by side: the old file on the left, the new one on the right.

use maud::{Markup, html};

use super::notes::Notes;
use super::text::{class, painted_lines};
use crate::highlight::Language;
use crate::view::{DiffLine, Hunk, LineKind};

const COLUMNS: u8 = 4;

pub(super) fn shown_hunk(hunk: &Hunk, language: &'static Language, notes: &Notes<'_>) -> Markup {
    let painted = painted_lines(hunk, language);
    let side = |at: Option<usize>, is_new: bool| {
        let Some(line) = at.and_then(|at| hunk.lines.get(at)) else {
            return html! { td.no {} td.line.none {} };
        };
        let number = if is_new { line.new } else { line.old };
        html! {
            td.no .(class(line.kind)) data-n=[number] {}
            td.line .(class(line.kind)) { @if let Some(text) = at.and_then(|at| painted.get(at)) { (text) } }
        }
    };
    html! {
        tbody {
            tr.hunk { td colspan=(COLUMNS) { (hunk.header) } }
            @for (old, new) in rows(&hunk.lines) {
                tr { (side(old, false)) (side(new, true)) }
                @if let Some(number) = new.and_then(|at| hunk.lines[at].new) { (notes.at(number, COLUMNS)) }
            }
        }
    }
}

/// Returns which lines stand beside each other.
fn rows(lines: &[DiffLine]) -> Vec<(Option<usize>, Option<usize>)> {
    let mut rows = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let run = |from: usize, kind: LineKind| {
            let rest = lines[from..].iter();
            rest.take_while(|line| line.kind == kind).count()
        };
        let removed = run(at, LineKind::Del);
        let added = run(at + removed, LineKind::Add);
        if removed + added == 0 {
            rows.push((Some(at), Some(at)));
            at += 1;
            continue;
        }
        for offset in 0..removed.max(added) {
            let old = (offset < removed).then_some(at + offset);
            let new = (offset < added).then_some(at + removed + offset);
            rows.push((old, new));
        }
        at += removed + added;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use LineKind::{Add, Context, Del};

    #[test]
    fn replaced_lines_stand_beside_each_other() {
        let line = |kind| DiffLine {
            kind,
            old: None,
            new: None,
            text: String::new(),
        };
        let lines = [Context, Del, Del, Add, Context, Add].map(line);
        let wanted = [
            (Some(0), Some(0)),
            (Some(1), Some(3)),
            (Some(2), None),
            (Some(4), Some(4)),
            (None, Some(5)),
        ];
        assert_eq!(rows(&lines), wanted);
    }
}
