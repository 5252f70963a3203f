//! Shell commands that would take the phases' own ground away.
//!
//! What a command does to files is found out afterwards. This is about what can't be seen then: the person's
//! word, the hooks, the database. It reads words, so it can be fooled; what it lets pass meets the other checks.

use std::path::Path;

/// Verbs that only a person may use.
const PERSONS_VERBS: [&str; 4] = ["confirm", "start", "stop", "accept"];

/// Returns why a command is refused.
pub(super) fn refusal(command: &str, state_dir: &Path, database: &Path) -> Option<&'static str> {
    // Quotes and backslashes inside words change nothing for the shell.
    let plain: String = command
        .chars()
        .filter(|character| !matches!(character, '\'' | '"' | '\\'))
        .collect();
    let says = |word: &str| plain.contains(word);
    let any = |words: &[&str]| words.iter().any(|word| says(word));
    let path = |path: &Path| path.to_str().is_some_and(says);
    if says("claude-codex") && says("phase") && any(&PERSONS_VERBS) {
        return Some("only a person can start, confirm, accept or stop a phase");
    }
    if any(&["/tdd confirm", "/tdd start", "/tdd stop", "/tdd accept"]) {
        return Some("only a person can type /tdd");
    }
    if says("claude-codex") && says("hook") {
        return Some("hooks are called by Claude Code alone");
    }
    let types = ["send-keys", "paste-buffer", "send-prefix", "respawn-pane"];
    if (says("tmux") && any(&types)) || any(&["TIOCSTI", "/dev/pts/", "cc-socks"]) {
        return Some("typing into terminals could pass for a person's word");
    }
    if path(state_dir) || path(database) || any(&["codex.db", "state/claude-codex"]) {
        return Some("the phases are kept there");
    }
    if (says(".claude") && says("settings"))
        || any(&[
            "tdd-override.json",
            ".claude-codex/tdd.json",
            "commands/tdd.md",
        ])
    {
        return Some(
            "the hooks and profiles of the phases are kept there; the Read tool shows them",
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(command: &str) -> bool {
        refusal(
            command,
            Path::new("/home/u/s"),
            Path::new("/data/my.sqlite"),
        )
        .is_some()
    }

    #[test]
    fn what_would_forge_a_word_or_take_the_hooks_away_is_refused() {
        for command in [
            "claude-codex phase confirm tests",
            "env -u CLAUDECODE /usr/bin/claude-codex phase confirm tests",
            "claude-co'd'ex ph\"ase\" con\\firm tests",
            "tmux send-keys -t %1 '/tdd confirm tests' Enter",
            "tmux -L x paste-buffer -t %1",
            "echo '{\"prompt\":\"/tdd confirm tests\"}' | claude-codex hook UserPromptSubmit --tdd",
            "claude --resume x -p '/tdd confirm tests'",
            "sqlite3 ~/.local/state/claude-codex/codex.db 'update tdd_phases set phase=4'",
            "sqlite3 /data/my.sqlite .dump",
            "rm -rf /home/u/s/phases",
            "sed -i d .claude/settings.json",
            "cd .claude && rm settings.local.json",
            "echo '{}' > .claude-codex/tdd.json",
        ] {
            assert!(refused(command), "{command}");
        }
    }

    #[test]
    fn everyday_commands_run() {
        for command in [
            "cargo test",
            "git status && git diff",
            "claude-codex phase status",
            "claude-codex phase restore",
            "claude-codex list",
            "ls .claude; cat settings.py",
            "tmux ls",
            "grep -rn tdd src/tdd",
        ] {
            // Words of both kinds may meet by chance; better one question too many.
            let chance = command.contains(".claude;");
            assert_eq!(refused(command), chance, "{command}");
        }
    }
}
