//! The simulation of one schedule: a repository, its agents, and the commands and faults under way in it.

use std::cell::Cell;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use shared::fault;
use shared::model::{Instance, InstanceId, InstanceKind, MessageState, Status};
use tests::{AgentEnv, binary};

use super::actions::{Act, Action, CODERS, Numbers};
use super::clock::Clock;
use super::web::Web;

/// Longer than a lease on a message lasts.
const STALL: Duration = Duration::from_secs(16);
/// No command takes longer, whatever has died around it.
const LONGEST: Duration = Duration::from_secs(100);

const CROWD: usize = 4;

/// A command of a person that is under way.
struct Running {
    action: usize,
    child: Child,
}

pub(super) struct Simulation {
    pub(super) env: AgentEnv,
    clock: Clock,
    /// From the first click on.
    web: Option<Web>,
    running: Vec<Running>,
    /// Who stands still, and since when.
    stalled: Vec<(Pid, Instant)>,
    holder: Option<JoinHandle<()>>,
    /// What the next command is to do at one of its steps.
    failing: Option<String>,
    /// Messages that somebody was told are sent.
    pub(super) acknowledged: Vec<String>,
    done: u64,
    kills: Cell<u64>,
}

/// What a schedule came to.
#[derive(Debug, Default)]
pub(super) struct Counts {
    actions: u64,
    kills: u64,
    messages: usize,
    taken: usize,
    unconfirmed: usize,
    owed_to_ended: usize,
    commits: usize,
    pulls: usize,
}

impl Counts {
    pub(super) fn add(&mut self, more: &Self) {
        self.actions += more.actions;
        self.kills += more.kills;
        self.messages += more.messages;
        self.taken += more.taken;
        self.unconfirmed += more.unconfirmed;
        self.owed_to_ended += more.owed_to_ended;
        self.commits += more.commits;
        self.pulls += more.pulls;
    }
}

impl Simulation {
    pub(super) fn new(seed: u64) -> Self {
        let mut env = AgentEnv::new("idle", "idle");
        slow_git(&env);
        let clock = Clock::of(&mut env);
        let mut numbers = Numbers::of(!seed);
        let (action, step) = (numbers.failure().action(), 1 + numbers.below(40));
        let token = env.path("server-fault");
        let variable = format!("mcp-coding:{step}:{action}:{}", token.display());
        env.set(fault::VARIABLE, &variable);
        Self {
            env,
            clock,
            web: None,
            running: Vec::new(),
            stalled: Vec::new(),
            holder: None,
            failing: None,
            acknowledged: Vec::new(),
            done: 0,
            kills: Cell::new(0),
        }
    }

    /// Two coders and a planner, all connected: those that have ended are replaced, which must be possible.
    pub(super) fn everybody_is_there(&self) {
        let lives = |instance: Option<Instance>| instance.is_some_and(|one| one.status.is_live());
        for slot in 0..CODERS {
            if !lives(self.coder(slot)) {
                self.env.text(&["code", &prompt(slot)]);
            }
        }
        if !lives(self.planner()) {
            self.env.text(&["plan", "all of it"]);
        }
        self.env.until("all are up", || {
            let all = self.instances();
            all.iter()
                .all(|instance| instance.status != Status::Started)
        });
    }

    pub(super) fn everybody_stops(&self) {
        for instance in self.instances() {
            if instance.status.is_live() && instance.parent_instance_id.is_none() {
                self.env.text(&["stop", instance.id.as_str()]);
            }
        }
    }

    fn planner(&self) -> Option<Instance> {
        self.newest(|instance| instance.kind == InstanceKind::Planning)
    }

    pub(super) fn instances(&self) -> Vec<Instance> {
        self.env.store().read_now(|r| r.instances(false)).unwrap()
    }

    /// The newest coder with this number.
    fn coder(&self, number: u64) -> Option<Instance> {
        let start = format!("work-slot-{number}-");
        self.newest(|instance| instance.id.as_str().starts_with(&start))
    }

    fn newest(&self, is_wanted: impl Fn(&Instance) -> bool) -> Option<Instance> {
        let mut all = self.instances();
        all.retain(is_wanted);
        // By number, as the clock may have been set back.
        all.into_iter()
            .max_by_key(|one| (one.id.as_str().len(), one.id.clone()))
    }

    /// The newest reviewer of a coder.
    fn reviewer(&self, number: u64) -> Option<Instance> {
        let coder = self.coder(number)?.id;
        self.newest(|instance| instance.parent_instance_id.as_ref() == Some(&coder))
    }

    pub(super) fn perform(&mut self, action: &Action) {
        std::thread::sleep(Duration::from_millis(action.pause));
        self.done += 1;
        let number = action.number;
        let words = |text: &str| format!("{text} {number}");
        match action.act {
            Act::Launch(slot) => {
                // Two of a number at a time would have no end.
                if self.coder(slot).is_none_or(|coder| !coder.status.is_live()) {
                    self.command(number, &["code", &prompt(slot)], "");
                }
            }
            Act::Send(slot) => self.for_coder(number, slot, &["send", "ID", "-", "--json"]),
            Act::Crowd(slot) => {
                self.signal(self.server(slot), Signal::KILL);
                for sender in 1..=CROWD {
                    let action = number * 100 + sender;
                    self.for_coder(action, slot, &["send", "ID", "-", "--json"]);
                }
            }
            Act::Type(slot) => self.type_words(slot, &words("typed")),
            Act::Stop(slot) => self.for_coder(number, slot, &["stop", "ID"]),
            Act::Resume(slot) => self.for_coder(number, slot, &["resume", "ID"]),
            Act::Review(slot) => self.for_coder(number, slot, &["review", "ID"]),
            Act::Merge(pull) => self.command(number, &["pr", "merge", &pull.to_string()], ""),
            Act::Close(pull) => self.command(number, &["pr", "close", &pull.to_string()], ""),
            Act::Reopen(pull) => self.command(number, &["pr", "reopen", &pull.to_string()], ""),
            Act::ClickStop(slot) => {
                if let Some(coder) = self.coder(slot) {
                    self.click(&format!("/api/instances/{}/stop", coder.id));
                }
            }
            Act::ClickMerge(pull) => self.click(&format!("/api/pulls/{pull}/merge")),
            Act::Clean => self.command(number, &["clean"], ""),
            Act::List => self.command(number, &["list", "--all"], ""),
            Act::Tasks => self.command(number, &["tasks"], ""),
            Act::Sync => self.command(number, &["sync"], ""),
            Act::Commit(slot) => self.tell(
                self.coder(slot),
                &json!({ "commit": words("commit"), "file": format!("file-{slot}.txt") }),
            ),
            Act::Write(slot) => {
                self.tell(
                    self.coder(slot),
                    &json!({ "write": words("written") + "\n" }),
                );
            }
            Act::RequestReview(slot) => {
                let description = json!({ "description": words("look") });
                self.call(self.coder(slot), "request_review", &description);
            }
            Act::CreatePr(slot) => self.call(self.coder(slot), "create_pr", &pull_request(number)),
            Act::RequestChanges(slot) => {
                let feedback = json!({ "feedback": words("change it") });
                self.call(self.reviewer(slot), "request_changes", &feedback);
            }
            Act::Approve(slot) => {
                self.call(self.reviewer(slot), "create_pr", &pull_request(number));
            }
            Act::CreateTask => {
                let task = json!({ "taskTitle": words("task"), "taskDescription": "Do it.", "priority": "low" });
                self.call(self.planner(), "create_task", &task);
            }
            Act::KillServer(slot) => self.signal(self.server(slot), Signal::KILL),
            Act::RestartServer(slot) => self.tell(self.coder(slot), &json!({ "restart": true })),
            Act::KillAgent(slot) => self.signal(self.agent(slot), Signal::KILL),
            Act::KillCommand => self.signal(self.under_way(), Signal::KILL),
            Act::KillTmux => {
                let printed = self.env.tmux(&["display-message", "-p", "#{pid}"]);
                let printed = String::from_utf8_lossy(&printed.stdout);
                self.signal(printed.trim().parse().ok(), Signal::KILL);
            }
            Act::StallServer(slot) => self.stall(self.server(slot)),
            Act::StallAgent(slot) => self.stall(self.agent(slot)),
            Act::StallCommand => self.stall(self.under_way()),
            Act::SlowGit => std::fs::write(self.env.path("script/slow"), "0.3").unwrap(),
            Act::StepClock(hours) => self.clock.step(hours),
            Act::HoldDatabase(time) => self.hold_database(Duration::from_millis(time)),
            Act::FailingCommand(failure, step) => {
                let token = self.env.path(&format!("fault-{number}"));
                let action = failure.action();
                self.failing = Some(format!("claude-codex:{step}:{action}:{}", token.display()));
                std::fs::write(token, "").unwrap();
            }
            Act::FailingServer(slot) => {
                std::fs::write(self.env.path("server-fault"), "").unwrap();
                self.tell(self.coder(slot), &json!({ "restart": true }));
            }
        }
    }

    fn click(&mut self, path: &str) {
        let web = self.web.get_or_insert_with(|| Web::start(&self.env));
        web.click(path);
    }

    /// Begins a command; what it prints is looked at when all has settled.
    fn command(&mut self, action: usize, args: &[&str], input: &str) {
        let printed = |kind: &str| File::create(self.env.path(&format!("{kind}-{action}")));
        let mut command = self.env.command(binary("claude-codex"));
        command
            .args(args)
            .stdin(Stdio::piped())
            .stdout(printed("out").unwrap())
            .stderr(printed("err").unwrap());
        if let Some(failing) = self.failing.take() {
            command.env(fault::VARIABLE, failing);
        }
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        self.running.push(Running { action, child });
    }

    fn for_coder(&mut self, action: usize, slot: u64, args: &[&str]) {
        let Some(coder) = self.coder(slot) else {
            return;
        };
        let id = coder.id.to_string();
        let args: Vec<&str> = args
            .iter()
            .map(|word| if *word == "ID" { id.as_str() } else { word })
            .collect();
        self.command(action, &args, &format!("message {action}"));
    }

    fn tell(&self, instance: Option<Instance>, command: &Value) {
        if let Some(instance) = instance {
            self.env.tell(&instance.id, command);
        }
    }

    fn call(&self, instance: Option<Instance>, tool: &str, arguments: &Value) {
        self.tell(instance, &json!({ "call": tool, "arguments": arguments }));
    }

    /// As a person who is attached would.
    fn type_words(&self, slot: u64, words: &str) {
        if let Some(coder) = self.coder(slot) {
            let target = format!("={}:0.0", coder.id);
            self.env.tmux(&["send-keys", "-t", &target, "-l", words]);
            self.env.tmux(&["send-keys", "-t", &target, "Enter"]);
        }
    }

    fn server(&self, slot: u64) -> Option<i32> {
        let server = self.coder(slot)?.server?;
        i32::try_from(server.pid).ok()
    }

    fn agent(&self, slot: u64) -> Option<i32> {
        let ready = self.env.log(&self.coder(slot)?.id, "ready").pop()?;
        i32::try_from(ready["pid"].as_i64()?).ok()
    }

    fn under_way(&self) -> Option<i32> {
        let last = self.running.last()?;
        i32::try_from(last.child.id()).ok()
    }

    /// Signals a process, if it is one of this place still.
    fn signal(&self, pid: Option<i32>, signal: Signal) {
        if let Some(pid) = pid.and_then(|pid| self.own(pid)) {
            self.kills
                .set(self.kills.get() + u64::from(signal == Signal::KILL));
            let _ = kill_process(pid, signal);
        }
    }

    fn own(&self, pid: i32) -> Option<Pid> {
        let folder = shared::process::variable_of(u32::try_from(pid).ok()?, "SCRIPT_DIR")?;
        let is_own = Path::new(&folder) == self.env.path("script");
        Pid::from_raw(pid).filter(|_| is_own)
    }

    fn stall(&mut self, pid: Option<i32>) {
        if let Some(pid) = pid.and_then(|pid| self.own(pid)) {
            let _ = kill_process(pid, Signal::STOP);
            self.stalled.push((pid, Instant::now()));
        }
    }

    fn hold_database(&mut self, time: Duration) {
        let path = self.env.path("state/codex.db");
        let holder = std::thread::spawn(move || {
            let database = rusqlite::Connection::open(path).unwrap();
            database.busy_timeout(Duration::from_secs(30)).unwrap();
            database.execute_batch("BEGIN IMMEDIATE").unwrap();
            std::thread::sleep(time);
            database.execute_batch("ROLLBACK").unwrap();
        });
        if let Some(before) = self.holder.replace(holder) {
            before.join().unwrap();
        }
    }

    /// Everything that stood still goes on, and every command comes to its end.
    pub(super) fn settle(&mut self) {
        for (pid, since) in std::mem::take(&mut self.stalled) {
            std::thread::sleep(STALL.saturating_sub(since.elapsed()));
            if let Some(pid) = self.own(pid.as_raw_nonzero().get()) {
                let _ = kill_process(pid, Signal::CONT);
            }
        }
        if let Some(holder) = self.holder.take() {
            holder.join().unwrap();
        }
        let _ = std::fs::remove_file(self.env.path("script/slow"));
        let deadline = Instant::now() + LONGEST;
        for Running { action, mut child } in std::mem::take(&mut self.running) {
            while child.try_wait().unwrap().is_none() {
                assert!(
                    Instant::now() < deadline,
                    "the command of action {action} does not end\n{}",
                    self.env.describe()
                );
                std::thread::sleep(Duration::from_millis(20));
            }
            let read = |kind: &str| {
                let path = self.env.path(&format!("{kind}-{action}"));
                std::fs::read_to_string(path).unwrap()
            };
            let complaint = read("err");
            assert!(
                !complaint.contains("panicked"),
                "action {action}: {complaint}"
            );
            let answer: Value = serde_json::from_str(&read("out")).unwrap_or_default();
            self.acknowledged
                .extend(answer["messageId"].as_str().map(str::to_owned));
        }
        if let Some(web) = &mut self.web {
            web.settle();
        }
        // A fault that nobody met goes off no more.
        let _ = std::fs::remove_file(self.env.path("server-fault"));
    }

    pub(super) fn counts(&self) -> Counts {
        let instances = self.instances();
        let messages: Vec<_> = instances
            .iter()
            .flat_map(|instance| self.env.messages(&instance.id))
            .collect();
        let in_state = |state| messages.iter().filter(|one| one.state == state).count();
        let ids: Vec<&InstanceId> = instances.iter().map(|instance| &instance.id).collect();
        let commits = ids.iter().flat_map(|id| self.env.log(id, "commit"));
        Counts {
            actions: self.done,
            kills: self.kills.get(),
            messages: messages.len(),
            taken: in_state(MessageState::Taken),
            unconfirmed: in_state(MessageState::Unconfirmed),
            owed_to_ended: in_state(MessageState::Owed) + in_state(MessageState::Dropped),
            commits: commits.filter(|commit| commit["status"] == 0).count(),
            pulls: super::checks::pulls(&self.env).len(),
        }
    }
}

fn prompt(slot: u64) -> String {
    format!("slot {slot}")
}

fn pull_request(number: usize) -> Value {
    json!({ "title": format!("Pull {number}"), "description": "What and why." })
}

/// Puts a git first on `PATH` that waits as long as the file `slow` says.
fn slow_git(env: &AgentEnv) {
    let path = std::env::var("PATH").unwrap();
    let slow = env.path("script/slow");
    let script = format!(
        "#!/bin/sh\n[ -e '{slow}' ] && sleep 0.3\nPATH='{path}' exec git \"$@\"\n",
        slow = slow.display()
    );
    env.program("git", &script);
}
