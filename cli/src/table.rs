//! Tables in plain text, cut to the width of the terminal; the last column shrinks first.

use std::fmt::Write;

use anstyle::Style;

use crate::output::{BOLD, PLAIN};
use crate::text::{columns, cut, harmless};

const GAP: usize = 2;
/// The width that a column keeps when the terminal is narrow.
const MIN_COLUMN: usize = 8;

/// One cell, whose text is made harmless.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Self::styled(text, PLAIN)
    }

    pub(crate) fn styled(text: impl AsRef<str>, style: Style) -> Self {
        Self {
            text: harmless(text.as_ref()),
            style,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(titles: &[&str]) -> Self {
        let titles = titles.iter().map(|title| Cell::styled(title, BOLD));
        Self {
            rows: vec![titles.collect()],
        }
    }

    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Returns one line for each row, none wider than `width` unless every column has its minimum.
    pub(crate) fn lines(&self, width: usize) -> Vec<String> {
        let widths = self.widths(width);
        self.rows.iter().map(|row| line(row, &widths)).collect()
    }

    pub(crate) fn render(&self, width: usize) -> String {
        self.lines(width)
            .iter()
            .fold(String::new(), |mut text, line| {
                text.push_str(line);
                text.push('\n');
                text
            })
    }

    fn widths(&self, width: usize) -> Vec<usize> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut widths: Vec<usize> = (0..count)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| columns(&cell.text)).max().unwrap_or(0)
            })
            .collect();
        let gaps = GAP * count.saturating_sub(1);
        for column in (0..count).rev() {
            let total = widths.iter().sum::<usize>() + gaps;
            let excess = total.saturating_sub(width);
            let least = widths[column].min(MIN_COLUMN);
            widths[column] = widths[column].saturating_sub(excess).max(least);
        }
        widths
    }
}

fn line(row: &[Cell], widths: &[usize]) -> String {
    let mut line = String::new();
    for (index, (cell, width)) in row.iter().zip(widths).enumerate() {
        let text = cut(&cell.text, *width);
        let padding = if index + 1 == row.len() {
            0
        } else {
            width + GAP - columns(&text)
        };
        // Writing to a String does not fail.
        let _ = write!(line, "{0}{text}{0:#}{1:2$}", cell.style, "", padding);
    }
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(table: &Table, width: usize) -> Vec<String> {
        table
            .lines(width)
            .iter()
            .map(|line| anstream::adapter::strip_str(line).to_string())
            .collect()
    }

    #[test]
    fn columns_line_up_and_the_last_gives_way() {
        let mut table = Table::new(&["ID", "TASK"]);
        table.row(vec![Cell::new("a"), Cell::new("日本語 is long enough")]);
        table.row(vec![Cell::new("longer"), Cell::new("x\x1b[2J")]);
        assert_eq!(
            plain(&table, 80),
            [
                "ID      TASK",
                "a       日本語 is long enough",
                "longer  x<U+001B>[2J"
            ]
        );
        assert_eq!(plain(&table, 17)[1], "a       日本語 i…");
        assert!(plain(&table, 17).iter().all(|line| columns(line) <= 17));
    }

    #[test]
    fn styles_take_no_room() {
        let mut table = Table::new(&["A", "B"]);
        table.row(vec![Cell::styled("x", BOLD), Cell::new("y")]);
        assert_eq!(plain(&table, 80)[1], "x  y");
        assert!(table.render(80).contains('\x1b'));
    }
}
