//! `claude-codex pr`

mod create;
mod diff;
mod list;
mod merge;
mod resolve;
mod review;
mod show;
mod update;
mod work;

use clap::{Args, Subcommand};
use shared::model::{MergeMethod, PullState};
use shared::workflow::{MergeTerms, NewCommits};

use self::create::CreateArgs;
pub(crate) use self::diff::styled_diff;
use self::review::{ApproveArgs, CommentArgs, RequestChangesArgs};
use crate::completion;
use crate::failure::Failure;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  claude-codex pr list                       list open ones; --state all lists all
  claude-codex pr show 3
  claude-codex pr diff 3                     in a pipe, a patch for `git apply`
  claude-codex pr comment 3 --file src/a.rs --line 7 \"Why not …?\"
  claude-codex pr request-changes 3 \"…\"      its agent goes on, with your comments
  claude-codex pr approve work-42-a1         also of work that is not published
  claude-codex pr create work-42-a1 --title \"…\"
  claude-codex pr update 3                   takes in what its branch has got since
  claude-codex pr resolve 3                  its agent merges the base and resolves
  claude-codex pr merge 3 --method squash    also ends its agent
  claude-codex pr close 3

Pull requests are on GitHub if the repository is there and a token is available,
otherwise in the built-in forge; `claude-codex doctor` says which. N is a number
or the address that create_pr returned.";

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
    /// Print the diff of a pull request
    Diff(Number),
    /// Publish the work of a coding agent as it is
    Create(CreateArgs),
    /// Send a pull request, or an agent's work, back to its agent, with your text and all pending comments
    RequestChanges(RequestChangesArgs),
    /// Comment on a line of a pull request, or of an agent's work; comments are sent by request-changes
    Comment(CommentArgs),
    /// Approve of the commit that a pull request, or an agent's work, has now
    Approve(ApproveArgs),
    /// Bring a pull request up to its branch, with the commits made since
    Update(Number),
    /// Let the agent of a conflicting pull request merge the base branch and resolve the conflict
    Resolve(Number),
    /// Merge a pull request into its base branch, atomically
    Merge(MergeArgs),
    /// Close a pull request without merging it
    Close(Number),
    /// Reopen a closed pull request
    Reopen(Number),
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Which pull requests: open, closed, merged or all
    #[arg(long, value_name = "STATE", default_value = "open", value_parser = state_filter)]
    state: StateFilter,
    /// How many to list at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

#[derive(Debug, Clone, Copy)]
struct StateFilter(Option<PullState>);

#[derive(Debug, Args)]
struct Number {
    /// The number or address of the pull request
    #[arg(value_name = "N", value_parser = number, add = completion::pulls())]
    number: u64,
}

#[derive(Debug, Args)]
struct MergeArgs {
    #[command(flatten)]
    number: Number,
    /// merge (a merge commit), squash (one commit) or rebase (commits on top of the base)
    #[arg(long, value_name = "METHOD", default_value_t = MergeMethod::Merge)]
    method: MergeMethod,
    /// Leave out commits that the branch has got since
    #[arg(long)]
    as_published: bool,
    /// Only if this is the commit that it has, given by its id or the first digits of it
    #[arg(long, value_name = "COMMIT", value_parser = commit)]
    commit: Option<String>,
}

pub(crate) async fn pr(args: PrArgs, output: Output) -> Result<(), Failure> {
    match args.command {
        PrCommand::Create(args) => create::create(args, output).await,
        PrCommand::RequestChanges(args) => review::request_changes(&args, output).await,
        PrCommand::Comment(args) => review::comment(args, output).await,
        PrCommand::Approve(args) => review::approve(&args, output).await,
        PrCommand::List(args) => list::list(args.state.0, args.limit as usize, output).await,
        PrCommand::Show(args) => show::show(args.number, output).await,
        PrCommand::Diff(args) => diff::diff(args.number, output).await,
        PrCommand::Merge(args) => {
            let new_commits = if args.as_published {
                NewCommits::LeaveOut
            } else {
                NewCommits::Refuse
            };
            let terms = MergeTerms {
                method: args.method,
                new_commits,
                commit: args.commit,
            };
            merge::merge(args.number.number, terms, output).await
        }
        PrCommand::Resolve(args) => resolve::resolve(args.number, output).await,
        PrCommand::Update(args) => update::update(args.number, output).await,
        PrCommand::Close(args) => merge::close(args.number, output).await,
        PrCommand::Reopen(args) => merge::reopen(args.number, output).await,
    }
}

fn state_filter(word: &str) -> Result<StateFilter, String> {
    if word == "all" {
        return Ok(StateFilter(None));
    }
    let state = word.parse::<PullState>();
    state
        .map(|state| StateFilter(Some(state)))
        .map_err(|_| "expected open, closed, merged or all".to_owned())
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
        .ok_or_else(|| "expected a number or the address of a pull request".to_owned())
}

/// Reads the id of a commit, or the first digits of one.
fn commit(text: &str) -> Result<String, String> {
    let is_id = (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = is_id.then(|| text.to_ascii_lowercase());
    id.ok_or_else(|| "expected at least 7 digits of the id of a commit".to_owned())
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
        assert!(matches!(state_filter("all"), Ok(StateFilter(None))));
        assert!(matches!(
            state_filter("merged"),
            Ok(StateFilter(Some(PullState::Merged)))
        ));
        assert!(state_filter("gone").is_err());
    }
}
