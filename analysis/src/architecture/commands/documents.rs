//! Commands in documents: fenced blocks, prompts and `inline code` of CONTRIBUTING, AGENTS and README.

use std::collections::{BTreeMap, HashSet};

use super::programs::{runs_linter, runs_one_of};
use super::script::{Start, follow};
use super::shell;
use crate::architecture::packages::{FoundPackage, Sources};
use crate::paths::{folder_of, name_of};
use crate::report::architecture::FoundCommand;

/// Most commands of one document.
const MAX_COMMANDS: usize = 30;

/// Returns how a document ranks: those for contributors before those for users. `None` is no such document.
pub(super) fn rank(path: &str) -> Option<usize> {
    if !matches!(
        folder_of(path),
        "" | ".github" | "docs" | "doc" | "docs/source"
    ) {
        return None;
    }
    let (stem, ending) = name_of(path).split_once('.').unwrap_or((name_of(path), ""));
    if !matches!(ending, "" | "md" | "rst" | "txt" | "markdown" | "adoc") {
        return None;
    }
    match stem.to_ascii_lowercase().as_str() {
        "contributing" | "agents" | "claude" | "development" | "developing" | "hacking"
        | "building" | "developers" => Some(0),
        "readme" if !path.contains('/') => Some(1),
        _ => None,
    }
}

/// Reads the commands of a document.
pub(super) fn read(
    sources: Sources<'_>,
    packages: &[FoundPackage],
    path: &str,
    text: &str,
) -> Vec<FoundCommand> {
    // For its users a README shows the project's own program, and others together with it.
    let own: HashSet<&str> = packages
        .iter()
        .flat_map(|package| {
            let programs = package.entry_points.iter().map(|entry| entry.name.as_str());
            programs.chain([name_of(&package.package.name)])
        })
        .collect();
    let start = Start {
        sources,
        source: path,
        is_document: true,
        folder: String::new(),
        environment: BTreeMap::new(),
        outer: BTreeMap::new(),
    };
    let mut found: Vec<FoundCommand> = Vec::new();
    for script in scripts(text, path.rsplit('.').next() == Some("rst")) {
        found.extend(follow(&start, &script));
        if found.len() >= MAX_COMMANDS {
            break;
        }
    }
    if rank(path) == Some(1) {
        found.retain(|command| {
            let commands = shell::commands(&command.command);
            !commands
                .iter()
                .any(|command| runs_one_of(&command.words, &own) || runs_linter(&command.words))
        });
    }
    found.truncate(MAX_COMMANDS);
    found
}

/// Collects the texts of a document that may be shell: each a script of its own.
fn scripts(text: &str, is_rst: bool) -> Vec<String> {
    let mut scripts = Vec::new();
    let mut block: Option<(String, bool, Vec<&str>)> = None;
    let mut indented: Vec<&str> = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim();
        let fence = ["```", "~~~"]
            .into_iter()
            .find(|fence| trimmed.starts_with(fence));
        if let Some((closing, is_shell, lines)) = &mut block {
            if trimmed.starts_with(closing.as_str())
                && trimmed.trim_start_matches(['`', '~']).is_empty()
            {
                if *is_shell {
                    scripts.push(without_prompts(lines));
                }
                block = None;
            } else {
                lines.push(line);
            }
            continue;
        }
        if let Some(fence) = fence {
            let language = trimmed
                .trim_start_matches(['`', '~'])
                .trim()
                .to_ascii_lowercase();
            let language = language
                .split(|c: char| !c.is_alphanumeric() && c != '-')
                .next()
                .unwrap_or_default();
            let is_shell = matches!(
                language,
                "" | "sh"
                    | "bash"
                    | "shell"
                    | "console"
                    | "zsh"
                    | "shell-session"
                    | "terminal"
                    | "text"
            );
            block = Some((fence.to_owned(), is_shell, Vec::new()));
            continue;
        }
        if line.starts_with("    ") || line.starts_with('\t') {
            indented.push(line);
            continue;
        }
        if !trimmed.is_empty() && !indented.is_empty() {
            scripts.push(without_prompts(&std::mem::take(&mut indented)));
        }
        // One word alone is the name of a tool. Single backquotes of reStructuredText are links.
        let quote = if is_rst { "``" } else { "`" };
        let spans = line.split(quote).skip(1).step_by(2);
        scripts.extend(
            spans
                .filter(|span| span.trim().contains(' ') || span.starts_with("./"))
                .map(str::to_owned),
        );
    }
    scripts.push(without_prompts(&indented));
    scripts
}

/// Takes prompts off; where some lines have a prompt the others are output.
fn without_prompts(lines: &[&str]) -> String {
    let prompt = |line: &str| {
        ["$ ", "% "]
            .iter()
            .find_map(|prompt| line.trim().strip_prefix(prompt))
            .map(str::to_owned)
    };
    let has_prompts = lines.iter().any(|line| prompt(line).is_some());
    let kept: Vec<String> = lines
        .iter()
        .filter_map(|line| {
            if has_prompts {
                prompt(line)
            } else {
                Some(line.trim().to_owned())
            }
        })
        .collect();
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_prompts_and_spans_are_scripts() {
        let text = "Run `make test` or `tox`.\n\n```js\nnpm test\n```\n```console\n$ make\nok make x\n```\n\n    cargo build\n\nEnd\n";
        assert_eq!(
            scripts(text, false),
            ["make test", "make", "cargo build", ""]
        );
    }
}
