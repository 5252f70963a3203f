//! A rendered terminal screen, and the rows that differ from the one a viewer has.

use std::sync::Arc;

use shared::error::Error;
use shared::tmux::PaneView;
use tokio::sync::watch;

use crate::screen;
use crate::view::{Controller, Cursor, ScreenEvent, ScreenRow};

/// A terminal at one moment, rendered once for all viewers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Screen {
    rows: Vec<String>,
    columns: u32,
    height: u32,
    cursor: Cursor,
    title: String,
    alive: bool,
    scrolled: u32,
}

/// The state of a watched terminal.
#[derive(Debug, Clone, Default)]
pub(super) enum Seen {
    #[default]
    Nothing,
    Screen(Arc<Screen>),
    Gone(Error),
}

/// Where a watcher publishes the state of its terminal.
pub(super) type Publisher = watch::Sender<Seen>;

impl Screen {
    pub(super) fn of(view: &PaneView) -> Self {
        Self {
            rows: screen::rows_html(&view.text),
            columns: view.columns,
            height: view.rows,
            cursor: cursor(view),
            title: view.title.clone(),
            alive: !view.dead,
            scrolled: view.scrolled,
        }
    }

    /// Returns the update for a viewer who has another screen, or none.
    pub(super) fn since(&self, seen: Option<&Self>, controller: Option<Controller>) -> ScreenEvent {
        let whole = seen.is_none_or(|seen| {
            (seen.columns, seen.height, seen.rows.len())
                != (self.columns, self.height, self.rows.len())
        });
        let rows = self.rows.iter().enumerate().filter(|(number, html)| {
            whole || seen.and_then(|seen| seen.rows.get(*number)) != Some(*html)
        });
        ScreenEvent {
            whole,
            rows: rows
                .map(|(number, html)| ScreenRow {
                    n: u32::try_from(number).unwrap_or(u32::MAX),
                    html: html.clone(),
                })
                .collect(),
            columns: self.columns,
            height: self.height,
            cursor: self.cursor,
            title: self.title.clone(),
            alive: self.alive,
            scrolled: self.scrolled,
            controller,
        }
    }
}

pub(crate) fn cursor(view: &PaneView) -> Cursor {
    Cursor {
        x: view.cursor_x,
        y: view.cursor_y,
        visible: view.cursor_visible,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(rows: &[&str], columns: u32) -> Screen {
        Screen {
            rows: rows.iter().map(|row| (*row).to_owned()).collect(),
            columns,
            height: 2,
            cursor: Cursor {
                x: 0,
                y: 0,
                visible: true,
            },
            title: String::new(),
            alive: true,
            scrolled: 0,
        }
    }

    #[test]
    fn only_rows_that_changed_are_sent() {
        let (first, second) = (screen(&["a", "b"], 80), screen(&["a", "c"], 80));
        let all = first.since(None, None);
        assert!(all.whole && all.rows.len() == 2);
        let changed = second.since(Some(&first), None);
        assert!(!changed.whole);
        let rows: Vec<_> = changed.rows.iter().map(|row| (row.n, &*row.html)).collect();
        assert_eq!(rows, [(1, "c")]);
        assert!(screen(&["a", "b"], 90).since(Some(&first), None).whole);
    }
}
