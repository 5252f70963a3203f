//! What text from agents may contain.

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

/// Checks a one-line text such as a title.
pub fn check_line(text: &str, most: usize) -> Result<(), TextProblem> {
    check(text, most, &[])
}

/// Checks a text of several lines such as a description.
pub fn check_block(text: &str, most: usize) -> Result<(), TextProblem> {
    check(text, most, &['\n', '\r', '\t'])
}

fn check(text: &str, most: usize, allowed: &[char]) -> Result<(), TextProblem> {
    if text.trim().is_empty() {
        return Err(TextProblem::Empty);
    }
    let actual = text.chars().count();
    if actual > most {
        return Err(TextProblem::TooLong { actual, most });
    }
    match text
        .chars()
        .find(|character| character.is_control() && !allowed.contains(character))
    {
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
        assert_eq!(check_block("a\r\n\tb", 10), Ok(()));
    }
}
