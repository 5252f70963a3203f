//! `claude-codex init`

use std::io::ErrorKind;
use std::path::Path;

use clap::Args;
use serde::Serialize;
use shared::config::{Environment, REPOSITORY_FILE};
use shared::error::{Code, Error};
use shared::git::Repository;
use shared::model::InstanceKind;

use super::init_tdd::init_tdd;
use super::mcp_json::{self, Entry};
use crate::failure::Failure;
use crate::file::{inside, write_whole};
use crate::output::{DIM, GOOD, Output};
use crate::servers;
use crate::text::harmless;

const EXAMPLES: &str = "\
Examples:
  claude-codex init --dry-run         say what would be written
  claude-codex init                   .mcp.json for Claude Code, .claude-codex/config.toml for you
  claude-codex init --tdd             hooks and command of the TDD phases, in .claude/
  claude-codex init --tdd --remove    take them out again

What is already in these files stays. Agents that `claude-codex code` launches need neither.";

/// The settings with their defaults, all as comments. A test holds it equal to them.
const TEMPLATE: &str = include_str!("config_template.toml");

/// Register the MCP servers in this repository and write a commented config file
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InitArgs {
    /// Only say what would be written
    #[arg(long)]
    dry_run: bool,
    /// Install the TDD phases in Claude Code's settings of this worktree, and nothing else
    #[arg(long)]
    tdd: bool,
    /// Take out what `--tdd` installed
    #[arg(long, requires = "tdd")]
    remove: bool,
}

/// What became of one file.
#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    pub(super) path: String,
    pub(super) action: Action,
    pub(super) what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Action {
    Created,
    Updated,
    Removed,
    Unchanged,
}

pub(crate) async fn init(args: &InitArgs, output: Output) -> Result<(), Failure> {
    let environment = Environment::of_process();
    let repository = Repository::discover(environment.directory()).await?;
    let root = repository.root();
    if root == repository.common_dir() {
        return Err(Error::new(
            Code::NotARepository,
            format!(
                "{} is a bare repository, without files of its own",
                root.display()
            ),
        )
        .hint("Run it in a repository with a main worktree.")
        .into());
    }
    let outcomes = if args.tdd {
        init_tdd(&environment, &repository, args.remove, args.dry_run)?
    } else {
        let entries = entries(&environment)?;
        // Before anything is written: both or neither.
        let (servers, settings) = (inside(root, ".mcp.json")?, inside(root, REPOSITORY_FILE)?);
        [
            register(&servers, &entries, args.dry_run)?,
            add_config(&settings, args.dry_run)?,
        ]
    };
    if output.is_json() {
        return output.document(&outcomes);
    }
    for outcome in &outcomes {
        output.print(&described(outcome, args.dry_run))?;
    }
    Ok(())
}

fn described(outcome: &Outcome, dry_run: bool) -> String {
    let (word, style) = match (outcome.action, dry_run) {
        (Action::Created, false) => ("created", GOOD),
        (Action::Created, true) => ("would create", GOOD),
        (Action::Updated, false) => ("updated", GOOD),
        (Action::Updated, true) => ("would update", GOOD),
        (Action::Removed, false) => ("removed", GOOD),
        (Action::Removed, true) => ("would remove", GOOD),
        (Action::Unchanged, _) => ("unchanged", DIM),
    };
    let path = harmless(&outcome.path);
    format!("{style}{word}{style:#} {path}: {}\n", outcome.what)
}

fn entries(environment: &Environment) -> Result<Vec<Entry>, Error> {
    InstanceKind::ALL
        .iter()
        .map(|&kind| {
            let path = servers::find(kind, environment)?;
            let command = path.to_str().ok_or_else(|| {
                Error::new(
                    Code::ServerMissing,
                    format!("the path {} is not valid UTF-8", path.display()),
                )
                .hint("Install Claude Codex elsewhere.")
            })?;
            Ok(Entry {
                name: kind.registered_name(),
                command: command.to_owned(),
            })
        })
        .collect()
}

fn register(path: &Path, entries: &[Entry], dry_run: bool) -> Result<Outcome, Error> {
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
        write_whole(path, &text)?;
    }
    Ok(Outcome {
        path: path.to_string_lossy().into_owned(),
        action,
        what: "the three MCP servers".to_owned(),
    })
}

fn add_config(path: &Path, dry_run: bool) -> Result<Outcome, Error> {
    let there = read(path)?.is_some();
    if !there && !dry_run {
        write_whole(path, TEMPLATE)?;
    }
    Ok(Outcome {
        path: path.to_string_lossy().into_owned(),
        action: if there {
            Action::Unchanged
        } else {
            Action::Created
        },
        what: if there {
            "your settings"
        } else {
            "every setting, as a comment"
        }
        .to_owned(),
    })
}

pub(super) fn read(path: &Path) -> Result<Option<String>, Error> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::new(
            Code::ConfigInvalid,
            format!("cannot read {}: {error}", path.display()),
        )),
    }
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
