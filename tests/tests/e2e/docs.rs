//! The documents keep up with the program.
//!
//! `UPDATE_DOCS=1 cargo test -p tests --test e2e docs` writes docs/configuration.md anew.

use std::fmt::Write;
use std::fs;

use shared::config::{Config, Environment};
use shared::error::Code;
use tests::{TestEnv, project_root};

fn read(name: &str) -> String {
    fs::read_to_string(project_root().join(name)).unwrap()
}

#[test]
fn every_error_code_is_explained() {
    let page = read("docs/errors.md");
    let unexplained: Vec<_> = Code::ALL
        .iter()
        .filter(|code| !page.contains(&format!("\n| `{code}` | ")))
        .collect();
    assert!(unexplained.is_empty(), "{unexplained:?}");
    assert_eq!(page.matches("\n| `").count(), Code::ALL.len());
}

#[test]
fn what_is_linked_exists() {
    let documents = fs::read_dir(project_root().join("docs")).unwrap();
    let documents = documents
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .map(|path| format!("docs/{}", path.file_name().unwrap().to_str().unwrap()));
    let others = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "examples/README.md",
    ];
    for page in documents.chain(others.map(str::to_owned)) {
        let page = page.as_str();
        let folder = project_root().join(page);
        let folder = folder.parent().unwrap();
        for link in read(page).split("](").skip(1) {
            let target = link.split(')').next().unwrap();
            let target = target.split('#').next().unwrap();
            if !target.is_empty() && !target.contains("://") {
                assert!(folder.join(target).exists(), "{page}: {target}");
            }
        }
    }
}

/// A path in backticks that begins with a top-level folder is one of this repository, without its generic parts.
#[test]
fn paths_in_the_maps_exist() {
    let root = project_root();
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/reliability.md"] {
        let text = read(page);
        let quoted = text.split('`').skip(1).step_by(2);
        let paths: Vec<&str> = quoted
            .filter(|quoted| !quoted.starts_with('/') && quoted.contains('/'))
            .filter(|path| !path.contains([' ', '*', '<', '$', '~']))
            .filter(|path| root.join(path.split('/').next().unwrap()).is_dir())
            // The example of a new tool is not there.
            .filter(|path| !path.contains("close_task"))
            .collect();
        assert!(paths.len() > 3, "{page}: {paths:?}");
        for path in paths {
            assert!(root.join(path).exists(), "{page}: {path}");
        }
    }
}

#[test]
fn every_setting_is_described() {
    let page = configuration();
    let file = project_root().join("docs/configuration.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&file, &page).unwrap();
    }
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        page,
        "UPDATE_DOCS=1 writes it anew"
    );
}

/// Returns the page: each setting with what examples/config.toml says of it.
fn configuration() -> String {
    let mut env = TestEnv::new();
    // Its own is none of the defaults.
    env.unset("CODEX_TMUX_SOCKET");
    env.unset("CODEX_AGENT_START_TIMEOUT_SECONDS");
    let environment = Environment::new(env.variables().clone(), env.repository().to_owned());
    let config = Config::load(&environment, None, &[]).unwrap();
    let mut page = "# Configuration

Each layer wins over the one before: the defaults below, `$XDG_CONFIG_HOME/claude-codex/config.toml` (yours, everywhere),
`.claude-codex/config.toml` at the top of a repository (everybody's, there), and `CODEX_*` variables. A key that does not exist is
an error that names the nearest one. `claude-codex config` prints each value and where it comes from;
`claude-codex init` writes a `.claude-codex/config.toml` with all of them as comments. [examples/config.toml](../examples/config.toml) has
the same as a file. `.codex/` and variables such as `CODEX_HOME` belong to OpenAI's Codex and are never read; a variable is
refused only if it is one of ours with a letter or two wrong. `HOME`, `XDG_CONFIG_HOME` and `XDG_STATE_HOME` count only if they are absolute: a
relative one would name a folder that a clone has brought.

A repository's file counts as written by a stranger: what runs a program, widens permissions, chooses a host, a socket or a path,
publishes, or reaches other repositories is ignored until you have run `claude-codex trust` there, which shows it and asks; after
a change it is ignored again. The same holds for `.claude-codex/prompts/` and `.claude-codex/tdd.json` ([SECURITY.md](../SECURITY.md)).

| setting | default | variable | meaning |
|---|---|---|---|
"
    .to_owned();
    for value in &config.values {
        let _ = writeln!(
            page,
            "| `{}` | `{}` | `{}` | {} |",
            value.key,
            value
                .value
                .to_string()
                .replace('\n', " ")
                .replace('|', "\\|"),
            variable(&value.key),
            meaning(&value.key).unwrap(),
        );
    }
    page
}

fn variable(key: &str) -> String {
    let mut name = "CODEX_".to_owned();
    for character in key.chars() {
        match character {
            '.' => name.push('_'),
            upper if upper.is_ascii_uppercase() => {
                name.push('_');
                name.push(upper);
            }
            lower => name.push(lower.to_ascii_uppercase()),
        }
    }
    name
}

/// Returns the comment above a key, if it is there; keys below one comment share it.
fn meaning(key: &str) -> Option<String> {
    let (section, name) = key.split_once('.')?;
    let example = read("examples/config.toml");
    let start = example.find(&format!("[{section}]\n"))?;
    let mut comment = "";
    for line in example[start..].lines().skip(1) {
        if let Some(text) = line.strip_prefix("# ") {
            comment = text;
        } else if line.split(" =").next() == Some(name) {
            return Some(comment.to_owned());
        }
    }
    None
}
