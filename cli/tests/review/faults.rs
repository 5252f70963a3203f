//! Every step of every verb, with its program killed, stopped or failing there: afterwards the invariants hold.
//!
//! A step is a commit, a child process, a private file or a rename (`shared::fault`). `FAULT_STEPS=all` tries each of
//! them; by default one or two are tried, which depend on `FAULT_SEED`, which is printed.

mod acts;
mod stages;

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, Signal, kill_process};
use shared::fault;
use shared::model::InstanceId;

use crate::github_support::Hub;
use crate::settled::invariants_hold;
use crate::support::{Place, kill};

/// More steps than any verb has.
const MOST_STEPS: u64 = 1_000;
/// Longer than a lease on a message lasts.
const STALL: Duration = Duration::from_secs(17);

/// Who there is when a verb begins.
pub(crate) struct Stage {
    pub(crate) place: Place,
    pub(crate) hub: Option<Hub>,
    pub(crate) id: Option<InstanceId>,
    pub(crate) reviewer: Option<InstanceId>,
}

impl Stage {
    fn id(&self) -> &InstanceId {
        self.id.as_ref().unwrap()
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
    /// Stopped for longer than a lease lasts.
    Stall,
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
            Self::Stall | Self::TmuxDies => "stop",
        }
    }

    /// How many steps there are of those at which a program can be killed: a step fails before it, not after.
    fn steps(self, all: u64) -> u64 {
        match self {
            Self::Kill | Self::Stall | Self::TmuxDies => all,
            Self::Full | Self::Broken | Self::Busy | Self::Refuse => all / 2,
        }
    }
}

/// A fault that waits for its step.
struct Armed {
    token: PathBuf,
}

impl Armed {
    fn at(place: &mut Place, program: &str, step: u64, kind: Kind) -> Self {
        let token = place.path("fault");
        let action = kind.action();
        let variable = format!("{program}:{step}:{action}:{}", token.display());
        place.set(fault::VARIABLE, &variable);
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

fn steps(kind: Kind, scenario: &Scenario, all: bool) -> Vec<u64> {
    if all {
        return (number_of("FAULT_FROM").unwrap_or(1)..MOST_STEPS).collect();
    }
    let seed = number_of("FAULT_SEED").unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.unwrap().as_secs() % 1_000
    });
    eprintln!("FAULT_SEED={seed}");
    let tries = if kind == Kind::Kill { 2 } else { 1 };
    (0..tries)
        .map(|number: u64| {
            let mut hasher = DefaultHasher::new();
            (seed, number, scenario.name, kind.action()).hash(&mut hasher);
            1 + hasher.finish() % kind.steps(scenario.steps).max(1)
        })
        .collect()
}

/// Tries a scenario with the fault at one step after the other, until it has no more steps.
fn try_steps(kind: Kind, scenario: &Scenario) {
    let all = std::env::var("FAULT_STEPS").is_ok_and(|which| which == "all");
    let (mut tried, mut wanted) = (0, VecDeque::from(steps(kind, scenario, all)));
    while let Some(step) = wanted.pop_front() {
        let mut place = Place::new("idle", "idle");
        let armed = Armed::at(&mut place, scenario.program, step, kind);
        let mut stage = Stage {
            place,
            hub: None,
            id: None,
            reviewer: None,
        };
        (scenario.before)(&mut stage);
        armed.release();
        let acted = Arc::new(AtomicBool::new(false));
        let stopped = (kind.action() == "stop")
            .then(|| go_on_later(&stage.place, &armed, kind, Arc::clone(&acted)));
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
            wanted.extend((step > 1).then_some(step / 2));
            continue;
        };
        let fired = format!("{kind:?} of {} at step {fired}", scenario.name);
        eprintln!("{fired}");
        invariants_hold(&stage.place, &fired);
        (scenario.after)(&stage);
        invariants_hold(&stage.place, &fired);
        tried += 1;
    }
    eprintln!("{kind:?} of {}: {tried} steps", scenario.name);
    assert!(tried > 0, "no step was reached");
}

/// Lets a program that has stopped itself go on, after its leases have run out or the terminals are gone.
fn go_on_later(
    place: &Place,
    armed: &Armed,
    kind: Kind,
    acted: Arc<AtomicBool>,
) -> std::thread::JoinHandle<()> {
    let token = armed.token.clone();
    let server = place.tmux(&["display-message", "-p", "#{pid}"]);
    let server: Option<u64> = String::from_utf8_lossy(&server.stdout).trim().parse().ok();
    std::thread::spawn(move || {
        while !token.with_extension("fired").exists() {
            // What has been done without a fault has no such step.
            if acted.load(Ordering::SeqCst) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        match (kind, server) {
            (Kind::TmuxDies, Some(server)) => kill(server),
            (Kind::TmuxDies, None) => {}
            _ => std::thread::sleep(STALL),
        }
        for pid in running(&token) {
            let _ = kill_process(pid, Signal::CONT);
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
    ($($name:ident: $program:literal, $steps:literal, $before:ident, $act:ident, $after:ident: $($kind:ident)*;)*) => {
        $(mod $name {
            use super::{Kind, Scenario, acts, stages, try_steps};

            const SCENARIO: Scenario = Scenario {
                name: stringify!($name),
                program: $program,
                steps: $steps,
                before: stages::$before,
                act: acts::$act,
                after: acts::$after,
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
    launch: "claude-codex", 48, nothing, launch, launch_again: Kill Full Broken Busy Refuse Stall TmuxDies;
    stop: "claude-codex", 40, a_coder_with_unsaved_work, stop, stopped_with_its_work: Kill Full Broken Busy Refuse Stall TmuxDies;
    send: "claude-codex", 12, a_coder, send, send_again: Kill Full Broken Busy Refuse Stall TmuxDies;
    deliver: "mcp-coding", 36, a_coder, send_to_new_server, send_again: Kill Full Broken Busy Refuse Stall TmuxDies;
    merge: "claude-codex", 66, a_published_coder, merge, merged_once: Kill Full Broken Busy Refuse Stall;
    publish: "mcp-coding", 62, a_coder_with_work, publish, published_once: Kill Full Broken Busy Refuse Stall TmuxDies;
    request_review: "mcp-coding", 70, a_coder_with_work, ask_for_review, stop_whoever_is_there: Kill Full Broken Busy Refuse Stall TmuxDies;
    request_changes: "mcp-review", 40, under_review, request_changes, changes_requested_once: Kill Full Broken Busy Refuse Stall TmuxDies;
    approve: "mcp-review", 100, under_review, approve, approved_once: Kill Full Broken Busy Refuse Stall TmuxDies;
    stop_hook: "claude-codex", 4, an_owed_claude, stop_hook, taken_once: Kill Full Broken Busy Stall;
    resume: "claude-codex", 24, a_stopped_coder, resume, resumed: Kill Full Broken Busy Refuse Stall TmuxDies;
    clean: "claude-codex", 56, two_ended_coders, clean, cleaned: Kill Full Broken Busy Refuse Stall;
    sync: "claude-codex", 60, merged_on_github, sync, synced: Kill Full Broken Busy Refuse Stall;
    create_task: "mcp-planning", 30, a_planner, create_task, one_task: Kill Full Broken Busy Refuse Stall TmuxDies;
    tdd_run: "claude-codex", 120, a_specification, tdd_run, tdd_resumed: Kill Full Broken Busy Refuse TmuxDies;
    tdd_phase: "claude-codex", 18, a_project, begin_phase, phase_begun: Kill Full Broken Busy Refuse Stall;
}
