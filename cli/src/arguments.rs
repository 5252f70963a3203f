//! What can be typed.

use clap::{Parser, Subcommand};

use crate::commands::attach::AttachArgs;
use crate::commands::backup::BackupArgs;
use crate::commands::clean::CleanArgs;
use crate::commands::code::CodeArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::config::ConfigArgs;
use crate::commands::dashboard::DashboardArgs;
use crate::commands::doctor::DoctorArgs;
use crate::commands::events::EventsArgs;
use crate::commands::exec_agent::ExecAgentArgs;
use crate::commands::finish_instance::FinishInstanceArgs;
use crate::commands::hook::HookArgs;
use crate::commands::host_agent::HostAgentArgs;
use crate::commands::init::InitArgs;
use crate::commands::list::ListArgs;
use crate::commands::logs::LogsArgs;
use crate::commands::man::ManArgs;
use crate::commands::phase::PhaseArgs;
use crate::commands::plan::PlanArgs;
use crate::commands::pr::PrArgs;
use crate::commands::restore::RestoreArgs;
use crate::commands::resume::ResumeArgs;
use crate::commands::review::ReviewArgs;
use crate::commands::send::SendArgs;
use crate::commands::show::ShowArgs;
use crate::commands::start_agent::StartAgentArgs;
use crate::commands::stop::StopArgs;
use crate::commands::sync::SyncArgs;
use crate::commands::tasks::TasksArgs;
use crate::commands::tdd::TddArgs;
use crate::commands::trust::TrustArgs;
use crate::demo::{DemoAgentArgs, DemoArgs};

const EXAMPLES: &str = "\
Begin here:
  claude-codex demo                          see it all at work, on a repository of its own
  claude-codex doctor                        is everything there that agents need?
  claude-codex code \"Fix the login page\"     an agent at work in its own worktree and tmux session
  claude-codex list                          who is doing what
  claude-codex dashboard                     the same in the browser, with live terminals
  claude-codex attach work-fix-the-login-page-a1
                                             look over its shoulder (Ctrl-b d leaves it at work)
  claude-codex tdd SPEC.md                   from a specification to a pull request, unattended
  claude-codex pr list                       what was published; pr show, diff, merge, close
  claude-codex stop ID                       end it; unsaved work is kept
  claude-codex clean                         remove what ended agents left

Exit codes: 0 done, 1 failed, 2 wrong usage.";

/// Launch, watch and end Claude Code agents that work side by side on one repository
#[derive(Debug, Parser)]
#[command(name = "claude-codex", version, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Print JSON, also for errors
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Code(CodeArgs),
    Plan(PlanArgs),
    Review(ReviewArgs),
    Tdd(TddArgs),
    List(ListArgs),
    Show(ShowArgs),
    Attach(AttachArgs),
    Send(SendArgs),
    Stop(StopArgs),
    Resume(ResumeArgs),
    Clean(CleanArgs),
    Tasks(TasksArgs),
    Phase(PhaseArgs),
    Pr(PrArgs),
    Sync(SyncArgs),
    Events(EventsArgs),
    Logs(LogsArgs),
    Dashboard(DashboardArgs),
    Doctor(DoctorArgs),
    Backup(BackupArgs),
    Restore(RestoreArgs),
    Init(InitArgs),
    Config(ConfigArgs),
    Trust(TrustArgs),
    Demo(DemoArgs),
    Completions(CompletionsArgs),
    #[command(hide = true)]
    Man(ManArgs),
    #[command(hide = true)]
    Hook(HookArgs),
    #[command(hide = true)]
    DemoAgent(DemoAgentArgs),
    #[command(hide = true)]
    ExecAgent(ExecAgentArgs),
    #[command(hide = true)]
    FinishInstance(FinishInstanceArgs),
    #[command(hide = true)]
    HostAgent(HostAgentArgs),
    #[command(hide = true)]
    StartAgent(StartAgentArgs),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

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
            assert!(sub.get_about().is_some(), "{name} says nothing");
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
