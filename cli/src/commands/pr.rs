//! `claude-codex pr`

mod change;
mod look;

use clap::{Args, Subcommand};
use shared::model::{MergeMethod, PullState};

use crate::failure::Failure;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  claude-codex pr list                       the open ones; --state all for every one
  claude-codex pr show 3
  claude-codex pr diff 3                     into a pipe, as `git apply` takes it
  claude-codex pr merge 3 --method squash    its agent is put away with it
  claude-codex pr close 3

Pull requests are on GitHub if the repository is and there is a token, else in
the built-in forge: `claude-codex doctor` says which. N is a number, or the
address that create_pr answered.";

/// List, read, merge and close the pull requests of this repository
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PrArgs {
    #[command(subcommand)]
    command: PrCommand,
}

#[derive(Debug, Subcommand)]
enum PrCommand {
    /// List pull requests, the newest first
    List(ListArgs),
    /// Show one pull request
    Show(Number),
    /// Print what a pull request changes
    Diff(Number),
    /// Merge a pull request into its base branch, or change nothing at all
    Merge(MergeArgs),
    /// Close a pull request without merging it
    Close(Number),
    /// Open a closed pull request again
    Reopen(Number),
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Which ones: open, closed, merged or all
    #[arg(long, value_name = "STATE", default_value = "open", value_parser = wanted_state)]
    state: Wanted,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

#[derive(Debug, Clone, Copy)]
struct Wanted(Option<PullState>);

#[derive(Debug, Args)]
struct Number {
    /// The number or address of the pull request
    #[arg(value_name = "N", value_parser = number)]
    number: u64,
}

#[derive(Debug, Args)]
struct MergeArgs {
    #[command(flatten)]
    number: Number,
    /// How: merge (a merge commit), squash (one commit) or rebase (each commit again)
    #[arg(long, value_name = "METHOD", default_value_t = MergeMethod::Merge)]
    method: MergeMethod,
}

pub(crate) async fn pr(args: &PrArgs, output: Output) -> Result<(), Failure> {
    match &args.command {
        PrCommand::List(args) => look::list(args.state.0, args.limit as usize, output).await,
        PrCommand::Show(args) => look::show(args.number, output).await,
        PrCommand::Diff(args) => look::diff(args.number, output).await,
        PrCommand::Merge(args) => change::merge(args.number.number, args.method, output).await,
        PrCommand::Close(args) => change::close(args.number, output).await,
        PrCommand::Reopen(args) => change::reopen(args.number, output).await,
    }
}

fn wanted_state(word: &str) -> Result<Wanted, String> {
    if word == "all" {
        return Ok(Wanted(None));
    }
    let state = word.parse::<PullState>();
    state
        .map(|state| Wanted(Some(state)))
        .map_err(|_| "say open, closed, merged or all".to_owned())
}

/// Reads `3`, `#3`, `codex://pull/app/3` and `https://github.com/o/r/pull/3`.
fn number(text: &str) -> Result<u64, String> {
    let address = text.contains("/pull/") || text.starts_with("codex://pull/");
    let digits = match text.rsplit_once('/') {
        Some((_, last)) if address => last,
        _ => text.strip_prefix('#').unwrap_or(text),
    };
    digits
        .parse()
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| "it is neither a number nor the address of a pull request".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_request_is_named_by_number_or_address() {
        for text in [
            "3",
            "#3",
            "codex://pull/app/3",
            "https://github.com/o/r/pull/3",
        ] {
            assert_eq!(number(text), Ok(3), "{text}");
        }
        for text in [
            "",
            "0",
            "-1",
            "x",
            "work-42-a1",
            "https://github.com/o/r/issues/3",
        ] {
            assert!(number(text).is_err(), "{text}");
        }
    }

    #[test]
    fn states_and_all_of_them() {
        assert!(matches!(wanted_state("all"), Ok(Wanted(None))));
        assert!(matches!(
            wanted_state("merged"),
            Ok(Wanted(Some(PullState::Merged)))
        ));
        assert!(wanted_state("gone").is_err());
    }
}
