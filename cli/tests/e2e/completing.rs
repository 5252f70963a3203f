//! Completion of commands and ids in zsh and fish, where they are installed; `ids.rs` does the same in bash.

use std::path::Path;

use tests::{Terminal, TestEnv};

use crate::PROGRAM;
use crate::support::env_with_agent;

/// Makes an environment with one agent in which a shell finds the program; none where the shell is not installed.
fn env_for(shell: &str) -> Option<TestEnv> {
    let found = std::env::split_paths(&std::env::var_os("PATH")?)
        .any(|folder| folder.join(shell).is_file());
    if !found {
        eprintln!("SKIPPED: {shell} is not installed");
        return None;
    }
    let mut env = env_with_agent();
    env.text(&["code", "Fix it"]);
    let folder = Path::new(PROGRAM).parent().unwrap();
    let path = format!("{}:{}", folder.display(), env.variables()["PATH"]);
    env.set("PATH", path);
    Some(env)
}

/// Puts a file below the home folder.
fn write(env: &TestEnv, path: &str, text: &str) {
    let path = env.home().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Types the beginnings of a command and an id, with the Tab key after each.
fn complete(env: &TestEnv, start: &str) {
    let terminal = Terminal::open(env, &[start]);
    terminal.until_shows("ready>");
    terminal.press(&["claude-codex sho", "Tab"]);
    terminal.until_shows("claude-codex show");
    terminal.press(&["wor", "Tab"]);
    terminal.until_shows("claude-codex show work-fix-it-a1");
}

#[test]
fn zsh_completes_commands_and_ids() {
    let Some(env) = env_for("zsh") else {
        return;
    };
    // As `claude-codex completions --help` says.
    let script = env.text(&["completions", "zsh"]);
    write(&env, ".zfunc/_claude-codex", &script);
    let start = "fpath=(~/.zfunc $fpath)\nautoload -Uz compinit\ncompinit -D -u\nPS1='ready> '\n";
    write(&env, ".zshrc", start);
    complete(&env, "unset ZDOTDIR; exec zsh -d -i");
}

#[test]
fn fish_completes_commands_and_ids() {
    let Some(env) = env_for("fish") else {
        return;
    };
    let script = env.text(&["completions", "fish"]);
    write(&env, ".config/fish/completions/claude-codex.fish", &script);
    // Without its suggestions, which show more than was completed.
    let start = "set -g fish_autosuggestion_enabled 0\nfunction fish_prompt; echo 'ready> '; end\n";
    write(&env, ".config/fish/config.fish", start);
    complete(&env, "exec env -u XDG_CONFIG_HOME fish -i");
}
