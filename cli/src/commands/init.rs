//! `claude-codex init`

use clap::Args;
use shared::config::Environment;
use shared::error::{Code, Error};
use shared::git::Repository;

use super::file_change::{FileChange, described};
use super::init_phases::{init_phases, program};
use super::init_servers::{init_servers, remove_servers};
use super::session_settings::{add_hooks, remove_hooks};
use crate::failure::Failure;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  claude-codex init --dry-run         show what would be written
  claude-codex init                   .mcp.json for Claude Code, .claude-codex/config.toml for you
  claude-codex init --hooks           also the Stop hook and permission rules in .claude/settings.json
  claude-codex init --remove          remove all of that again
  claude-codex init --tdd             install hooks and command of the TDD phases in .claude/
  claude-codex init --tdd --remove    remove them again

Existing contents of these files stay. Agents launched by `claude-codex code` need none of them.";

const NEXT: &str = "
next: start `claude` here and enable the servers, or `claude-codex code \"…\"` for an agent of its own\n";

/// Register the MCP servers in this repository, and write a config file with comments
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct InitArgs {
    /// Only show what would be written
    #[arg(long)]
    dry_run: bool,
    /// Also let sessions that you start get feedback at the end of a turn, and call our tools without a question
    #[arg(long, conflicts_with_all = ["tdd", "remove"])]
    hooks: bool,
    /// Only install the TDD phases in the Claude Code settings of this worktree
    #[arg(long)]
    tdd: bool,
    /// Remove what `init` and `--hooks` wrote, or with `--tdd` what that installed
    #[arg(long)]
    remove: bool,
}

pub(crate) async fn init(args: &InitArgs, output: Output) -> Result<(), Failure> {
    let environment = Environment::current();
    let repository = Repository::discover(environment.directory()).await?;
    let root = repository.root();
    if root == repository.common_dir() {
        return Err(Error::new(
            Code::NotARepository,
            format!(
                "{} is a bare repository, which has no files",
                root.display()
            ),
        )
        .hint("Run it in a repository that has a main worktree.")
        .into());
    }
    let changes: Vec<FileChange> = if args.tdd {
        init_phases(&environment, &repository, args.remove, args.dry_run)?.into()
    } else if args.remove {
        // What can't be done is found before anything is written.
        remove_hooks(root, true)?;
        let mut changes = remove_servers(root, args.dry_run)?;
        changes.push(remove_hooks(root, args.dry_run)?);
        changes
    } else {
        let program = program(&environment)?;
        if args.hooks {
            add_hooks(root, &program, true)?;
        }
        let mut changes = init_servers(&environment, root, args.dry_run)?;
        if args.hooks {
            changes.push(add_hooks(root, &program, args.dry_run)?);
        }
        changes
    };
    if output.is_json() {
        return output.document(&changes);
    }
    for change in &changes {
        output.print(&described(change, args.dry_run))?;
    }
    if !args.tdd && !args.remove && !args.dry_run {
        output.print(NEXT)?;
    }
    Ok(())
}
