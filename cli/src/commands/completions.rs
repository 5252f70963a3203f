//! `claude-codex completions`

use clap::Args;
use clap_complete::Shell;

use crate::completion;
use crate::failure::Failure;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  claude-codex completions bash > ~/.local/share/bash-completion/completions/claude-codex
  claude-codex completions zsh > ~/.zfunc/_claude-codex
  claude-codex completions fish > ~/.config/fish/completions/claude-codex.fish

The script asks claude-codex what fits: commands, options, and the ids of agents, tasks and
pull requests that exist. Print it again after an update.";

/// Print a script that completes commands, options and ids in a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    shell: Shell,
}

pub(crate) async fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let text = completion::script(args.shell)?;
    Output::new(false).raw(&text)
}
