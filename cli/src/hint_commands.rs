//! Every `claude-codex …` command in the text of a hint, message or page is one that the parser accepts.

use std::path::{Path, PathBuf};

use clap::Parser;
use clap::error::ErrorKind;

use crate::arguments::Arguments;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns the words of a command, with something that fits for each placeholder.
fn words(command: &str) -> Vec<String> {
    let command = command.replace("\\\"", "\"");
    let is_pull = command.starts_with("claude-codex pr ");
    let mut words = Vec::new();
    for (index, part) in command.split('"').enumerate() {
        if index % 2 == 1 {
            words.push("text".to_owned());
            continue;
        }
        for word in part.split_whitespace() {
            words.push(match word {
                "…" => continue,
                "COMMAND" => "list".to_owned(),
                "N" => "1".to_owned(),
                word if word.starts_with('{') && is_pull => "1".to_owned(),
                word if word.starts_with('{') || word == "ID" => "work-x-a1".to_owned(),
                // Such as `tasks{}`, where an option may follow.
                word => word.split('{').next().unwrap_or_default().to_owned(),
            });
        }
    }
    words
}

#[test]
fn every_command_that_a_text_names_is_accepted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for package in [
        "analysis",
        "cli",
        "dashboard",
        "mcp-coding",
        "mcp-kit",
        "mcp-planning",
        "mcp-review",
        "model",
        "phases",
        "shared",
    ] {
        sources(&root.join(package).join("src"), &mut files);
    }
    let mut seen = 0;
    let mut wrong = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let lines = text.lines().map(str::trim_start);
        for line in lines.filter(|line| !line.starts_with("//")) {
            for command in line.split('`').skip(1).step_by(2) {
                if !command.starts_with("claude-codex ") {
                    continue;
                }
                seen += 1;
                let Err(error) = Arguments::try_parse_from(words(command)) else {
                    continue;
                };
                // Named as a whole, such as `claude-codex code`, it need not be complete.
                let is_named = matches!(
                    error.kind(),
                    ErrorKind::MissingRequiredArgument
                        | ErrorKind::MissingSubcommand
                        | ErrorKind::DisplayHelp
                        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                );
                if !is_named {
                    wrong.push(format!("{}: `{command}`: {error}", file.display()));
                }
            }
        }
    }
    assert!(seen > 50, "{seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
