//! `claude-codex trust`: lets a repository's own settings, prompts and TDD profile count.

use std::io::{self, BufRead, IsTerminal};
use std::path::Path;

use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};
use shared::config::{Environment, IgnoredKey, Layered, REPOSITORY_FILE, RepositoryFiles, Trust};
use shared::error::{Code, Error};
use shared::git::Repository;

use crate::failure::Failure;
use crate::output::{BOLD, DIM, GOOD, NAME, Output, WARNING};
use crate::text::{harmless, harmless_block};

const EXAMPLES: &str = "\
Examples:
  claude-codex trust             show what this repository brings along, and ask
  claude-codex trust --show      only show it
  claude-codex trust --yes       trust it without being asked, for scripts
  claude-codex trust --revoke    take the trust back

What .claude-codex/ in a clone says could run programs, so most of it is ignored until you trust it, and
ignored again when it changes. Trust also lets agents start in this repository: Claude Code asks
before it runs a repository's own hooks, and nobody sits at an agent's terminal to answer.";

/// Files by which a repository makes Claude Code run something.
const OF_CLAUDE: [&str; 3] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".mcp.json",
];

/// Let this repository's own settings and prompts count, and agents start in it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TrustArgs {
    /// Only show what the repository brings along
    #[arg(long, conflicts_with_all = ["yes", "revoke"])]
    show: bool,
    /// Do not ask
    #[arg(long, conflicts_with = "revoke")]
    yes: bool,
    /// Take the trust back
    #[arg(long)]
    revoke: bool,
}

/// What there is to trust.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    repository: String,
    /// Whether agents may start, whatever the files say.
    trusted: bool,
    changes: Vec<Change>,
    files: Vec<FileShown>,
    read_by_claude: Vec<&'static str>,
}

/// A key of the settings file that needs trust.
#[derive(Debug, Serialize)]
struct Change {
    key: String,
    from: Value,
    to: Value,
    reason: String,
}

#[derive(Debug, Serialize)]
struct FileShown {
    path: String,
    trusted: bool,
    /// Other than the text that was trusted last.
    changed: bool,
    text: String,
}

pub(crate) async fn trust(args: &TrustArgs, output: Output) -> Result<(), Failure> {
    let environment = Environment::of_process();
    let repository = Repository::discover(environment.directory()).await?;
    let root = repository.root();
    if !args.show && environment.get("CODEX_INSTANCE_ID").is_some() {
        return Err(
            Error::new(Code::Forbidden, "an agent can't trust a repository")
                .hint("A person runs `claude-codex trust` in a terminal of their own.")
                .into(),
        );
    }
    let mut trust = Trust::load(&environment).map_err(Error::from)?;
    if args.revoke {
        let was_trusted = trust.revoke(root).map_err(Error::from)?;
        return told(root, false, was_trusted, output);
    }
    // What is shown is what is trusted, even if somebody writes meanwhile.
    let files = RepositoryFiles::read(root).map_err(Error::from)?;
    let shown = show(&environment, root, &trust, &files)?;
    if args.show {
        return if output.is_json() {
            output.document(&shown)
        } else {
            output.print(&described(&shown))
        };
    }
    if !args.yes {
        if output.is_json() || !io::stdin().is_terminal() {
            return Err(
                Error::new(Code::InvalidArguments, "there is no terminal to ask in")
                    .hint("`claude-codex trust --show` shows what it is about, `claude-codex trust --yes` trusts it.")
                    .into(),
            );
        }
        output.print(&described(&shown))?;
        output.print("Trust it? [y/N] ")?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        if !["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
            output.print("Nothing was changed.\n")?;
            return Err(Failure::Reported);
        }
    }
    trust.give(root, &files).map_err(Error::from)?;
    told(root, true, true, output)
}

fn told(root: &Path, trusted: bool, changed: bool, output: Output) -> Result<(), Failure> {
    let path = root.to_string_lossy();
    if output.is_json() {
        return output.document(&json!({"repository": path, "trusted": trusted}));
    }
    let word = match (trusted, changed) {
        (true, _) => "is trusted, as it is now",
        (false, true) => "is no longer trusted",
        (false, false) => "was not trusted",
    };
    output.print(&format!("{GOOD}{}{GOOD:#} {word}\n", harmless(&path)))
}

fn show(
    environment: &Environment,
    root: &Path,
    trust: &Trust,
    files: &RepositoryFiles,
) -> Result<Shown, Error> {
    let ignored = match files.get(REPOSITORY_FILE) {
        Some(text) => Layered::of_person(environment)?.add_repository_file(
            &root.join(REPOSITORY_FILE),
            text,
            false,
        )?,
        None => Vec::new(),
    };
    Ok(Shown {
        repository: root.to_string_lossy().into_owned(),
        trusted: trust.is_given(root),
        changes: ignored.into_iter().map(change).collect(),
        files: files
            .iter()
            .map(|(path, text)| FileShown {
                path: path.to_owned(),
                trusted: trust.covers(root, path, text),
                changed: trust.last(root, path).is_some_and(|last| last != text),
                text: text.to_owned(),
            })
            .collect(),
        read_by_claude: OF_CLAUDE
            .into_iter()
            .filter(|name| root.join(name).exists())
            .collect(),
    })
}

fn change(ignored: IgnoredKey) -> Change {
    Change {
        key: ignored.key,
        from: ignored.instead,
        to: ignored.value,
        reason: ignored.reason.to_string(),
    }
}

fn described(shown: &Shown) -> String {
    let mut text = format!("{BOLD}{}{BOLD:#}\n", harmless(&shown.repository));
    if !shown.changes.is_empty() {
        text += &format!("\n{NAME}{REPOSITORY_FILE}{NAME:#} changes\n");
    }
    for change in &shown.changes {
        text += &format!(
            "  {WARNING}{}{WARNING:#} from {} to {}: {}\n",
            harmless(&change.key),
            harmless(&change.from.to_string()),
            harmless(&change.to.to_string()),
            change.reason
        );
    }
    for file in &shown.files {
        let state = match (file.trusted, file.changed) {
            (true, _) => "trusted as it is",
            (false, true) => "changed since you trusted it",
            (false, false) => "not trusted",
        };
        text += &format!("\n{NAME}{}{NAME:#} ({state})\n", harmless(&file.path));
        for line in harmless_block(&file.text).lines() {
            text += &format!("  {DIM}|{DIM:#} {line}\n");
        }
    }
    if shown.files.is_empty() {
        text += "\nIt has no settings or prompts of its own in .claude-codex/.\n";
    }
    text += "\nAgents may start here; Claude Code then follows the repository's own settings and hooks without asking";
    text += &match shown.read_by_claude.as_slice() {
        [] => ": there are none now.\n".to_owned(),
        names => format!(": {}. Read them first.\n", names.join(", ")),
    };
    text
}
