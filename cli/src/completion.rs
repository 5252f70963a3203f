//! Shell completion (bash, zsh, fish, …) of commands, options, and the ids of agents, tasks and pull requests.
//!
//! The script that a shell loads calls this program with `CODEX_COMPLETE` set. Whatever goes wrong then, nothing is
//! completed and nothing is printed: the person is in the middle of a line.

use std::process::ExitCode;

use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use shared::config::Environment;
use shared::error::{Code, Error};
use shared::git::Repository;
use shared::model::{Instance, InstanceKind, PullState};
use shared::store::{Reader, StoreError};
use shared::workflow::{self, AgentAction, Context};

use crate::text::{cut, harmless};

/// Tells the program that a shell asks, and which.
const VARIABLE: &str = "CODEX_COMPLETE";
/// zsh loads a file of `fpath` with the first Tab, as the body of a function: it has to answer that Tab itself.
const ZSH_FIRST_TAB: &str = "
if [[ $funcstack[1] == _claude-codex ]]; then
    _clap_dynamic_completer_claude_codex \"$@\"
fi
";
/// How many ended agents, tasks or pull requests are offered.
const MAX_OFFERED: u32 = 200;
/// A description beside an id.
const MAX_COLUMNS: usize = 60;

/// Returns the script for a shell.
pub(crate) fn script(shell: clap_complete::Shell) -> Result<String, Error> {
    let failed = |what: String| Error::new(Code::Internal, format!("no completions: {what}"));
    let shells = Shells::builtins();
    let name = shell.to_string();
    let found = shells
        .completer(&name)
        .ok_or_else(|| failed(name.clone()))?;
    let (program, mut text) = ("claude-codex", Vec::new());
    found
        .write_registration(VARIABLE, program, program, program, &mut text)
        .map_err(|error| failed(error.to_string()))?;
    let mut text = String::from_utf8_lossy(&text).into_owned();
    if shell == clap_complete::Shell::Zsh {
        text.push_str(ZSH_FIRST_TAB);
    }
    Ok(text)
}

/// Answers a shell that asks what fits; `None` if no shell does.
pub(crate) fn answer(program: fn() -> clap::Command) -> Option<ExitCode> {
    let environment = Environment::current();
    environment.get(VARIABLE)?;
    let asked = CompleteEnv::with_factory(program)
        .var(VARIABLE)
        .try_complete(std::env::args_os(), Some(environment.directory()));
    match asked {
        Ok(false) => None,
        Ok(true) => Some(ExitCode::SUCCESS),
        Err(_) => Some(ExitCode::FAILURE),
    }
}

/// Offers all agents that are not over, and the latest that are.
pub(crate) fn agents() -> ArgValueCandidates {
    ArgValueCandidates::new(|| instances(|_| true))
}

/// Offers the agents that may still act.
pub(crate) fn live_agents() -> ArgValueCandidates {
    ArgValueCandidates::new(|| instances(|instance| may(instance, AgentAction::Stop)))
}

/// Offers the agents that take a message: those that may still act, and those whose work is published.
pub(crate) fn addressable_agents() -> ArgValueCandidates {
    ArgValueCandidates::new(|| instances(|instance| may(instance, AgentAction::Message)))
}

/// Offers the coders that may be reviewed now.
pub(crate) fn reviewable_agents() -> ArgValueCandidates {
    ArgValueCandidates::new(|| instances(|instance| may(instance, AgentAction::Review)))
}

/// Offers the latest agents that can be started again.
pub(crate) fn resumable_agents() -> ArgValueCandidates {
    // How much is owed to them is not asked here.
    ArgValueCandidates::new(|| {
        instances(|instance| workflow::why_not(instance, 1, None, AgentAction::Resume).is_none())
    })
}

fn may(instance: &Instance, action: AgentAction) -> bool {
    workflow::why_not(instance, 0, None, action).is_none()
}

/// Offers the latest agents that have ended.
pub(crate) fn ended_agents() -> ArgValueCandidates {
    ArgValueCandidates::new(|| instances(|instance| !instance.status.is_live()))
}

/// Offers the tasks of this repository.
pub(crate) fn tasks() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        ask(|r, repository| {
            let page = r.tasks_by_place(repository?, false, 0, MAX_OFFERED.into());
            let tasks = page.ok()?.tasks;
            let offered = tasks.iter().map(|task| {
                let what = format!("{}: {}", task.status, task.title);
                candidate(task.id.as_str(), &what)
            });
            Some(offered.collect())
        })
    })
}

/// Offers the pull requests of this repository that are known here: GitHub is not asked.
pub(crate) fn pulls() -> ArgValueCandidates {
    ArgValueCandidates::new(offered_pulls)
}

fn offered_pulls() -> Vec<CompletionCandidate> {
    ask(|r, repository| {
        let repository = repository?;
        let local = r
            .pull_requests(repository, None, MAX_OFFERED as usize)
            .ok()?;
        let mut offered: Vec<CompletionCandidate> = local
            .iter()
            .map(|pull| {
                let open = pull.state == PullState::Open;
                let what = format!("{}: {}", pull.state, pull.title);
                candidate(&pull.number.to_string(), &what).display_order(Some(usize::from(!open)))
            })
            .collect();
        for instance in r.published(repository).ok()? {
            let number = instance.pr_number.unwrap_or_default();
            if number > 0 && !local.iter().any(|pull| pull.number == number) {
                offered.push(candidate(&number.to_string(), instance.id.as_str()));
            }
        }
        Some(offered)
    })
}

/// Offers the pull requests, and the agents whose work a person may review before it is published.
pub(crate) fn work() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let mut offered = offered_pulls();
        offered.extend(instances(|instance| {
            instance.kind == InstanceKind::Coding && instance.status.is_live()
        }));
        offered
    })
}

fn instances(wanted: fn(&Instance) -> bool) -> Vec<CompletionCandidate> {
    ask(move |r, _| {
        let instances = r.recent_instances(MAX_OFFERED).ok()?;
        let offered = instances.iter().filter(|instance| wanted(instance));
        let offered = offered.map(|one| candidate(one.id.as_str(), one.status.as_str()));
        Some(offered.collect())
    })
}

fn candidate(value: &str, what: &str) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(cut(&harmless(what), MAX_COLUMNS).into()))
}

/// Asks the database, if there is one. The second argument is the repository that the shell is in.
fn ask<F>(question: F) -> Vec<CompletionCandidate>
where
    F: FnOnce(&Reader<'_>, Option<&str>) -> Option<Vec<CompletionCandidate>>,
{
    let answer = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .ok()?;
        let opened = Context::open(Environment::current(), &[]);
        let context = runtime.block_on(opened).ok()?;
        // Completing a word creates nothing.
        if !context.store.path().exists() {
            return None;
        }
        let root = context.repository().ok().map(Repository::root);
        let repository = root.map(Context::repository_key);
        let answered = context
            .store
            .read_now(|r| Ok::<_, StoreError>(question(r, repository.as_deref())));
        answered.ok().flatten()
    };
    answer().unwrap_or_default()
}
