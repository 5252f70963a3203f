//! `claude-codex trust`: accepts a repository's own settings, prompts and TDD profile.

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
  claude-codex trust             show what this repository configures, and ask
  claude-codex trust --show      only show it
  claude-codex trust --yes       trust it without asking, for scripts
  claude-codex trust --revoke    revoke the trust

Files in .claude-codex/ of a clone could make agents run programs, so most of their settings
are ignored until you trust them, and ignored again when they change. Trust also allows agents
to start in this repository: Claude Code asks before it runs a repository's own hooks, and no
person is at an agent's terminal to answer.";

/// Files of a repository that can make Claude Code run programs.
const OF_CLAUDE: [&str; 3] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".mcp.json",
];

/// Trust this repository's own settings and prompts, and allow agents to start in it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TrustArgs {
    /// Only show what the repository configures
    #[arg(long, conflicts_with_all = ["yes", "revoke"])]
    show: bool,
    /// Do not ask
    #[arg(long, conflicts_with = "revoke")]
    yes: bool,
    /// Revoke the trust
    #[arg(long)]
    revoke: bool,
}

/// What the user is asked to trust.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    repository: String,
    /// Whether agents may start, independent of the files.
    trusted: bool,
    changes: Vec<Change>,
    files: Vec<FileShown>,
    read_by_claude: Vec<&'static str>,
}

/// A setting that needs trust.
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
    /// Differs from the text that was trusted last.
    changed: bool,
    text: String,
}

pub(crate) async fn trust(args: &TrustArgs, output: Output) -> Result<(), Failure> {
    let environment = Environment::current();
    let repository = Repository::discover(environment.directory()).await?;
    let root = repository.root();
    if !args.show && environment.get("CODEX_INSTANCE_ID").is_some() {
        return Err(
            Error::new(Code::Forbidden, "an agent cannot trust a repository")
                .hint("Run `claude-codex trust` yourself, in a terminal of your own.")
                .into(),
        );
    }
    let mut trust = Trust::load(&environment).map_err(Error::from)?;
    if args.revoke {
        let was_trusted = trust.revoke(root).map_err(Error::from)?;
        let change = if was_trusted {
            TrustChange::Revoked
        } else {
            TrustChange::NothingToRevoke
        };
        return report(root, change, output);
    }
    // Read once: the text that is shown is the text that is trusted, even if the files change meanwhile.
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
                Error::new(Code::InvalidArguments, "there is no terminal to ask on")
                    .hint("`claude-codex trust --show` shows what the repository configures; `claude-codex trust --yes` trusts it.")
                    .into(),
            );
        }
        output.print(&described(&shown))?;
        output.print("Trust it? [y/N] ")?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        if !["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
            output.print("Nothing has changed.\n")?;
            return Err(Failure::Reported);
        }
    }
    trust.give(root, &files).map_err(Error::from)?;
    report(root, TrustChange::Given, output)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TrustChange {
    Given,
    Revoked,
    NothingToRevoke,
}

fn report(root: &Path, change: TrustChange, output: Output) -> Result<(), Failure> {
    let path = root.to_string_lossy();
    if output.is_json() {
        let trusted = change == TrustChange::Given;
        return output.document(&json!({"repository": path, "trusted": trusted}));
    }
    let word = match change {
        TrustChange::Given => "is trusted in its present state",
        TrustChange::Revoked => "is no longer trusted",
        TrustChange::NothingToRevoke => "was not trusted",
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
            (true, _) => "trusted",
            (false, true) => "changed since you trusted it",
            (false, false) => "not trusted",
        };
        text += &format!("\n{NAME}{}{NAME:#} ({state})\n", harmless(&file.path));
        for line in harmless_block(&file.text).lines() {
            text += &format!("  {DIM}|{DIM:#} {line}\n");
        }
    }
    if shown.files.is_empty() {
        text += "\nThe repository has no settings or prompts in .claude-codex/.\n";
    }
    text += "\nIf you trust it, agents may start here, and Claude Code follows the repository's own settings and hooks without asking";
    text += &match shown.read_by_claude.as_slice() {
        [] => "; it has none now.\n".to_owned(),
        names => format!(": {}. Read them first.\n", names.join(", ")),
    };
    text
}
