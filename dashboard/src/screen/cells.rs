//! Renders the cells of one row as HTML, with wide and combining characters.

use shared::model::hidden::{ZWJ, is_always_hidden};
use unicode_width::UnicodeWidthChar as _;

use super::style::Style;

/// More combining marks per character than any script needs.
const MAX_MARKS: usize = 8;

/// How wide a cell is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// One cell; terminal fonts have the character in that width.
    Text,
    /// One cell, whatever the width in the font.
    One,
    /// Two cells.
    Two,
}

impl Fit {
    fn of(character: char) -> Self {
        match character.width() {
            Some(2) => Self::Two,
            // Latin, Greek and Cyrillic letters, and what boxes are drawn with.
            _ if matches!(character, ' '..='\u{52f}' | '\u{2500}'..='\u{259f}' | '…' | '‘'..='”' | '–' | '—' | '•') => {
                Self::Text
            }
            _ => Self::One,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Cells {
    html: String,
    /// Of the run that is being written; `None` before the first cell.
    run: Option<(Style, Fit)>,
    marks: usize,
    joined: bool,
}

impl Cells {
    pub(super) fn push(&mut self, character: char, style: Style) {
        // A grid of cells has no room to reveal hidden characters.
        if character == '\n' || is_always_hidden(character) {
            return;
        }
        let character = if character == '\t' { ' ' } else { character };
        let joins = self.joined || character.width() == Some(0);
        self.joined = character == ZWJ;
        if joins {
            // Combining marks and joined characters belong to the cell before. They are dropped at the start of a
            // row, and beyond the limit.
            if self.run.is_some() && self.marks < MAX_MARKS {
                self.marks += 1;
                escape(character, &mut self.html);
            }
            return;
        }
        self.marks = 0;
        let fit = Fit::of(character);
        let continues = fit == Fit::Text && self.run == Some((style, fit));
        if !continues {
            self.close();
            self.open(style, fit);
        }
        escape(character, &mut self.html);
    }

    fn open(&mut self, style: Style, fit: Fit) {
        let mut classes = style.classes();
        let width = match fit {
            Fit::Text => "",
            Fit::One => "w1",
            Fit::Two => "w2",
        };
        if !classes.is_empty() && !width.is_empty() {
            classes.push(' ');
        }
        classes.push_str(width);
        if classes.is_empty() {
            self.html.push_str("<span>");
        } else {
            self.html.push_str(&format!("<span class=\"{classes}\">"));
        }
        self.run = Some((style, fit));
    }

    fn close(&mut self) {
        if self.run.take().is_some() {
            self.html.push_str("</span>");
        }
    }

    pub(super) fn into_html(mut self) -> String {
        self.close();
        self.html
    }
}

fn escape(character: char, html: &mut String) {
    match character {
        '&' => html.push_str("&amp;"),
        '<' => html.push_str("&lt;"),
        '>' => html.push_str("&gt;"),
        '"' => html.push_str("&quot;"),
        '\'' => html.push_str("&#39;"),
        _ => html.push(character),
    }
}
