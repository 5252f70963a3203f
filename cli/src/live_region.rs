//! Live region: lines at the bottom of a terminal that are redrawn in place, while text scrolls above them.

use std::io::{self, IsTerminal};

use crate::failure::Failure;
use crate::output::{Output, height};

/// The redrawn lines.
#[derive(Debug, Default)]
pub(crate) struct LiveRegion {
    drawn: usize,
}

impl LiveRegion {
    /// Returns whether standard output is a terminal that can be redrawn.
    pub(crate) fn is_possible(output: Output) -> bool {
        !output.is_json() && io::stdout().is_terminal()
    }

    /// Replaces the lines drawn last; `above` is printed once and scrolls up.
    pub(crate) fn draw(
        &mut self,
        output: Output,
        above: &str,
        mut lines: Vec<String>,
    ) -> Result<(), Failure> {
        // One more line would scroll, and the next frame would start too low.
        lines.truncate(height().saturating_sub(2));
        // Moves up to the start of the last frame and erases everything below.
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
