//! Terminal to HTML: turns `capture-pane -e` output with SGR sequences into one safe string per row.
//!
//! The text is untrusted. None of it becomes markup: every character is escaped, every escape sequence except SGR
//! (colours and attributes) is dropped, and the only tags are our own spans.

mod cells;
mod palette;
mod style;

use cells::Cells;
pub use palette::stylesheet;
use style::Style;

const ESCAPE: char = '\u{1b}';

/// Renders a capture as rows of HTML. As in tmux, attributes carry over to the next line.
pub fn rows_html(capture: &str) -> Vec<String> {
    let mut painter = Painter::default();
    let text = capture.strip_suffix('\n').unwrap_or(capture);
    text.split('\n').map(|line| painter.row(line)).collect()
}

/// The state that carries over from one character to the next.
#[derive(Debug, Default)]
struct Painter {
    style: Style,
    /// Between SO and SI, letters stand for line-drawing characters.
    drawing: bool,
}

impl Painter {
    fn row(&mut self, line: &str) -> String {
        let mut cells = Cells::default();
        let mut rest = line.chars();
        while let Some(character) = rest.next() {
            match character {
                ESCAPE => {
                    if let Some(codes) = sequence(&mut rest) {
                        self.style.apply(codes);
                    }
                }
                '\u{0e}' => self.drawing = true,
                '\u{0f}' => self.drawing = false,
                _ if self.drawing => cells.push(line_drawing(character), self.style),
                _ => cells.push(character, self.style),
            }
        }
        cells.into_html()
    }
}

/// Reads what follows an escape; returns the codes if it sets colours or attributes.
fn sequence<'t>(rest: &mut std::str::Chars<'t>) -> Option<&'t str> {
    match rest.next()? {
        '[' => {
            let text = rest.as_str();
            let end = text.find(|c: char| ('\u{40}'..='\u{7e}').contains(&c))?;
            // Nothing that tmux writes is that long.
            let codes = text.get(..end).filter(|codes| codes.len() <= 200);
            let is_style = text[end..].starts_with('m');
            *rest = text[end + 1..].chars();
            codes.filter(|_| is_style)
        }
        // Strings of the terminal: links, titles and others. They end with BEL or ST; without an end, all that
        // is left of the line belongs to them.
        ']' | 'P' | 'X' | '^' | '_' => {
            let text = rest.as_str();
            let bell = text.find('\u{7}').map(|at| at + 1);
            let terminator = text.find("\u{1b}\\").map(|at| at + 2);
            let end = bell
                .into_iter()
                .chain(terminator)
                .min()
                .unwrap_or(text.len());
            *rest = text[end..].chars();
            None
        }
        // Character sets have one more character.
        '(' | ')' | '*' | '+' | '#' | '%' | ' ' => {
            rest.next();
            None
        }
        _ => None,
    }
}

/// The alternate character set of the VT100.
fn line_drawing(character: char) -> char {
    const FROM_BACKTICK: [char; 31] = [
        '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─',
        '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
    ];
    let index = u32::from(character).checked_sub(u32::from('`'));
    index
        .and_then(|index| usize::try_from(index).ok())
        .and_then(|index| FROM_BACKTICK.get(index))
        .copied()
        .unwrap_or(character)
}

#[cfg(test)]
mod tests;
