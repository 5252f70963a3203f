//! A hunk of a diff, unified: removed lines above those that replace them.

use maud::{Markup, html};

use super::notes::Notes;
use super::text::{class, painted_lines};
use crate::highlight::Language;
use crate::view::Hunk;

const COLUMNS: u8 = 3;

pub(super) fn shown_hunk(hunk: &Hunk, language: &'static Language, notes: &Notes<'_>) -> Markup {
    let painted = painted_lines(hunk, language);
    html! {
        tbody {
            tr.hunk { td colspan=(COLUMNS) { (hunk.header) } }
            @for (line, text) in hunk.lines.iter().zip(painted) {
                tr .(class(line.kind)) {
                    td.no data-n=[line.old] {}
                    td.no data-n=[line.new] {}
                    td.line { (text) }
                }
                @if let Some(number) = line.new { (notes.at(number, COLUMNS)) }
            }
        }
    }
}
