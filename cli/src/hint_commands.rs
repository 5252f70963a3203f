//! Every `claude-codex …` command in the text of a hint, message, page or document is one that the parser accepts.

use std::path::{Path, PathBuf};

use clap::Parser;
use clap::error::ErrorKind;

use crate::arguments::Arguments;

/// Finds the files below a folder whose names end so.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, ending, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == ending)
        {
            found.push(path);
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
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
                "N" | "{number}" => "1".to_owned(),
                word if word.starts_with('{') && is_pull => "1".to_owned(),
                word if word.starts_with('{') || word == "ID" => "work-x-a1".to_owned(),
                // Such as `tasks{}`, where an option may follow.
                word => word.split('{').next().unwrap_or_default().to_owned(),
            });
        }
    }
    words
}

/// Returns what the parser says against a command, unless it is only named, such as `claude-codex code`: then it need not be complete.
fn problem(command: &str) -> Option<clap::Error> {
    let error = Arguments::try_parse_from(words(command)).err()?;
    let is_named = matches!(
        error.kind(),
        ErrorKind::MissingRequiredArgument
            | ErrorKind::MissingSubcommand
            | ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    (!is_named).then_some(error)
}

#[test]
fn every_command_that_a_text_names_is_accepted() {
    let mut sources = Vec::new();
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
        files(&root().join(package).join("src"), "rs", &mut sources);
    }
    let mut seen = 0;
    let mut wrong = Vec::new();
    for file in sources {
        let text = std::fs::read_to_string(&file).unwrap();
        let lines = text.lines().map(str::trim_start);
        for line in lines.filter(|line| !line.starts_with("//")) {
            for command in line.split('`').skip(1).step_by(2) {
                if !command.starts_with("claude-codex ") {
                    continue;
                }
                seen += 1;
                if let Some(error) = problem(command) {
                    wrong.push(format!("{}: `{command}`: {error}", file.display()));
                }
            }
        }
    }
    assert!(seen > 50, "{seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the command of a line in a document, without its comment, what it is piped to, and what may be left out.
fn command_line(line: &str) -> Option<&str> {
    let command = line.trim().trim_start_matches("$ ");
    let end = [" #", "  ", " | ", " > ", " ["]
        .iter()
        .filter_map(|end| command.find(end))
        .min();
    let command = &command[..end.unwrap_or(command.len())];
    // A drawing is no command.
    (command.starts_with("claude-codex ") && !command.contains('─')).then_some(command)
}

#[test]
fn every_command_line_of_the_documents_is_accepted() {
    let mut documents = Vec::new();
    for folder in ["docs", "examples"] {
        files(&root().join(folder), "md", &mut documents);
    }
    for file in std::fs::read_dir(root()).unwrap() {
        let path = file.unwrap().path();
        // What the changelog says was true then.
        if path.extension().is_some_and(|ending| ending == "md") && !path.ends_with("CHANGELOG.md")
        {
            documents.push(path);
        }
    }
    let mut seen = 0;
    let mut wrong = Vec::new();
    for file in documents {
        let text = std::fs::read_to_string(&file).unwrap();
        let blocks = text.lines().filter(|line| line.starts_with("    "));
        let quoted = text.split('`').skip(1).step_by(2);
        for command in blocks.chain(quoted).filter_map(command_line) {
            seen += 1;
            // Such as `phase start|stop`.
            let first = |word: &str| word.split('|').next().unwrap_or_default().to_owned();
            let command: Vec<String> = command.split(' ').map(first).collect();
            if let Some(error) = problem(&command.join(" ")) {
                wrong.push(format!(
                    "{}: `{}`: {error}",
                    file.display(),
                    command.join(" ")
                ));
            }
        }
    }
    assert!(seen > 50, "{seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
