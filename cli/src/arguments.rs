//! The command-line arguments, and the one dispatch from a subcommand to its function.

use clap::{CommandFactory, Parser, Subcommand};

use crate::failure::Failure;
use crate::output::Output;
use crate::{commands, demo};

const EXAMPLES: &str = "\
Start here:
  claude-codex demo                          watch the whole system work on a sample repository
  claude-codex doctor                        check that everything agents need is installed
  claude-codex code \"Fix the login page\"     launch an agent in its own worktree and tmux session
  claude-codex list                          show what every agent is doing
  claude-codex dashboard                     the same in the browser, with live terminals
  claude-codex attach work-fix-the-login-page-a1
                                             watch it in its terminal (Ctrl-b d detaches)
  claude-codex tdd SPEC.md                   turn a specification into a pull request, unattended
  claude-codex pr list                       list pull requests; also pr show, diff, merge
  claude-codex stop ID                       end an agent; unsaved work is kept
  claude-codex clean                         remove worktrees and files of ended agents

Exit codes: 0 success, 1 failure, 2 wrong usage.";

/// Launch, watch and end Claude Code agents that work side by side on one repository
#[derive(Debug, Parser)]
#[command(name = "claude-codex", version, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Print JSON, including errors
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Code(commands::code::CodeArgs),
    Plan(commands::plan::PlanArgs),
    Review(commands::review::ReviewArgs),
    Tdd(commands::tdd::TddArgs),
    List(commands::list::ListArgs),
    Show(commands::show::ShowArgs),
    Attach(commands::attach::AttachArgs),
    Send(commands::send::SendArgs),
    Stop(commands::stop::StopArgs),
    Resume(commands::resume::ResumeArgs),
    Clean(commands::clean::CleanArgs),
    Tasks(commands::tasks::TasksArgs),
    Phase(commands::phase::PhaseArgs),
    Pr(commands::pr::PrArgs),
    Sync(commands::sync::SyncArgs),
    Events(commands::events::EventsArgs),
    Logs(commands::logs::LogsArgs),
    Dashboard(commands::dashboard::DashboardArgs),
    Doctor(commands::doctor::DoctorArgs),
    Backup(commands::backup::BackupArgs),
    Restore(commands::restore::RestoreArgs),
    Init(commands::init::InitArgs),
    Config(commands::config::ConfigArgs),
    Trust(commands::trust::TrustArgs),
    Demo(demo::DemoArgs),
    Completions(commands::completions::CompletionsArgs),
    #[command(hide = true)]
    Man(commands::man::ManArgs),
    #[command(hide = true)]
    Hook(commands::hook::HookArgs),
    #[command(hide = true)]
    DemoAgent(demo::DemoAgentArgs),
    #[command(hide = true)]
    ExecAgent(commands::exec_agent::ExecAgentArgs),
    #[command(hide = true)]
    FinishInstance(commands::finish_instance::FinishInstanceArgs),
    #[command(hide = true)]
    HostAgent(commands::host_agent::HostAgentArgs),
    #[command(hide = true)]
    Notify(commands::notify::NotifyArgs),
    #[command(hide = true)]
    StartAgent(commands::start_agent::StartAgentArgs),
}

impl Command {
    /// Runs the command.
    pub(crate) async fn run(self, output: Output) -> Result<(), Failure> {
        match self {
            Self::Code(args) => commands::code::code(args, output).await,
            Self::Plan(args) => commands::plan::plan(args, output).await,
            Self::Review(args) => commands::review::review(&args, output).await,
            Self::Tdd(args) => commands::tdd::tdd(args, output).await,
            Self::List(args) => commands::list::list(&args, output).await,
            Self::Show(args) => commands::show::show(&args, output).await,
            Self::Attach(args) => commands::attach::attach(&args, output).await,
            Self::Send(args) => commands::send::send(&args, output).await,
            Self::Stop(args) => commands::stop::stop(&args, output).await,
            Self::Resume(args) => commands::resume::resume(&args, output).await,
            Self::Clean(args) => commands::clean::clean(&args, output).await,
            Self::Tasks(args) => commands::tasks::tasks(args, output).await,
            Self::Phase(args) => commands::phase::phase(&args, output).await,
            Self::Pr(args) => commands::pr::pr(args, output).await,
            Self::Sync(_) => commands::sync::sync(output).await,
            Self::Events(args) => commands::events::events(args, output).await,
            Self::Logs(args) => commands::logs::logs(&args, output).await,
            Self::Dashboard(args) => commands::dashboard::dashboard(args, output).await,
            Self::Doctor(args) => commands::doctor::doctor(&args, output).await,
            Self::Backup(args) => commands::backup::backup(args, output).await,
            Self::Restore(args) => commands::restore::restore(&args, output).await,
            Self::Init(args) => commands::init::init(&args, output).await,
            Self::Config(_) => commands::config::config(output).await,
            Self::Trust(args) => commands::trust::trust(&args, output).await,
            Self::Demo(args) => Box::pin(demo::demo(&args, output)).await,
            Self::Completions(args) => commands::completions::completions(&args).await,
            Self::Man(args) => commands::man::man(&args, Arguments::command()).await,
            // Handled in `main`, before the arguments are parsed; listed here for `--help`.
            Self::Hook(_) => Ok(()),
            Self::DemoAgent(args) => demo::demo_agent(&args).await,
            Self::ExecAgent(args) => commands::exec_agent::exec_agent(&args).await,
            Self::FinishInstance(args) => commands::finish_instance::finish_instance(&args).await,
            Self::HostAgent(args) => commands::host_agent::host_agent(&args, output).await,
            Self::Notify(args) => commands::notify::notify(&args).await,
            Self::StartAgent(args) => commands::start_agent::start_agent(&args).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound_and_every_visible_command_has_an_example() {
        let mut command = Arguments::command();
        command.build();
        command.clone().debug_assert();
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            if sub.get_name() == "help" {
                continue;
            }
            let help = sub.get_after_help().map(ToString::to_string);
            let name = format!("claude-codex {}", sub.get_name());
            assert!(
                help.is_some_and(|help| help.contains(&name)),
                "{name} has no example"
            );
            assert!(sub.get_about().is_some(), "{name} has no description");
        }
    }

    #[test]
    fn a_number_of_an_issue_is_positive_and_excludes_a_task() {
        let parse = |words: &[&str]| {
            Arguments::try_parse_from(["claude-codex"].iter().chain(words)).map(|_| ())
        };
        assert!(parse(&["code", "--issue", "42"]).is_ok());
        assert!(parse(&["code", "--issue", "0"]).is_err());
        assert!(parse(&["code", "--issue", "1", "--task", "task-1"]).is_err());
        assert!(parse(&["show", "../../etc"]).is_err());
        assert!(parse(&["list", "--watch", "--json"]).is_ok());
        assert!(parse(&["pr", "merge", "3", "--method", "squash"]).is_ok());
        assert!(parse(&["pr", "merge", "3", "--method", "force"]).is_err());
        assert!(parse(&["pr", "show", "codex://pull/app/3"]).is_ok());
        assert!(parse(&["pr", "show", "three"]).is_err());
        assert!(parse(&["tdd", "SPEC.md", "--max-reviews", "2", "--no-cleanup"]).is_ok());
        assert!(parse(&["tdd", "list"]).is_ok() && parse(&["tdd"]).is_err());
        assert!(parse(&["tdd", "resume", "20260728-123456-abcdef"]).is_ok());
        assert!(parse(&["tdd", "SPEC.md", "--max-reviews", "0"]).is_err());
    }
}
