//! Every step of every verb, with its program killed, stopped, overtaken or failing there: afterwards the invariants hold.
//!
//! A step is a commit, a child process, a private file or a rename (`shared::fault`). `FAULT_STEPS=all` tries each of
//! them; by default one or two are tried, which depend on `FAULT_SEED`, which is printed.

mod acts;
mod stages;

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Pid, Signal, kill_process};
use shared::fault;
use shared::model::InstanceId;
use tests::{AgentEnv, GithubRemote, binary, kill};

use crate::settled::invariants_hold;

/// More steps than any verb has.
const MAX_STEPS: u64 = 1_000;
/// Longer than a lease on a message lasts.
const STALL: Duration = Duration::from_secs(17);
/// Longer than a command takes, unless who stands still has what it waits for.
const OVERTAKING: Duration = Duration::from_secs(4);
/// The step at which a deliverer has claimed the pane and typed nothing yet.
const BEFORE_TYPING: &str = "load-buffer";

/// Who there is when a verb begins.
pub(crate) struct Stage {
    pub(crate) env: AgentEnv,
    pub(crate) github: Option<GithubRemote>,
    pub(crate) id: Option<InstanceId>,
    pub(crate) reviewer: Option<InstanceId>,
}

impl Stage {
    fn id(&self) -> &InstanceId {
        self.id.as_ref().unwrap()
    }

    /// A command of ours, about the agents that there are.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.env.command(binary("claude-codex"));
        command.args(words.iter().map(|word| match *word {
            "ID" => self.id().as_str(),
            "REVIEWER" => self.reviewer.as_ref().unwrap().as_str(),
            word => word,
        }));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

/// One verb: how things stand before it, what is done, and what a person does after the fault.
struct Scenario {
    name: &'static str,
    /// The program that the fault is in.
    program: &'static str,
    /// About how many steps it has at which it can be killed; the tries by default are spread over so many.
    steps: u64,
    before: fn(&mut Stage),
    act: fn(&Stage),
    after: fn(&Stage),
    /// The command that overtakes it.
    overtaker: &'static [&'static str],
    /// It is overtaken at one of so many steps by default.
    overtaken_every: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// SIGKILL.
    Kill,
    /// ENOSPC.
    Full,
    /// EIO.
    Broken,
    /// The database is locked, no process can be had.
    Busy,
    /// git or tmux says no.
    Refuse,
    /// Stopped for longer than a lease lasts, then overtaken.
    Stall,
    /// Stopped while another does the same, or what contradicts it: what it has seen is no longer so when it goes on.
    Overtaken,
    /// The tmux server dies, with all agents.
    TmuxDies,
}

impl Kind {
    fn action(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Full => "full",
            Self::Broken => "broken",
            Self::Busy => "busy",
            Self::Refuse => "refuse",
            Self::Stall | Self::Overtaken | Self::TmuxDies => "stop",
        }
    }

    /// How many steps there are of those at which a program can be killed: a step fails before it, not after.
    fn steps(self, all: u64) -> u64 {
        match self {
            Self::Kill | Self::Stall | Self::Overtaken | Self::TmuxDies => all,
            Self::Full | Self::Broken | Self::Busy | Self::Refuse => all / 2,
        }
    }
}

/// A fault that waits for its step.
struct Armed {
    token: PathBuf,
}

impl Armed {
    fn at(env: &mut AgentEnv, program: &str, step: &str, kind: Kind) -> Self {
        let token = env.path("fault");
        let action = kind.action();
        let variable = format!("{program}:{step}:{action}:{}", token.display());
        env.set(fault::VARIABLE, &variable);
        Self { token }
    }

    /// From here on the next start of the program takes it.
    fn release(&self) {
        std::fs::write(&self.token, "").unwrap();
    }

    fn fired(&self) -> Option<String> {
        std::fs::read_to_string(self.token.with_extension("fired")).ok()
    }
}

fn number_of(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Which steps are tried, by their numbers or by their names.
fn steps(kind: Kind, scenario: &Scenario, all: bool) -> Vec<String> {
    let numbered = |step: u64| step.to_string();
    if all {
        let first = number_of("FAULT_FROM").unwrap_or(1);
        return (first..MAX_STEPS).map(numbered).collect();
    }
    // What the pane's fence is for.
    if (kind, scenario.name) == (Kind::Stall, "deliver_for_another") {
        return vec![BEFORE_TYPING.to_owned()];
    }
    let seed = number_of("FAULT_SEED").unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.unwrap().as_secs() % 1_000
    });
    eprintln!("FAULT_SEED={seed}");
    if kind == Kind::Overtaken {
        let every = usize::try_from(scenario.overtaken_every).unwrap();
        let first = 1 + seed % scenario.overtaken_every;
        let last = scenario.steps.max(first);
        return (first..=last).step_by(every).map(numbered).collect();
    }
    let tries = if kind == Kind::Kill { 2 } else { 1 };
    (0..tries)
        .map(|number: u64| {
            let mut hasher = DefaultHasher::new();
            (seed, number, scenario.name, kind.action()).hash(&mut hasher);
            numbered(1 + hasher.finish() % kind.steps(scenario.steps).max(1))
        })
        .collect()
}

/// Tries a scenario with the fault at one step after the other, until it has no more steps.
fn try_steps(kind: Kind, scenario: &Scenario) {
    let all = std::env::var("FAULT_STEPS").is_ok_and(|which| which == "all");
    let (mut tried, mut wanted) = (0, VecDeque::from(steps(kind, scenario, all)));
    while let Some(step) = wanted.pop_front() {
        let mut env = AgentEnv::new("idle", "idle");
        let armed = Armed::at(&mut env, scenario.program, &step, kind);
        let mut stage = Stage {
            env,
            github: None,
            id: None,
            reviewer: None,
        };
        (scenario.before)(&mut stage);
        armed.release();
        let acted = Arc::new(AtomicBool::new(false));
        let stopped = (kind.action() == "stop").then(|| {
            let overtaker = stage.command(scenario.overtaker);
            go_on_later(&stage.env, &armed, kind, overtaker, Arc::clone(&acted))
        });
        (scenario.act)(&stage);
        acted.store(true, Ordering::SeqCst);
        // What was armed and never started must not go off later.
        let _ = std::fs::remove_file(&armed.token);
        if let Some(stopped) = stopped {
            stopped.join().unwrap();
        }
        let Some(fired) = armed.fired() else {
            if all {
                break;
            }
            // It has fewer steps than was thought, or than the last time.
            let number: u64 = step.parse().expect("a step of that name");
            wanted.extend((number > 1 && tried == 0).then(|| (number / 2).to_string()));
            continue;
        };
        let fired = format!("{kind:?} of {} at step {fired}", scenario.name);
        eprintln!("{fired}");
        invariants_hold(&stage.env, &fired);
        (scenario.after)(&stage);
        invariants_hold(&stage.env, &fired);
        tried += 1;
    }
    eprintln!("{kind:?} of {}: {tried} steps", scenario.name);
    assert!(tried > 0, "no step was reached");
}

/// Lets a program that has stopped itself go on, after its leases have run out, the terminals are gone or another has overtaken it.
fn go_on_later(
    env: &AgentEnv,
    armed: &Armed,
    kind: Kind,
    mut overtaker: Command,
    acted: Arc<AtomicBool>,
) -> std::thread::JoinHandle<()> {
    let token = armed.token.clone();
    let server = env.tmux(&["display-message", "-p", "#{pid}"]);
    let server: Option<u64> = String::from_utf8_lossy(&server.stdout).trim().parse().ok();
    std::thread::spawn(move || {
        while !token.with_extension("fired").exists() {
            // What has been done without a fault has no such step.
            if acted.load(Ordering::SeqCst) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut overtaking = None;
        match (kind, server) {
            (Kind::TmuxDies, Some(server)) => kill(server),
            (Kind::TmuxDies, None) => {}
            _ => {
                if kind == Kind::Stall {
                    std::thread::sleep(STALL);
                }
                let mut child = overtaker.spawn().unwrap();
                let deadline = Instant::now() + OVERTAKING;
                while child.try_wait().unwrap().is_none() && Instant::now() < deadline {
                    std::thread::sleep(Duration::from_millis(20));
                }
                overtaking = Some(child);
            }
        }
        for pid in running(&token) {
            let _ = kill_process(pid, Signal::CONT);
        }
        if let Some(mut child) = overtaking {
            child.wait().unwrap();
        }
    })
}

/// Finds the processes that were started with this fault; those that stand still are among them.
fn running(token: &Path) -> Vec<Pid> {
    let marked = shared::process::started_with(fault::VARIABLE);
    let token = token.display().to_string();
    marked
        .into_iter()
        .filter(|(_, value)| value.ends_with(&token))
        .filter_map(|(pid, _)| Pid::from_raw(i32::try_from(pid).ok()?))
        .collect()
}

macro_rules! scenarios {
    ($($name:ident: $program:literal, $steps:literal, $before:ident, $act:ident, $after:ident, $overtaker:expr, $every:literal; $($kind:ident)*;)*) => {
        $(mod $name {
            use super::{Kind, Scenario, acts, stages, try_steps};

            const SCENARIO: Scenario = Scenario {
                name: stringify!($name),
                program: $program,
                steps: $steps,
                before: stages::$before,
                act: acts::$act,
                after: acts::$after,
                overtaker: &$overtaker,
                overtaken_every: $every,
            };

            $(#[test]
            #[expect(non_snake_case, reason = "named like the kind of fault")]
            fn $kind() {
                try_steps(Kind::$kind, &SCENARIO);
            })*
        })*
    };
}

scenarios! {
    launch: "claude-codex", 48, nothing, launch, launch_again, ["list"], 25; Kill Full Broken Busy Refuse Stall Overtaken TmuxDies;
    stop: "claude-codex", 40, a_coder_with_unsaved_work, stop, stopped_with_its_work, ["stop", "ID"], 25; Kill Full Broken Busy Refuse Stall Overtaken TmuxDies;
    send: "claude-codex", 12, a_coder, send, send_again, ["list"], 25; Kill Full Broken Busy Refuse Stall Overtaken TmuxDies;
    deliver: "mcp-coding", 36, a_coder, send_to_new_server, send_again, ["list"], 4; Kill Full Broken Busy Refuse Stall Overtaken TmuxDies;
    deliver_for_another: "claude-codex", 40, a_coder_without_server, send, send_again, ["list"], 4; Kill Full Broken Busy Refuse Stall Overtaken TmuxDies;
    deliver_to_silent: "claude-codex", 60, a_silent_claude, send, told_at_most_once, ["list"], 16; Kill Stall Overtaken;
    merge: "claude-codex", 66, a_published_coder, merge, merged_once, ["pr", "merge", "1"], 25; Kill Full Broken Busy Refuse Stall Overtaken;
    publish: "mcp-coding", 62, a_coder_with_work, publish, published_once, ["stop", "ID"], 25; Kill Full Broken Busy Refuse Stall Overtaken TmuxDies;
    request_review: "mcp-coding", 70, a_coder_with_work, ask_for_review, stop_whoever_is_there, ["stop", "ID"], 25; Kill Full Broken Busy Refuse Stall Overtaken TmuxDies;
    request_changes: "mcp-review", 40, under_review, request_changes, changes_requested_once, ["stop", "REVIEWER"], 25; Kill Full Broken Busy Refuse Stall Overtaken TmuxDies;
    approve: "mcp-review", 100, under_review, approve, approved_once, ["stop", "REVIEWER"], 25; Kill Full Broken Busy Refuse Stall Overtaken TmuxDies;
    stop_hook: "claude-codex", 4, an_owed_claude, stop_hook, taken_once, ["list"], 25; Kill Full Broken Busy Stall Overtaken;
    resume: "claude-codex", 24, a_stopped_coder, resume, resumed, ["resume", "ID"], 25; Kill Full Broken Busy Refuse Stall Overtaken TmuxDies;
    clean: "claude-codex", 56, two_ended_coders, clean, cleaned, ["clean"], 25; Kill Full Broken Busy Refuse Stall Overtaken;
    sync: "claude-codex", 60, merged_on_github, sync, synced, ["sync"], 25; Kill Full Broken Busy Refuse Stall Overtaken;
    create_task: "mcp-planning", 30, a_planner, create_task, one_task, ["list"], 25; Kill Full Broken Busy Refuse Stall TmuxDies;
    tdd_run: "claude-codex", 120, a_specification, tdd_run, tdd_resumed, ["list"], 25; Kill Full Broken Busy Refuse Overtaken TmuxDies;
    tdd_phase: "claude-codex", 18, a_project, begin_phase, phase_begun, ["list"], 25; Kill Full Broken Busy Refuse Stall;
}
