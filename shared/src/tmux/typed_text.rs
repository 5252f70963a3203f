//! Text that is typed into a pane: which text is safe, and what became of it.

use super::error::TmuxError;
use crate::model::hidden::first_hidden;

/// What the server prints once it has typed.
pub(super) const TYPED: &str = "typed";

/// What became of something typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputOutcome {
    /// The terminal has it; whether the program took it is for the program to say.
    Typed,
    /// The program in the pane has ended.
    Dead,
    /// There is no such session, or its agent's pane is gone.
    Missing,
    /// Another program than the expected one has the terminal.
    OtherProgram { command: String },
    /// Somebody with a newer lease has the pane.
    Outdated,
}

pub(super) fn check_text(text: &str) -> Result<(), TmuxError> {
    if text.is_empty() {
        return Err(TmuxError::EmptyText);
    }
    match first_hidden(text) {
        Some(character) => Err(TmuxError::UnsafeText {
            character,
            offset: text.find(character).unwrap_or(0),
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{TmuxError, check_text};

    #[test]
    fn hidden_characters_are_refused() {
        assert!(check_text("two\n\tlines é 🦀 \u{a0}").is_ok());
        for text in [
            "a\x1b[201~",
            "a\rb",
            "a\r\nb",
            "\0",
            "\x7f",
            "x\u{9b}201~",
            "x\u{e0041}",
        ] {
            assert!(matches!(
                check_text(text),
                Err(TmuxError::UnsafeText { .. })
            ));
        }
        assert!(matches!(check_text(""), Err(TmuxError::EmptyText)));
    }
}
