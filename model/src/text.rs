//! Text limits: which length and which characters text from agents may have.
//!
//! Control characters are refused: an agent that sends them has made a mistake and can correct it. Other hidden
//! characters are dropped, because they come along with what an agent copied; see `hidden`.

use super::hidden::{self, drop_hidden, drop_hidden_in_line};

/// Why a text was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextProblem {
    #[error("is empty")]
    Empty,
    #[error("has {actual} characters; at most {most} are allowed")]
    TooLong { actual: usize, most: usize },
    #[error("contains the control character U+{0:04X}")]
    Control(u32),
}

/// Checks a one-line text such as a title, and returns it without hidden characters and outer spaces.
pub fn check_line(text: &str, most: usize) -> Result<String, TextProblem> {
    check(text, most, &[])?;
    said(drop_hidden_in_line(text).trim())
}

/// Checks a text of several lines such as a description, and returns it without hidden characters.
pub fn check_block(text: &str, most: usize) -> Result<String, TextProblem> {
    check(text, most, &['\n', '\r', '\t'])?;
    said(&drop_hidden(text))
}

fn said(text: &str) -> Result<String, TextProblem> {
    if text.trim().is_empty() {
        return Err(TextProblem::Empty);
    }
    Ok(text.to_owned())
}

fn check(text: &str, most: usize, allowed: &[char]) -> Result<(), TextProblem> {
    if text.trim().is_empty() {
        return Err(TextProblem::Empty);
    }
    let actual = text.chars().count();
    if actual > most {
        return Err(TextProblem::TooLong { actual, most });
    }
    match hidden::first_control(text, allowed) {
        Some(character) => Err(TextProblem::Control(u32::from(character))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_a_terminal_or_a_table_would_choke_on() {
        assert_eq!(check_line("  \t", 10), Err(TextProblem::Empty));
        assert_eq!(check_line("a\nb", 10), Err(TextProblem::Control(10)));
        assert_eq!(check_block("a\0b", 10), Err(TextProblem::Control(0)));
        assert_eq!(check_block("a\u{9b}b", 10), Err(TextProblem::Control(0x9b)));
        assert_eq!(
            check_block("日本語", 2),
            Err(TextProblem::TooLong { actual: 3, most: 2 })
        );
        assert_eq!(check_block("a\r\n\tb", 10), Ok("a\n\tb".to_owned()));
    }

    #[test]
    fn hidden_characters_are_dropped_and_say_nothing() {
        let dropped = check_line(" Fix\u{e0041}\u{200b} it ", 20);
        assert_eq!(dropped, Ok("Fix it".to_owned()));
        assert_eq!(
            check_block("\u{e0041}\u{200b}\n", 20),
            Err(TextProblem::Empty)
        );
    }
}
