//! Agent programs other than Claude Code: a command from the settings, split into words without a shell.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::detect::is_executable;
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

/// Checks that the program of `agent.command` exists: at its path, or in the given `PATH`.
///
/// A path below the worktree is not checked: only a checkout of the base says whether it is there.
pub fn check_command(command: &str, search: &OsStr) -> Result<(), AgentError> {
    let words = argv(command)?;
    let program = Path::new(words.first().map_or("", String::as_str));
    let is_name = program.components().count() == 1 && !words[0].contains('/');
    // What a relative path has depends on the worktree.
    let candidates: Vec<PathBuf> = if is_name {
        let folders = std::env::split_paths(search);
        folders.map(|folder| folder.join(program)).collect()
    } else {
        vec![program.to_owned()]
    };
    if candidates
        .iter()
        .any(|path| path.is_relative() || is_executable(path))
    {
        return Ok(());
    }
    Err(match candidates.into_iter().find(|path| path.is_file()) {
        Some(program) => AgentError::CommandNotExecutable { program },
        None => AgentError::CommandMissing {
            program: program.to_owned(),
        },
    })
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
    fn a_program_is_found_by_its_path_or_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my-agent");
        std::fs::write(&path, "").unwrap();
        let search = folder.path().as_os_str();
        let missing = |command: &str| {
            let checked = check_command(command, search);
            matches!(checked, Err(AgentError::CommandMissing { .. }))
        };
        for command in [
            "my-agent --flag".to_owned(),
            format!("'{}' x", path.display()),
        ] {
            let checked = check_command(&command, search);
            let Err(AgentError::CommandNotExecutable { program }) = checked else {
                panic!("{command}: {checked:?}");
            };
            assert_eq!(program, path);
        }
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).unwrap();
        assert!(!missing("my-agent --flag"));
        assert!(!missing(&format!("'{}' x", path.display())));
        assert!(missing("no-such-agent"));
        assert!(missing("/no/such/agent"));
        assert!(missing(&folder.path().display().to_string()), "a folder");
        assert!(!missing("./tools/agent"));
        assert!(check_command("'", search).is_err());
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
