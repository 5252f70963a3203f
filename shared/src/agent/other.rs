//! Any other agent program: shell words from the configuration, never a shell.

use super::error::AgentError;

/// Splits `agent.command` into a program and its arguments.
pub(super) fn argv(command: &str) -> Result<Vec<String>, AgentError> {
    let words = shlex::split(command).ok_or_else(|| AgentError::CommandWords {
        command: command.to_owned(),
    })?;
    if words.first().is_none_or(String::is_empty) {
        return Err(AgentError::CommandEmpty);
    }
    Ok(words)
}

/// Tells whether the text left of a cursor is the end of a message: a draft that was not sent.
pub fn ends_in_message(before_cursor: &str, message: &str) -> bool {
    // What a box draws in front of its text.
    let shown = before_cursor.trim_end().trim_start_matches(|c: char| {
        c.is_whitespace() || matches!(c, '>' | '❯' | '│' | '┃' | '|')
    });
    let last = message.trim_end().lines().next_back().unwrap_or_default();
    !shown.is_empty() && !last.is_empty() && (shown.ends_with(last) || last.ends_with(shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_and_nothing_is_expanded() {
        assert_eq!(
            argv("my-agent --flag 'two words' $HOME").unwrap(),
            ["my-agent", "--flag", "two words", "$HOME"]
        );
    }

    #[test]
    fn a_draft_ends_at_the_cursor() {
        let message = "[m-1] title\n\nthe last line";
        assert!(ends_in_message("> [m-1] title the last line", message));
        assert!(ends_in_message("│ last line ", message));
        assert!(!ends_in_message("", message));
        assert!(!ends_in_message("> ", message));
        assert!(!ends_in_message("something else", message));
    }

    #[test]
    fn an_open_quote_and_nothing_at_all_are_errors() {
        assert!(matches!(argv("a 'b"), Err(AgentError::CommandWords { .. })));
        assert!(matches!(argv("  "), Err(AgentError::CommandEmpty)));
        assert!(matches!(argv("''"), Err(AgentError::CommandEmpty)));
    }
}
