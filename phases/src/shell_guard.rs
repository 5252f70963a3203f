//! Rejects shell commands that would disable phase enforcement: forged confirmations, hooks, profiles, the database.
//!
//! Changes to files are detected afterwards; this guard covers what can't be detected then. It matches words, so
//! it can be circumvented; the other checks still apply.

use std::path::Path;

/// Subcommands that only a person may use.
const HUMAN_VERBS: [&str; 4] = ["confirm", "start", "stop", "accept"];

/// Returns why a command is refused, if it is.
pub(super) fn refusal(command: &str, state_dir: &Path, database: &Path) -> Option<&'static str> {
    // The shell ignores quotes and backslashes inside words.
    let plain: String = command
        .chars()
        .filter(|character| !matches!(character, '\'' | '"' | '\\'))
        .collect();
    let says = |word: &str| plain.contains(word);
    let any = |words: &[&str]| words.iter().any(|word| says(word));
    let path = |path: &Path| path.to_str().is_some_and(says);
    if says("claude-codex") && says("phase") && any(&HUMAN_VERBS) {
        return Some("only a person can start, confirm, accept or stop a phase");
    }
    if any(&["/tdd confirm", "/tdd start", "/tdd stop", "/tdd accept"]) {
        return Some("only a person can type /tdd");
    }
    if says("claude-codex") && says("hook") {
        return Some("only Claude Code may call hooks");
    }
    let types = ["send-keys", "paste-buffer", "send-prefix", "respawn-pane"];
    if (says("tmux") && any(&types)) || any(&["TIOCSTI", "/dev/pts/", "cc-socks"]) {
        return Some("typing into a terminal could forge a confirmation");
    }
    if path(state_dir) || path(database) || any(&["codex.db", "state/claude-codex"]) {
        return Some("the state of the phases is stored there");
    }
    if (says(".claude") && says("settings"))
        || any(&[
            "tdd-override.json",
            ".claude-codex/tdd.json",
            "commands/tdd.md",
        ])
    {
        return Some(
            "the hooks and profiles of the phases are stored there; use the Read tool to see them",
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
            // A combination of words may be refused by accident; that is the safe side.
            let chance = command.contains(".claude;");
            assert_eq!(refused(command), chance, "{command}");
        }
    }
}
