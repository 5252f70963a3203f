//! Rejects shell commands that would disable phase enforcement: forged confirmations, hooks, profiles, the database.
//!
//! Changes to files are detected afterwards; this guard covers what can't be detected then. It matches the words of programs
//! that do more than read, so it can be circumvented; the other checks still apply.

use std::path::Path;

use super::shell_words;

/// Subcommands that only a person may use.
const HUMAN_VERBS: [&str; 5] = ["confirm", "start", "stop", "accept", "overrule"];

/// Programs that only read and print, whatever their arguments say.
const READERS: [&str; 29] = [
    ":", "[", "basename", "cat", "cmp", "cut", "diff", "dirname", "echo", "egrep", "false",
    "fgrep", "file", "grep", "head", "jq", "ls", "nl", "printf", "pwd", "realpath", "rg", "stat",
    "tail", "test", "tr", "true", "wc", "which",
];
/// What git does without changing files of the worktree.
const GIT_READERS: [&str; 10] = [
    "add", "blame", "branch", "commit", "diff", "grep", "log", "show", "status", "tag",
];
/// Options with which these run another program or write a file.
const ACTIVE_OPTIONS: [&str; 9] = [
    "--output",
    "--pre",
    "-O",
    "--open-files-in-pager",
    "--ext-diff",
    "--textconv",
    "--exec",
    "--hostname-bin",
    "--paginate",
];
/// Programs that run what they read: nothing on their line is data.
const INTERPRETERS: [&str; 32] = [
    ".", "ash", "awk", "bash", "builtin", "busybox", "bun", "command", "dash", "deno", "eval",
    "exec", "expect", "find", "fish", "gawk", "ksh", "lua", "node", "parallel", "perl", "php",
    "python", "python2", "python3", "ruby", "script", "sh", "source", "ssh", "xargs", "zsh",
];

/// Returns why a command is refused, if it is. What programs that only read are told is data; where it can't be told what
/// a line does, all of its words count.
pub(super) fn refusal(command: &str, state_dir: &Path, database: &Path) -> Option<&'static str> {
    let text = active_text(command);
    strict(text.as_deref().unwrap_or(command), state_dir, database)
}

/// Returns the words of a command line that do something; `None` if that can't be told.
fn active_text(line: &str) -> Option<String> {
    let commands = shell_words::split(line)?;
    let mut text = Vec::new();
    let mut data: Vec<&str> = Vec::new();
    for command in &commands {
        if command.targets.iter().any(|target| target.contains('$')) {
            return None;
        }
        text.extend(command.targets.iter().map(String::as_str));
        let words = command.words.iter().map(String::as_str);
        if only_reads(&command.words) {
            if command.piped {
                data.extend(words);
            } else {
                data.clear();
            }
            continue;
        }
        let program = command.words.first()?;
        let runs_others = command.words.iter().any(|word| {
            let name = word.rsplit('/').next().unwrap_or(word);
            INTERPRETERS.contains(&name)
        });
        // `A=b` changes what later words mean.
        if runs_others || program.contains(['$', '=']) {
            return None;
        }
        // What it reads may be more than data to it.
        text.append(&mut data);
        text.extend(words);
    }
    Some(text.join(" "))
}

fn only_reads(words: &[String]) -> bool {
    let active = |word: &String| ACTIVE_OPTIONS.iter().any(|option| word.starts_with(option));
    let Some((program, arguments)) = words.split_first() else {
        return true;
    };
    let is_plain = !arguments.iter().any(active);
    match program.as_str() {
        "git" => {
            let verb = arguments.first().map(String::as_str).unwrap_or_default();
            is_plain && GIT_READERS.contains(&verb)
        }
        "echo" | "printf" => true,
        program => is_plain && READERS.contains(&program),
    }
}

/// Judges a text by all of its words.
fn strict(command: &str, state_dir: &Path, database: &Path) -> Option<&'static str> {
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
    if HUMAN_VERBS.iter().any(|verb| says(&format!("/tdd {verb}"))) {
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
            "scheduled_tasks",
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
            "echo 'claude-codex phase confirm tests' | sh",
            "echo 'claude-codex phase confirm tests' | env bash",
            "echo '/tdd confirm tests' | ./say",
            "sh -c 'claude-codex phase confirm tests'",
            "eval claude-codex phase confirm tests",
            "X='claude-codex phase'; $X confirm tests",
            "echo `claude-codex phase confirm tests`",
            "echo \"$(claude-codex phase confirm tests)\"",
            "cat <(claude-codex phase confirm tests)",
            "grep x y && claude-codex phase overrule 'why'",
            "echo x > /dev/pts/3",
            "echo x > $PLACE; echo .claude/settings.json",
            "rg --pre 'claude-codex phase confirm' x",
            "git -c core.pager='claude-codex phase confirm tests' log",
            "git log --output=.claude/settings.json",
            "git checkout -- .claude/settings.json",
            "sh -c \"$(cat <<'EOF'\nclaude-codex phase confirm tests\nEOF\n)\"",
            "cp tasks .claude/scheduled_tasks.json",
            "echo a\nclaude-codex phase confirm tests",
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
            "grep -rn 'claude-codex phase confirm' docs",
            "git commit -m 'docs: explain /tdd confirm tests'",
            "git commit -m \"$(cat <<'EOF'\ndocs: `/tdd confirm tests`\n\nclaude-codex phase confirm\nEOF\n)\"",
            "cat .claude/settings.json",
            "git log -- .claude/settings.json",
            "rg codex.db",
            "grep -n 'tdd-override.json' README.md",
            "echo 'see claude-codex hooks'",
            "git diff .claude-codex/tdd.json",
            "cat .claude-codex/tdd.json 2>/dev/null | head -5",
            "ls ~/.local/state/claude-codex",
            "grep -rn 'send-keys' src # tmux",
            "rg '/dev/pts/' src",
            "claude-codex phase status && echo start",
            "git add .claude/settings.json",
            "cat .claude/commands/tdd.md",
            "jq . .claude/settings.local.json",
            "head docs/tdd-phases.md && claude-codex phase status --json | grep started",
        ] {
            assert!(!refused(command), "{command}");
        }
    }
}
