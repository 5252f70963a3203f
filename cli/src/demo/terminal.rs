//! The terminal of a scripted agent: handles bracketed paste and Enter like the input box of Claude Code.

use std::io::{self, Read, Write};

use anstyle::Style;
use rustix::termios::{InputModes, LocalModes, OptionalActions, tcgetattr, tcsetattr};
use shared::error::Error;

use super::client::broken;
use crate::output::NAME;
use crate::text::{harmless, harmless_block};

const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// Typed text that Enter has not sent yet.
#[derive(Debug, Default)]
pub(super) struct InputBox {
    pending: Vec<u8>,
    text: Vec<u8>,
    pasting: bool,
}

impl InputBox {
    /// Takes input bytes; returns the first message that they complete.
    fn take(&mut self, bytes: &[u8]) -> Option<String> {
        self.pending.extend_from_slice(bytes);
        while let Some(&byte) = self.pending.first() {
            let mark = if self.pasting {
                PASTE_ENDS
            } else {
                PASTE_BEGINS
            };
            if self.pending.starts_with(mark) {
                self.pending.drain(..mark.len());
                self.pasting = !self.pasting;
            } else if mark.starts_with(&self.pending) {
                // The rest of the marker has not arrived yet.
                return None;
            } else {
                self.pending.remove(0);
                if byte == b'\r' && !self.pasting {
                    let text = String::from_utf8_lossy(&self.text).into_owned();
                    self.text.clear();
                    if !text.trim().is_empty() {
                        return Some(text);
                    }
                } else {
                    self.text.push(if byte == b'\r' { b'\n' } else { byte });
                }
            }
        }
        None
    }
}

/// The screen and the keyboard.
#[derive(Debug, Default)]
pub(super) struct Terminal {
    input: InputBox,
}

impl Terminal {
    /// Switches the terminal to raw mode: keys arrive at once and are not echoed.
    pub(super) fn open() -> Result<Self, Error> {
        let stdin = io::stdin();
        let mut modes = tcgetattr(&stdin).map_err(broken)?;
        modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
        // Enter arrives as CR, which distinguishes it from the line breaks of a paste.
        modes.input_modes -= InputModes::ICRNL;
        tcsetattr(&stdin, OptionalActions::Now, &modes).map_err(broken)?;
        let terminal = Self::default();
        terminal.write("\x1b[?2004h")?;
        Ok(terminal)
    }

    /// Prints what the agent does.
    pub(super) fn says(&self, style: Style, text: &str) -> Result<(), Error> {
        self.write(&format!("{style}●{style:#} {}\n", harmless_block(text)))
    }

    /// Prints one line of a program's output.
    pub(super) fn shows(&self, line: &str) -> Result<(), Error> {
        self.write(&format!("  {}\n", harmless(line)))
    }

    /// Waits for a message and prints it, as Claude Code does; delivery is proven by that.
    pub(super) fn next_message(&mut self) -> Result<String, Error> {
        self.write("\n> ")?;
        let mut bytes = [0; 4096];
        let mut fresh: &[u8] = &[];
        loop {
            if let Some(message) = self.input.take(fresh) {
                self.write(&format!("{NAME}{}{NAME:#}\n", harmless_block(&message)))?;
                return Ok(message);
            }
            let read = io::stdin().lock().read(&mut bytes).map_err(broken)?;
            if read == 0 {
                return Err(broken("the terminal is gone"));
            }
            fresh = &bytes[..read];
        }
    }

    #[expect(
        clippy::unused_self,
        reason = "only the owner of the terminal writes to it"
    )]
    fn write(&self, text: &str) -> Result<(), Error> {
        let mut stdout = io::stdout().lock();
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush())
            .map_err(broken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_is_one_message_and_only_enter_sends_it() {
        let mut input = InputBox::default();
        assert_eq!(input.take(b"\x1b[200~two\rlines"), None);
        assert_eq!(input.take(b"\nmore\x1b[20"), None);
        assert_eq!(input.take(b"1~"), None);
        assert_eq!(input.take(b"\r").as_deref(), Some("two\nlines\nmore"));
        assert_eq!(input.take(b"\r\r"), None);
        assert_eq!(input.take(b"typed\rnext").as_deref(), Some("typed"));
        assert_eq!(input.take(b"\r").as_deref(), Some("next"));
    }
}
