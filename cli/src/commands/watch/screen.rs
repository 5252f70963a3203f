//! Screen of `list --watch`: the alternate screen, and frames that fit into it whatever they contain.

use anstream::{AutoStream, ColorChoice, adapter::strip_str};
use anstyle::Style;
use shared::workflow::BoardRow;
use unicode_width::UnicodeWidthChar;

use super::{Mode, View};
use crate::board_table::{compact_board_table, no_agents};
use crate::failure::Failure;
use crate::output::{BOLD, DIM, NAME, Output, WARNING, height, width};
use crate::text::{columns as display_width, cut, harmless, wrapped};

/// What the footer names of the keys, while there is room; the others are in the help.
const KEYS: [&str; 10] = [
    "↑↓ select",
    "Enter attach",
    "p peek",
    "m message",
    "w waiting",
    "d diff",
    "l logs",
    "M merge",
    "r resume",
    "s stop",
];
/// Always named: whoever knows these two finds the others.
const LAST_KEYS: &str = "? help  q quit";
const PAGER_LINE: &str = "↑↓ PgUp PgDn scroll  q back";

/// How many columns of a message are seen at least, while it is written.
const MIN_TYPED: usize = 16;

/// Alternate screen, hidden cursor, pasted text marked.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[2J";
const LEAVE: &str = "\x1b[?2004l\x1b[?25h\x1b[?1049l";

/// The alternate screen. Dropping the value brings back what was there before.
pub(super) struct Screen {
    output: Output,
}

impl Screen {
    pub(super) fn enter(output: Output) -> Result<Self, Failure> {
        output.raw(ENTER)?;
        Ok(Self { output })
    }

    /// Draws a frame of whole lines; none is wider than the screen, and there are never too many.
    pub(super) fn draw(&self, view: &mut View, rows: &[BoardRow]) -> Result<(), Failure> {
        let (columns, lines) = (width(), height());
        let plain = AutoStream::choice(&std::io::stdout()) == ColorChoice::Never;
        let mut frame = String::from("\x1b[H");
        for (index, line) in view.frame(rows, columns, lines).iter().enumerate() {
            if index > 0 {
                frame.push_str("\r\n");
            }
            let line = fitted(line, columns);
            frame.push_str(&if plain {
                strip_str(&line).to_string()
            } else {
                line
            });
            frame.push_str("\x1b[K");
        }
        frame.push_str("\x1b[J");
        self.output.raw(&frame)
    }

    /// Writes what a terminal obeys beside the frame, such as a bell.
    pub(super) fn signal(&self, sequence: &str) -> Result<(), Failure> {
        self.output.raw(sequence)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.output.raw(LEAVE);
    }
}

impl View {
    /// Returns the lines of the screen: exactly `lines`, of which the last two or more are the footer.
    pub(super) fn frame(&mut self, rows: &[BoardRow], columns: usize, lines: usize) -> Vec<String> {
        let footer = self.footer(rows, columns, (lines / 2).max(1));
        let room = lines.saturating_sub(footer.len());
        let mut frame = match &mut self.mode {
            Mode::Pager { title, text, top } => {
                let shown = room.saturating_sub(1);
                *top = (*top).min(text.len().saturating_sub(shown));
                let title = format!("{BOLD}{title}{BOLD:#}");
                let text = text.iter().skip(*top).take(shown).cloned();
                std::iter::once(title).chain(text).collect()
            }
            Mode::Compose {
                id,
                peek: Some(peek),
                ..
            } => {
                let shown = peek.len().min(room.saturating_sub(1));
                let title = format!("{BOLD}Terminal of {id}{BOLD:#}");
                let text = peek[peek.len() - shown..].iter().cloned();
                std::iter::once(title).chain(text).collect()
            }
            Mode::Board | Mode::Compose { .. } | Mode::Confirm(_) => {
                self.board(rows, columns, room)
            }
        };
        frame.truncate(room);
        frame.resize(room, String::new());
        frame.extend(footer);
        // A terminal of one or two lines still has its footer.
        frame.split_off(frame.len().saturating_sub(lines.max(1)))
    }

    fn board(&mut self, rows: &[BoardRow], columns: usize, room: usize) -> Vec<String> {
        let Some(selected) = self.selected(rows) else {
            return vec![cut(no_agents(self.all).trim_end(), columns)];
        };
        // The first line is the title.
        let shown = room.saturating_sub(1).max(1);
        self.top = self
            .top
            .min(selected)
            .max((selected + 1).saturating_sub(shown))
            .min(rows.len().saturating_sub(shown));
        let table = compact_board_table(rows, columns).lines(columns.saturating_sub(2));
        let mut lines = table.into_iter();
        let title = lines.next().unwrap_or_default();
        let agents = lines.enumerate().skip(self.top).take(shown);
        let agents = agents.map(|(index, text)| {
            let mark = if index == selected { "▸" } else { " " };
            format!("{BOLD}{mark}{BOLD:#} {text}")
        });
        std::iter::once(format!("  {title}"))
            .chain(agents)
            .collect()
    }

    /// Returns what is said below the board, each part in at most so many lines.
    fn footer(&self, rows: &[BoardRow], columns: usize, most: usize) -> Vec<String> {
        let mut footer = match (&self.notice, self.selected(rows)) {
            (Some((text, style)), _) => styled(&wrapped(text, columns, most), *style),
            (None, Some(index)) => {
                let waiting = rows.iter().filter(|row| is_waiting(row)).count();
                let place = format!("{DIM}agent {} of {}{DIM:#}", index + 1, rows.len());
                vec![match waiting {
                    0 => place,
                    1 => format!("{place}  {WARNING}1 waits for you{WARNING:#}"),
                    more => format!("{place}  {WARNING}{more} wait for you{WARNING:#}"),
                }]
            }
            (None, None) => vec![String::new()],
        };
        match &self.mode {
            Mode::Board => footer.push(format!("{DIM}{}{DIM:#}", keys_line(columns))),
            Mode::Pager { .. } => footer.push(format!("{DIM}{}{DIM:#}", cut(PAGER_LINE, columns))),
            Mode::Confirm(question) => {
                let text = format!("{} Press y, or any other key to cancel", question.text());
                footer.extend(styled(&wrapped(&text, columns, most), WARNING));
            }
            Mode::Compose { id, text, .. } => {
                // What is typed needs room more than the hint does.
                let labels = [
                    format!("To {id} (Enter sends, Esc cancels): "),
                    format!("To {id}: "),
                    "> ".to_owned(),
                ];
                let fits = |label: &&String| display_width(label) + MIN_TYPED <= columns;
                let label = labels.iter().find(fits).unwrap_or(&labels[2]);
                let room = columns.saturating_sub(display_width(label) + 1);
                let text = harmless(text);
                let typed = tail(&text, room);
                footer.push(format!("{NAME}{label}{NAME:#}{typed}▏"));
            }
        }
        footer
    }
}

/// Returns the keys that so many columns have room for.
fn keys_line(columns: usize) -> String {
    let room = columns.saturating_sub(LAST_KEYS.len());
    let mut line = String::new();
    for key in KEYS {
        if display_width(&line) + display_width(key) + 2 > room {
            break;
        }
        line.push_str(key);
        line.push_str("  ");
    }
    cut(&(line + LAST_KEYS), columns)
}

fn styled(lines: &[String], style: Style) -> Vec<String> {
    let line = |line: &String| format!("{style}{line}{style:#}");
    lines.iter().map(line).collect()
}

/// Returns whether an agent waits for the person.
pub(super) fn is_waiting(row: &BoardRow) -> bool {
    row.attention()
        .is_some_and(|attention| attention.is_urgent())
}

/// Returns the end of a text that fits into so many columns.
fn tail(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, character) in text.char_indices().rev() {
        used += character.width().unwrap_or(0);
        if used > columns {
            return &text[at + character.len_utf8()..];
        }
    }
    text
}

/// Cuts a line with our styles to a number of columns. Other escape sequences were made harmless before.
fn fitted(line: &str, columns: usize) -> String {
    let mut fitted = String::with_capacity(line.len());
    let (mut used, mut in_style) = (0, false);
    for character in line.chars() {
        if character == '\x1b' || in_style {
            in_style = character != 'm';
            fitted.push(character);
            continue;
        }
        used += character.width().unwrap_or(0);
        if used <= columns {
            fitted.push(character);
        }
    }
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::columns;

    #[test]
    fn styled_lines_are_cut_and_their_styles_end() {
        let line = format!("{BOLD}日本語{BOLD:#} and {NAME}more{NAME:#}");
        let cut = fitted(&line, 8);
        assert_eq!(strip_str(&cut).to_string(), "日本語 a");
        assert!(cut.ends_with("\x1b[0m"), "{cut:?}");
        assert_eq!(tail("日本語", 5), "本語");
    }

    #[test]
    fn help_and_quit_are_named_however_narrow_the_screen_is() {
        for width in 20..200 {
            let line = keys_line(width);
            assert!(
                line.ends_with(LAST_KEYS) && columns(&line) <= width,
                "{line}"
            );
        }
        assert!(keys_line(80).contains("w waiting"), "{}", keys_line(80));
        assert!(keys_line(130).contains("s stop"));
    }

    #[test]
    fn a_long_notice_has_several_lines_and_the_board_fewer() {
        let mut view = View::new(true);
        view.warn(format!("{} end\nhint", "word ".repeat(30)));
        let frame = view.frame(&[], 40, 12);
        assert_eq!(frame.len(), 12);
        let shown: Vec<_> = frame
            .iter()
            .map(|line| strip_str(line).to_string())
            .collect();
        assert!(shown[9].ends_with("end"), "{shown:?}");
        assert_eq!(shown[10], "hint", "{shown:?}");
        assert!(shown[11].ends_with(LAST_KEYS), "{shown:?}");
    }

    #[test]
    fn what_is_typed_is_seen_however_narrow_the_screen_is() {
        for columns in [12, 20, 40, 60, 80, 200] {
            let mut view = View::new(true);
            view.mode = Mode::Compose {
                id: "work-the-parser-a1".parse().unwrap(),
                peek: None,
                text: "abc".to_owned(),
            };
            let frame = view.frame(&[], columns, 10);
            let prompt = strip_str(&fitted(&frame[9], columns)).to_string();
            assert!(prompt.ends_with("abc▏"), "{columns}: {prompt}");
        }
    }

    #[test]
    fn a_frame_has_exactly_the_lines_of_the_screen() {
        for lines in 1..6 {
            let text: Vec<String> = (0..50)
                .map(|line| format!("{line} {}", "x".repeat(500)))
                .collect();
            for mode in [
                Mode::Board,
                Mode::Pager {
                    title: "t".to_owned(),
                    text: text.clone(),
                    top: 99,
                },
                Mode::Compose {
                    id: "work-a-a1".parse().unwrap(),
                    peek: Some(text.clone()),
                    text: "y".repeat(900),
                },
            ] {
                let mut view = View::new(true);
                view.mode = mode;
                view.warn("word ".repeat(300));
                let frame = view.frame(&[], 40, lines);
                assert_eq!(frame.len(), lines);
                for line in frame {
                    assert!(columns(&strip_str(&fitted(&line, 40)).to_string()) <= 40);
                }
            }
        }
    }
}
