//! `claude-codex init`: the MCP servers in `.mcp.json` and the settings file, written and removed.

use std::path::Path;

use shared::config::{Environment, REPOSITORY_FILE};
use shared::error::{Code, Error};
use shared::model::InstanceKind;

use super::file_change::{Action, FileChange, Left, change_file, read, remove_file};
use super::mcp_json::{self, Entry};
use crate::atomic_write::{inside, write_atomically};
use crate::server_paths;

/// All settings with their defaults, as comments. A test compares them.
pub(super) const TEMPLATE: &str = include_str!("config_template.toml");

/// Registers the servers and writes the settings file.
pub(super) fn init_servers(
    environment: &Environment,
    root: &Path,
    dry_run: bool,
) -> Result<Vec<FileChange>, Error> {
    let entries = entries(environment)?;
    // Check both paths before writing either file.
    let (servers, settings) = (inside(root, ".mcp.json")?, inside(root, REPOSITORY_FILE)?);
    let present = read(&servers)?;
    let left = match mcp_json::with_entries(&servers, present.as_deref(), &entries)? {
        Some(text) => Left::Text(text),
        None => Left::Unchanged,
    };
    Ok(vec![
        change_file(&servers, left, "the three MCP servers", dry_run)?,
        add_config(&settings, dry_run)?,
    ])
}

/// Takes the servers out again, and the settings file if nobody has changed it.
pub(super) fn remove_servers(root: &Path, dry_run: bool) -> Result<Vec<FileChange>, Error> {
    let (servers, settings) = (inside(root, ".mcp.json")?, inside(root, REPOSITORY_FILE)?);
    let names: Vec<_> = InstanceKind::ALL
        .iter()
        .map(|kind| kind.registered_name())
        .collect();
    let left = mcp_json::without_entries(&servers, read(&servers)?.as_deref(), &names)?;
    Ok(vec![
        change_file(&servers, left, "the three MCP servers", dry_run)?,
        remove_config(&settings, dry_run)?,
    ])
}

fn entries(environment: &Environment) -> Result<Vec<Entry>, Error> {
    InstanceKind::ALL
        .iter()
        .map(|&kind| {
            let path = server_paths::find(kind, environment)?;
            let path = server_paths::shared_name(kind.server_name(), environment).unwrap_or(path);
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

fn add_config(path: &Path, dry_run: bool) -> Result<FileChange, Error> {
    let there = read(path)?.is_some();
    if !there && !dry_run {
        write_atomically(path, TEMPLATE)?;
    }
    Ok(if there {
        FileChange::new(path, Action::Unchanged, "your settings")
    } else {
        FileChange::new(path, Action::Created, "all settings, as comments")
    })
}

fn remove_config(path: &Path, dry_run: bool) -> Result<FileChange, Error> {
    if read(path)?.is_none_or(|text| text != TEMPLATE) {
        return Ok(FileChange::new(path, Action::Unchanged, "your settings"));
    }
    if !dry_run {
        remove_file(path)?;
    }
    let what = "all settings, as comments";
    Ok(FileChange::new(path, Action::Removed, what))
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
