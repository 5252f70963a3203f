//! Rules about the source itself.

use std::fs;
use std::path::{Path, PathBuf};

use tests::project_root;

/// Files may grow to this; aim for far less.
const MAX_LINES: usize = 500;
/// Longer files, and why.
const LONGER: &[(&str, &str)] = &[(
    "analysis/src/tree/language_table.rs",
    "a flat table: one language after the other",
)];

/// Returns our Rust files with their paths below the top.
fn sources() -> Vec<(String, String)> {
    let root = project_root();
    let mut found = Vec::new();
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
        "tests",
    ] {
        collect(&root.join(package), &mut found);
    }
    assert!(found.len() > 50, "the sources were not found");
    found
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let name = path.strip_prefix(&root).unwrap();
            (name.to_str().unwrap().to_owned(), text)
        })
        .collect()
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn no_file_is_too_long() {
    let mut problems = Vec::new();
    for (path, text) in sources() {
        let lines = text.lines().count();
        let excused = LONGER.iter().any(|(longer, _)| *longer == path);
        if lines > MAX_LINES && !excused {
            problems.push(format!("{path} has {lines} lines"));
        }
        if lines <= MAX_LINES && excused {
            problems.push(format!("{path} is short enough: take it off the list"));
        }
    }
    assert_none(&problems);
}

#[test]
fn every_file_says_what_it_is_about() {
    let mut problems = Vec::new();
    for (path, text) in sources() {
        if !text.starts_with("//!") {
            problems.push(format!("{path} has no header (`//! …` in its first line)"));
        }
    }
    assert_none(&problems);
}

/// Crates use only what is below them, and heavy dependencies only where they are needed.
#[test]
fn crates_depend_on_what_they_need() {
    const OURS: [(&str, &[&str]); 7] = [
        ("model", &[]),
        ("analysis", &["model"]),
        ("shared", &["model"]),
        ("mcp-kit", &["shared"]),
        ("phases", &["shared"]),
        ("mcp-coding", &["mcp-kit", "shared"]),
        ("mcp-review", &["mcp-kit", "shared"]),
    ];
    let dependencies = |package: &str| -> Vec<String> {
        let manifest = project_root().join(package).join("Cargo.toml");
        let text = fs::read_to_string(manifest).unwrap();
        let section = text.split("[dependencies]").nth(1).unwrap();
        let lines = section.lines().skip(1);
        let names = lines.take_while(|line| !line.starts_with('['));
        names
            .filter_map(|line| Some(line.split(['.', ' ']).next()?.to_owned()))
            .filter(|name| !name.is_empty())
            .collect()
    };
    let packages = ["analysis", "dashboard", "cli", "mcp-planning"];
    let packages = OURS.iter().map(|(name, _)| *name).chain(packages);
    for package in packages.clone() {
        for name in dependencies(package) {
            let allowed = match name.as_str() {
                "rmcp" => package == "mcp-kit",
                "rusqlite" | "octocrab" => package == "shared",
                name if name.starts_with("tree-sitter") => {
                    ["analysis", "phases"].contains(&package)
                }
                _ => true,
            };
            assert!(allowed, "{package} depends on {name}");
        }
    }
    let all: Vec<&str> = packages.collect();
    for (package, below) in OURS {
        let ours: Vec<String> = dependencies(package)
            .into_iter()
            .filter(|name| all.contains(&name.as_str()))
            .collect();
        assert_eq!(ours, below, "{package}");
    }
}

#[test]
fn sql_is_in_the_store_alone() {
    let keywords = [
        "SELECT ",
        "INSERT INTO",
        "UPDATE ",
        "DELETE FROM",
        "CREATE TABLE",
        "PRAGMA ",
        "BEGIN IMMEDIATE",
    ];
    let mut problems = Vec::new();
    for (path, text) in sources() {
        if path.starts_with("shared/src/store/") || !is_product(&path) {
            continue;
        }
        for (number, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !is_comment(line))
        {
            let quoted = line.split('"').skip(1).step_by(2);
            if quoted.into_iter().any(|text| {
                keywords
                    .iter()
                    .any(|word| text.trim_start().starts_with(word))
            }) {
                problems.push(format!("{path}:{}: SQL outside the store", number + 1));
            }
            if line.contains("rusqlite") {
                problems.push(format!("{path}:{}: rusqlite outside the store", number + 1));
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn only_the_command_line_prints() {
    let mut problems = Vec::new();
    for (path, text) in sources() {
        if path.starts_with("cli/") || !is_product(&path) {
            continue;
        }
        for (number, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !is_comment(line))
        {
            if ["println!", "print!(", "dbg!("]
                .iter()
                .any(|print| line.contains(print))
            {
                problems.push(format!("{path}:{}: prints", number + 1));
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn only_config_reads_the_environment() {
    let mut problems = Vec::new();
    for (path, text) in sources() {
        let excused = ["shared/src/config/", "cli/"];
        if excused.iter().any(|start| path.starts_with(start)) || !is_product(&path) {
            continue;
        }
        let production = text.split("#[cfg(test)]").next().unwrap();
        for (number, line) in production.lines().enumerate() {
            if !is_comment(line)
                && ["env::var", "env::current_dir"]
                    .iter()
                    .any(|read| line.contains(read))
            {
                problems.push(format!("{path}:{}: reads the environment", number + 1));
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn nothing_is_called_utils() {
    let vague = ["utils", "util", "helpers", "common", "misc"];
    let mut problems = Vec::new();
    for (path, _) in sources() {
        if path.split(['/', '.']).any(|part| vague.contains(&part)) {
            problems.push(format!("{path}: name it by its subject"));
        }
    }
    assert_none(&problems);
}

#[test]
fn no_end_to_end_test_is_forgotten() {
    let folder = project_root().join("tests/tests/e2e");
    let main = fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if path.is_file() && name != "main" {
            assert!(
                main.contains(&format!("mod {name};")),
                "{name} is not in main.rs"
            );
        }
    }
}

/// A second list of hidden characters would soon differ from the first: what one drops the other types.
#[test]
fn hidden_characters_are_listed_in_one_place() {
    const LIST: &str = "model/src/hidden.rs";
    // Not text for people: a terminal's own language, the bytes that tmux expands in a path, and git's quotes around names.
    const PROTOCOLS: &[&str] = &[
        "dashboard/src/screen/mod.rs",
        "shared/src/git/untracked_diff.rs",
        "shared/src/tmux/session.rs",
    ];
    // What such a list is made of: the standard library's classes, and escapes of the characters themselves.
    let telltale = |line: &str| {
        ["is_control", "is_ascii_control", "escape_default()"]
            .iter()
            .any(|word| line.contains(word))
            || escaped(line).any(hides)
    };
    let mut problems = Vec::new();
    for (path, text) in sources() {
        let exempt = path == LIST || PROTOCOLS.contains(&path.as_str());
        if !is_product(&path) || exempt || path.ends_with("tests.rs") {
            continue;
        }
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in product.lines().enumerate() {
            if !is_comment(line) && telltale(line) {
                problems.push(format!(
                    "{path}:{}: use shared::model::hidden: {line}",
                    number + 1
                ));
            }
        }
    }
    assert_none(&problems);
}

/// Returns the characters that a line of source names by number, as in `'\u{200b}'`.
fn escaped(line: &str) -> impl Iterator<Item = char> {
    line.split("\\u{")
        .skip(1)
        .filter_map(|rest| rest.split('}').next())
        .filter_map(|digits| u32::from_str_radix(digits, 16).ok())
        .filter_map(char::from_u32)
}

/// Tells whether a character is a hidden one. ESC alone begins the colours that the command line prints.
fn hides(character: char) -> bool {
    character != '\u{1b}' && shared::model::hidden::first_hidden(&character.to_string()).is_some()
}

/// Words of the two dialects of a lint exception: an allowance that nobody needs any more goes unseen.
#[test]
fn exceptions_are_expected_with_a_reason() {
    let mut problems = Vec::new();
    for (path, text) in sources() {
        for (number, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !is_comment(line))
        {
            let line = line.trim_start();
            if line.starts_with("#[allow(") || line.starts_with("#![allow(") {
                problems.push(format!(
                    "{path}:{}: use #[expect(…, reason = …)]",
                    number + 1
                ));
            }
        }
    }
    assert_none(&problems);
}

/// Tests and benches look from outside, and may do what the product may not.
fn is_product(path: &str) -> bool {
    !path.starts_with("tests/")
        && !["/tests/", "/tests.rs", "/benches/"]
            .iter()
            .any(|part| path.contains(part))
}
