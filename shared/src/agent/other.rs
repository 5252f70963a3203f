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
    fn an_open_quote_and_nothing_at_all_are_errors() {
        assert!(matches!(argv("a 'b"), Err(AgentError::CommandWords { .. })));
        assert!(matches!(argv("  "), Err(AgentError::CommandEmpty)));
        assert!(matches!(argv("''"), Err(AgentError::CommandEmpty)));
    }
}
