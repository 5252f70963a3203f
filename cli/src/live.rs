//! The bottom of a terminal, drawn again and again, with text scrolling by above it.

use std::io::{self, IsTerminal};

use crate::failure::Failure;
use crate::output::{Output, height};

/// Lines that stay in place.
#[derive(Debug, Default)]
pub(crate) struct LiveLines {
    drawn: usize,
}

impl LiveLines {
    /// Tells whether there is a terminal to draw on.
    pub(crate) fn are_possible(output: Output) -> bool {
        !output.is_json() && io::stdout().is_terminal()
    }

    /// Draws the lines in place of the last ones; `above` stays and scrolls up.
    pub(crate) fn draw(
        &mut self,
        output: Output,
        above: &str,
        mut lines: Vec<String>,
    ) -> Result<(), Failure> {
        // One line more would scroll, and the next frame would begin too low.
        lines.truncate(height().saturating_sub(2));
        // Up to where the last frame began, and everything below it away.
        let up = if self.drawn > 0 {
            format!("\x1b[{}A", self.drawn)
        } else {
            String::new()
        };
        self.drawn = lines.len();
        let frame: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        output.print(&format!("\r{up}\x1b[J{above}{frame}"))
    }
}
