//! `claude-codex completions`

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  claude-codex completions bash > ~/.local/share/bash-completion/completions/claude-codex
  claude-codex completions zsh > ~/.zfunc/_claude-codex
  claude-codex completions fish > ~/.config/fish/completions/claude-codex.fish";

/// Print the completions of a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    shell: Shell,
}

pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut Arguments::command(),
        "claude-codex",
        &mut text,
    );
    Output::new(false).print(&String::from_utf8_lossy(&text))
}
