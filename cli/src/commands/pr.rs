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
use shared::workflow::{self, MergeTerms, NewCommits};

use self::create::CreateArgs;
pub(crate) use self::diff::styled_diff;
use self::review::{ApproveArgs, CommentArgs, RequestChangesArgs};
use crate::command_context;
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
    #[arg(value_name = "N", value_parser = pull_name, add = completion::pulls())]
    name: PullName,
}

/// How a person names a pull request: by its number, or by an address that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PullName {
    number: u64,
    address: Option<String>,
}

impl PrCommand {
    /// Returns how the command names its pull request, if it is about one.
    const fn pull(&self) -> Option<&PullName> {
        match self {
            Self::List(_) | Self::Create(_) => None,
            Self::Show(args)
            | Self::Diff(args)
            | Self::Update(args)
            | Self::Resolve(args)
            | Self::Close(args)
            | Self::Reopen(args) => Some(&args.name),
            Self::Merge(args) => Some(&args.pull.name),
            Self::RequestChanges(args) => args.of.work.pull(),
            Self::Comment(args) => args.of.work.pull(),
            Self::Approve(args) => args.of.work.pull(),
        }
    }
}

#[derive(Debug, Args)]
struct MergeArgs {
    #[command(flatten)]
    pull: Number,
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
    if let Some(PullName {
        number,
        address: Some(address),
    }) = args.command.pull()
    {
        let context = command_context::open(output).await?;
        workflow::check_pull_address(&context, address, *number).await?;
    }
    match args.command {
        PrCommand::Create(args) => create::create(args, output).await,
        PrCommand::RequestChanges(args) => review::request_changes(&args, output).await,
        PrCommand::Comment(args) => review::comment(args, output).await,
        PrCommand::Approve(args) => review::approve(&args, output).await,
        PrCommand::List(args) => list::list(args.state.0, args.limit as usize, output).await,
        PrCommand::Show(args) => show::show(args.name.number, output).await,
        PrCommand::Diff(args) => diff::diff(args.name.number, output).await,
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
            merge::merge(args.pull.name.number, terms, output).await
        }
        PrCommand::Resolve(args) => resolve::resolve(args.name.number, output).await,
        PrCommand::Update(args) => update::update(args.name.number, output).await,
        PrCommand::Close(args) => merge::close(args.name.number, output).await,
        PrCommand::Reopen(args) => merge::reopen(args.name.number, output).await,
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

/// Reads `3`, `#3`, `codex://pull/app/3` and `https://github.com/o/r/pull/3`, also of a page of it such as `/files`.
fn pull_name(text: &str) -> Result<PullName, String> {
    let (digits, address) = if let Some((folder, number)) = local_parts(text) {
        (number, Some(format!("codex://pull/{folder}/{number}")))
    } else if let Some((site, rest)) = text.split_once("/pull/") {
        let number = rest.split(['/', '?', '#']).next().unwrap_or_default();
        (number, Some(format!("{site}/pull/{number}")))
    } else {
        (text.strip_prefix('#').unwrap_or(text), None)
    };
    let number = digits.parse().ok().filter(|number| *number > 0);
    number
        .map(|number| PullName { number, address })
        .ok_or_else(|| "expected a number or the address of a pull request".to_owned())
}

fn local_parts(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix("codex://pull/")?.rsplit_once('/')
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
        for (text, address) in [
            ("3", None),
            ("#3", None),
            ("codex://pull/app/3", Some("codex://pull/app/3")),
            (
                "https://github.com/o/r/pull/3/files#r1",
                Some("https://github.com/o/r/pull/3"),
            ),
        ] {
            let address = address.map(str::to_owned);
            assert_eq!(pull_name(text), Ok(PullName { number: 3, address }));
        }
        for text in [
            "",
            "0",
            "-1",
            "x",
            "work-42-a1",
            "https://github.com/o/r/issues/3",
            "codex://pull/app",
        ] {
            assert!(pull_name(text).is_err(), "{text}");
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
