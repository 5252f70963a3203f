//! `claude-codex init`

use std::path::Path;

use clap::Args;
use shared::config::{Environment, REPOSITORY_FILE};
use shared::error::{Code, Error};
use shared::git::Repository;
use shared::model::InstanceKind;

use super::file_change::{Action, FileChange, described, read};
use super::init_phases::init_phases;
use super::mcp_json::{self, Entry};
use crate::atomic_write::{inside, write_atomically};
use crate::failure::Failure;
use crate::output::Output;
use crate::server_paths;

const EXAMPLES: &str = "\
Examples:
  claude-codex init --dry-run         show what would be written
  claude-codex init                   .mcp.json for Claude Code, .claude-codex/config.toml for you
  claude-codex init --tdd             install hooks and command of the TDD phases in .claude/
  claude-codex init --tdd --remove    remove them again

Existing contents of these files stay. Agents launched by `claude-codex code` need neither file.";

/// All settings with their defaults, as comments. A test compares them.
const TEMPLATE: &str = include_str!("config_template.toml");

/// Register the MCP servers in this repository, and write a config file with comments
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InitArgs {
    /// Only show what would be written
    #[arg(long)]
    dry_run: bool,
    /// Only install the TDD phases in the Claude Code settings of this worktree
    #[arg(long)]
    tdd: bool,
    /// Remove what `--tdd` installed
    #[arg(long, requires = "tdd")]
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
    let changes = if args.tdd {
        init_phases(&environment, &repository, args.remove, args.dry_run)?
    } else {
        let entries = entries(&environment)?;
        // Check both paths before writing either file.
        let (servers, settings) = (inside(root, ".mcp.json")?, inside(root, REPOSITORY_FILE)?);
        [
            register(&servers, &entries, args.dry_run)?,
            add_config(&settings, args.dry_run)?,
        ]
    };
    if output.is_json() {
        return output.document(&changes);
    }
    for change in &changes {
        output.print(&described(change, args.dry_run))?;
    }
    Ok(())
}

fn entries(environment: &Environment) -> Result<Vec<Entry>, Error> {
    InstanceKind::ALL
        .iter()
        .map(|&kind| {
            let path = server_paths::find(kind, environment)?;
            let command = path.to_str().ok_or_else(|| {
                Error::new(
                    Code::ServerMissing,
                    format!("the path {} is not valid UTF-8", path.display()),
                )
                .hint("Install Claude Codex in a folder with a UTF-8 path.")
            })?;
            Ok(Entry {
                name: kind.registered_name(),
                command: command.to_owned(),
            })
        })
        .collect()
}

fn register(path: &Path, entries: &[Entry], dry_run: bool) -> Result<FileChange, Error> {
    let present = read(path)?;
    let text = mcp_json::with_entries(path, present.as_deref(), entries)?;
    let action = match (&present, &text) {
        (_, None) => Action::Unchanged,
        (None, Some(_)) => Action::Created,
        (Some(_), Some(_)) => Action::Updated,
    };
    if let Some(text) = text
        && !dry_run
    {
        write_atomically(path, &text)?;
    }
    Ok(FileChange {
        path: path.to_string_lossy().into_owned(),
        action,
        what: "the three MCP servers".to_owned(),
    })
}

fn add_config(path: &Path, dry_run: bool) -> Result<FileChange, Error> {
    let there = read(path)?.is_some();
    if !there && !dry_run {
        write_atomically(path, TEMPLATE)?;
    }
    Ok(FileChange {
        path: path.to_string_lossy().into_owned(),
        action: if there {
            Action::Unchanged
        } else {
            Action::Created
        },
        what: if there {
            "your settings"
        } else {
            "all settings, as comments"
        }
        .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use shared::config::{Layered, Settings};

    use super::*;

    #[test]
    fn the_template_has_every_setting_with_its_default() {
        let uncommented: String = TEMPLATE
            .lines()
            .filter(|line| line.contains(" = "))
            .flat_map(|line| [line.trim_start_matches("# "), "\n"])
            .collect();
        let settings: Settings = toml::from_str(&uncommented).unwrap();
        assert_eq!(settings, Settings::default());
        let (_, values) = Layered::defaults().finish().unwrap();
        for value in values {
            let line = format!("\n# {} = ", value.key);
            assert!(TEMPLATE.contains(&line), "{line}");
        }
        // Not even an empty table: each line works on its own.
        assert!(TEMPLATE.parse::<toml::Table>().unwrap().is_empty());
    }
}
