//! Build, test and other commands, as the repository itself states them.

use std::collections::HashSet;

use super::packages::{Found, Sources};
use crate::paths::{folder_of, name_of};
use crate::report::Listing;
use crate::report::architecture::{CommandPurpose, FoundCommand};
use crate::text::shortened;
use crate::tree::classify::Origin;

/// Most commands kept.
const MOST: usize = 400;

/// Judges what a command is for by its name, else by what it runs.
pub(crate) fn purpose_of(name: &str, runs: &str) -> CommandPurpose {
    let judge = |text: &str| {
        let text = text.to_ascii_lowercase();
        let has = |words: &[&str]| {
            text.split(|character: char| !character.is_ascii_alphanumeric())
                .any(|word| words.contains(&word))
        };
        if has(&[
            "lint",
            "fmt",
            "format",
            "clippy",
            "eslint",
            "prettier",
            "typecheck",
            "tsc",
            "mypy",
            "ruff",
            "check",
            "vet",
            "tidy",
        ]) {
            Some(CommandPurpose::Lint)
        } else if has(&[
            "test", "tests", "spec", "pytest", "jest", "vitest", "nextest", "coverage", "e2e",
            "ctest", "tox", "nox",
        ]) {
            Some(CommandPurpose::Test)
        } else if has(&["release", "publish", "deploy", "bump"]) {
            Some(CommandPurpose::Release)
        } else if has(&[
            "build", "compile", "bundle", "dist", "make", "cmake", "webpack", "all", "install",
        ]) {
            Some(CommandPurpose::Build)
        } else if has(&["start", "dev", "serve", "run", "watch", "demo", "preview"]) {
            Some(CommandPurpose::Run)
        } else {
            None
        }
    };
    judge(name)
        .or_else(|| judge(runs))
        .unwrap_or(CommandPurpose::Other)
}

/// Collects the commands of manifests, make files, scripts and continuous integration.
pub(crate) fn find(sources: Sources<'_>, packages: &[Found]) -> Listing<FoundCommand> {
    let mut commands: Vec<FoundCommand> = Vec::new();
    for file in sources
        .tree
        .files
        .iter()
        .filter(|file| file.origin != Origin::Vendored && !file.is_test)
    {
        let path = file.path.as_str();
        let (name, folder) = (name_of(path), folder_of(path));
        let is_ci = (matches!(
            folder,
            ".github/workflows" | ".circleci" | ".gitea/workflows" | ".forgejo/workflows"
        ) || matches!(
            path,
            ".gitlab-ci.yml" | "azure-pipelines.yml" | ".travis.yml" | ".buildkite/pipeline.yml"
        )) && matches!(path.rsplit('.').next(), Some("yml" | "yaml"));
        if is_ci {
            commands.extend(
                sources
                    .text(path)
                    .map(|text| of_ci(path, &text))
                    .unwrap_or_default(),
            );
        } else if folder.is_empty() && matches!(name, "Makefile" | "makefile" | "GNUmakefile") {
            commands.extend(
                sources
                    .text(path)
                    .map(|text| of_targets(path, &text, "make"))
                    .unwrap_or_default(),
            );
        } else if folder.is_empty() && matches!(name, "justfile" | "Justfile" | ".justfile") {
            commands.extend(
                sources
                    .text(path)
                    .map(|text| of_targets(path, &text, "just"))
                    .unwrap_or_default(),
            );
        } else if matches!(folder, "scripts" | "script" | "bin" | ".ci" | "ci") && is_script(name) {
            commands.push(FoundCommand {
                purpose: purpose_of(name, ""),
                command: path.to_owned(),
                source: format!("{folder}/"),
                runs: None,
            });
        }
    }
    for package in packages {
        commands.extend(package.commands.iter().cloned());
    }
    let mut seen = HashSet::new();
    commands.retain(|command| {
        seen.insert((
            command.command.clone(),
            folder_of(&command.source).to_owned(),
        ))
    });
    // The nearer to the top, the more it is about the whole.
    commands.sort_by_cached_key(|command| {
        let is_ci = command.source.starts_with('.');
        (
            command.purpose,
            command.source.contains("(convention)"),
            is_ci,
            command.source.matches('/').count(),
        )
    });
    // Commands of no known purpose are the last to be missed.
    Listing::bounded(commands, MOST)
}

fn is_script(name: &str) -> bool {
    match name.rsplit_once('.') {
        None => !name.is_empty(),
        Some((stem, extension)) => {
            !stem.is_empty()
                && matches!(extension, "sh" | "bash" | "py" | "js" | "ts" | "rb" | "ps1")
        }
    }
}

/// Reads the targets of a make file or a justfile with their first recipe line.
fn of_targets(path: &str, text: &str, program: &str) -> Vec<FoundCommand> {
    let mut commands = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((target, rest)) = line.split_once(':') else {
            continue;
        };
        let target = target
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .trim_start_matches('@');
        let is_name = target.starts_with(|character: char| character.is_ascii_alphabetic())
            && target
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if line.starts_with([' ', '\t', '#', '.'])
            || !is_name
            || rest.starts_with('=')
            || rest.starts_with(":=")
        {
            continue;
        }
        let recipe = lines
            .peek()
            .filter(|line| line.starts_with([' ', '\t']))
            .map(|line| line.trim().trim_start_matches(['@', '-']).to_owned())
            .filter(|recipe| !recipe.is_empty());
        commands.push(FoundCommand {
            purpose: purpose_of(target, recipe.as_deref().unwrap_or_default()),
            command: format!("{program} {target}"),
            source: path.to_owned(),
            runs: recipe.map(|recipe| shortened(&recipe, 160)),
        });
        if commands.len() == 100 {
            break;
        }
    }
    commands
}

/// Reads the commands of a pipeline: `run:` steps and lists below `script:`.
///
/// Line by line on purpose: pipelines are full of templates and aliases that a YAML reader would expand.
fn of_ci(path: &str, text: &str) -> Vec<FoundCommand> {
    let mut commands = Vec::new();
    let mut block: Option<usize> = None;
    let mut pending = String::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if block.is_some_and(|outer| indent <= outer) {
            block = None;
        }
        let key = trimmed.strip_prefix("- ").map_or(trimmed, str::trim_start);
        let started = ["run:", "script:", "command:", "before_script:"]
            .iter()
            .find_map(|name| key.strip_prefix(name));
        let command = if let Some(value) = started {
            let value = value.trim();
            if value.is_empty() || value.starts_with(['|', '>']) {
                block = Some(indent);
                continue;
            }
            value.trim_matches(['"', '\''])
        } else if block.is_some() {
            key.trim_matches(['"', '\''])
        } else {
            continue;
        };
        if let Some(begun) = command.strip_suffix('\\') {
            pending.push_str(begun.trim_end());
            pending.push(' ');
            continue;
        }
        let command = std::mem::take(&mut pending) + command;
        let purpose = purpose_of("", &command);
        if purpose != CommandPurpose::Other && !command.starts_with("echo") && commands.len() < 60 {
            commands.push(FoundCommand {
                purpose,
                command: shortened(&command, 200),
                source: path.to_owned(),
                runs: None,
            });
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_make_targets() {
        let text = "VAR := x\n.PHONY: test\ntest: build ## run tests\n\t@cargo test\nbuild:\n\tcargo build\n%.o: %.c\n\tcc\n";
        let commands = of_targets("Makefile", text, "make");
        let seen: Vec<_> = commands
            .iter()
            .map(|found| (found.command.as_str(), found.purpose, found.runs.as_deref()))
            .collect();
        assert_eq!(
            seen,
            [
                ("make test", CommandPurpose::Test, Some("cargo test")),
                ("make build", CommandPurpose::Build, Some("cargo build"))
            ]
        );
    }

    #[test]
    fn reads_pipelines() {
        let text = "jobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n      - name: x\n        run: cargo test --all\n      - run: |\n          echo hi\n          cargo clippy \\\n            -- -D warnings\n      - name: npm test is not a command here\n";
        let commands = of_ci(".github/workflows/ci.yml", text);
        let seen: Vec<_> = commands
            .iter()
            .map(|found| (found.command.as_str(), found.purpose))
            .collect();
        assert_eq!(
            seen,
            [
                ("cargo test --all", CommandPurpose::Test),
                ("cargo clippy -- -D warnings", CommandPurpose::Lint)
            ]
        );
    }
}
