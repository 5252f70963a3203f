//! A `TestEnv` with scripted agents: launching them, making them call tools, and reading what they wrote down.

use std::io::Write;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use shared::model::{Instance, InstanceId, Message, Review, Status};
use shared::store::EventRow;

use crate::binaries::{Server, binary, project_root};
use crate::client::{Client, Era};
use crate::environment::{TestEnv, shown, write_program};
use crate::waiting::until_or;

/// One user with a repository and scripted agents, `tests/agents/agent.py`.
#[derive(Debug)]
pub struct AgentEnv(TestEnv);

impl Deref for AgentEnv {
    type Target = TestEnv;

    fn deref(&self) -> &TestEnv {
        &self.0
    }
}

impl DerefMut for AgentEnv {
    fn deref_mut(&mut self) -> &mut TestEnv {
        &mut self.0
    }
}

impl AgentEnv {
    /// Makes a user whose agents do what the two scripts say: `loop` or `idle`, `changes`, `approve` or `idle`.
    pub fn new(coder: &str, reviewer: &str) -> Self {
        for server in Server::ALL {
            binary(server.name());
        }
        let mut env = Self(TestEnv::with_empty_repository("repo"));
        for folder in ["state", "script"] {
            std::fs::create_dir(env.path(folder)).unwrap();
        }
        let script = env.path("script");
        env.set("SCRIPT_DIR", script.to_string_lossy());
        env.set("SCRIPT_CODER", coder);
        env.set("SCRIPT_REVIEWER", reviewer);
        env.use_agent("agent.py");
        env.write("README.md", "A project\n");
        env.commit_all("base");
        env
    }

    /// Makes agents run another program of `tests/agents`.
    pub fn use_agent(&mut self, name: &str) {
        let agent = project_root().join("tests/agents").join(name);
        self.set(
            "CODEX_AGENT_COMMAND",
            format!("python3 '{}'", agent.display()),
        );
    }

    pub fn send(&self, id: &InstanceId, message: &str) -> Output {
        let child = self.start(&["send", id.as_str(), "-", "--json"], message);
        child.wait_with_output().unwrap()
    }

    /// Launches a coder and waits until its server has spoken.
    pub fn coder(&self, more: &[&str]) -> InstanceId {
        let printed = self.json(&[&["code", "Do the work"], more].concat());
        let id: InstanceId = printed["id"].as_str().unwrap().parse().unwrap();
        self.until("the coder is up", || {
            self.instance(&id).status != Status::Started
        });
        id
    }

    pub fn instance(&self, id: &InstanceId) -> Instance {
        self.store().read_now(|r| r.instance(id)).unwrap()
    }

    pub fn status(&self, id: &InstanceId) -> Status {
        self.instance(id).status
    }

    pub fn reviews(&self, id: &InstanceId) -> Vec<Review> {
        self.store().read_now(|r| r.reviews(id)).unwrap()
    }

    pub fn messages(&self, id: &InstanceId) -> Vec<Message> {
        self.store().read_now(|r| r.messages(id)).unwrap()
    }

    /// What an agent has written down, of one kind.
    pub fn log(&self, id: &InstanceId, event: &str) -> Vec<Value> {
        let path = self.path("script").join(format!("{id}.log"));
        let lines = std::fs::read_to_string(path).unwrap_or_default();
        lines
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|entry| entry["event"] == event)
            .collect()
    }

    pub fn received(&self, id: &InstanceId) -> Vec<String> {
        let messages = self.log(id, "message");
        messages
            .iter()
            .map(|entry| entry["text"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Makes an agent do something.
    pub fn tell(&self, id: &InstanceId, command: &Value) {
        let path = self.path("script").join(format!("{id}.in"));
        let mut file = std::fs::File::options()
            .append(true)
            .create(true)
            .open(path)
            .unwrap();
        writeln!(file, "{command}").unwrap();
    }

    /// Makes an agent call a tool and returns what it was answered.
    pub fn call(&self, id: &InstanceId, tool: &str, arguments: &Value) -> Value {
        let before = self.log(id, "tool").len();
        self.tell(id, &json!({ "call": tool, "arguments": arguments }));
        self.until(tool, || self.log(id, "tool").len() > before);
        self.log(id, "tool").pop().unwrap()
    }

    /// Makes an agent call `create_pr` and returns what it was answered.
    pub fn create_pr(&self, id: &InstanceId, title: &str) -> Value {
        let arguments = json!({ "title": title, "description": "What and why." });
        self.call(id, "create_pr", &arguments)
    }

    /// Asserts that secrets are nowhere that an agent, or another user, could read them unasked.
    pub fn assert_nowhere(&self, secrets: &[&str]) {
        let found = |place: &str, bytes: &[u8]| {
            for secret in secrets {
                let mut parts = bytes.windows(secret.len());
                let there = parts.any(|part| part == secret.as_bytes());
                assert!(!there, "{secret} is in {place}");
            }
        };
        for folder in ["state", "repo", ".codex-worktrees"] {
            check_files(&self.path(folder), &found);
        }
        found("tmux", &self.tmux(&["show-environment", "-g"]).stdout);
        let sessions = self.tmux(&["list-sessions", "-F", "#{session_name}"]);
        for session in String::from_utf8_lossy(&sessions.stdout).lines() {
            let target = format!("={session}");
            let variables = self.tmux(&["show-environment", "-t", &target]);
            found(session, &variables.stdout);
        }
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found("an argument", &line);
        }
    }

    /// Makes git wait in, or refuse, the change of a reference: `body` is what the hook does.
    pub fn reference_hook(&self, body: &str) {
        let path = self.path("repo/.git/hooks/reference-transaction");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        write_program(&path, &format!("#!/bin/sh\n{body}\n"));
    }

    pub fn no_reference_hook(&self) {
        std::fs::remove_file(self.path("repo/.git/hooks/reference-transaction")).unwrap();
    }

    /// Publishes files on a branch of their own, from a person's session in a worktree beside the repository.
    pub fn publish(&self, branch: &str, files: &[(&str, &str)]) -> Value {
        let folder = self.path(branch);
        if !folder.exists() {
            let path = folder.to_str().unwrap();
            self.git(&["worktree", "add", "-q", "-b", branch, path, "main"]);
        }
        for (file, text) in files {
            let file = folder.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        self.git_in(&folder, &["add", "--all", "--force"]);
        self.git_in(&folder, &["commit", "-q", "-m", branch]);
        self.publish_again(branch)
    }

    /// Publishes what is committed on a branch; returns the result of the call.
    pub fn publish_again(&self, branch: &str) -> Value {
        let arguments = json!({ "title": branch, "description": "What and why." });
        self.call_as_person_in(&self.path(branch), Server::Coding, "create_pr", &arguments)
    }

    /// Launches a coder that makes one commit.
    pub fn coder_with_commit(&self) -> InstanceId {
        let coder = self.coder(&[]);
        self.commit(&coder, "work\n");
        coder
    }

    /// Makes a coder publish, which must be refused with this code and change nothing here.
    pub fn create_pr_refused(&self, coder: &InstanceId, code: &str) -> Value {
        let answer = self.create_pr(coder, "Title");
        assert_eq!(answer["error"], true, "{answer}");
        let text = answer["text"].as_str().unwrap();
        assert!(text.contains(code), "{code}: {answer}");
        assert_eq!(self.status(coder), Status::Running);
        let instance = self.instance(coder);
        assert_eq!((instance.pr_number, instance.owner), (None, None));
        answer
    }

    /// Makes an agent commit something.
    pub fn commit(&self, id: &InstanceId, what: &str) {
        let before = self.log(id, "run").len();
        self.tell(id, &json!({ "write": what }));
        self.tell(id, &json!({ "run": ["git", "add", "work.txt"] }));
        self.tell(id, &json!({ "run": ["git", "commit", "-q", "-m", what] }));
        self.until("a commit", || self.log(id, "run").len() >= before + 2);
        let last = self.log(id, "run").pop().unwrap();
        assert_eq!(last["status"], 0, "{last}");
    }

    /// Calls a tool as a session in the repository does that nobody launched, and returns the result.
    pub fn call_as_person(&self, server: Server, tool: &str, arguments: &Value) -> Value {
        self.call_as_person_in(self.repository(), server, tool, arguments)
    }

    /// Does the same from another folder.
    pub fn call_as_person_in(
        &self,
        folder: &Path,
        server: Server,
        tool: &str,
        arguments: &Value,
    ) -> Value {
        let mut command = self.command(server.path());
        command.current_dir(folder);
        let mut client = Client::spawn(command, Era::Legacy);
        client.greet();
        let call = json!({ "name": tool, "arguments": arguments });
        let result = client.request("tools/call", call).unwrap();
        client.close_input();
        client.wait();
        result
    }

    /// Waits until something holds; a failure shows agents, events and logs.
    pub fn until(&self, what: &str, holds: impl FnMut() -> bool) {
        until_or(what, holds, || self.describe());
    }

    /// Makes an agent whose server is dead start another.
    pub fn restart_server(&self, id: &InstanceId) {
        let before = self.log(id, "server").len();
        self.tell(id, &json!({ "restart": true }));
        self.until("a new server", || self.log(id, "server").len() > before);
    }

    /// The calls of a tool that have come to an end, oldest first.
    pub fn recorded(&self, tool: &str) -> Vec<EventRow> {
        let events = self.store().read_now(|r| r.events_after(None, 0, 500));
        let mut events = events.unwrap();
        events.retain(|event| event.name == tool);
        events
    }

    /// What a failed test shows.
    pub fn describe(&self) -> String {
        let mut text = shown(&self.codex(&["list", "--all"]));
        text += &shown(&self.codex(&["events"]));
        for folder in ["script", "state/logs"] {
            for entry in std::fs::read_dir(self.path(folder))
                .into_iter()
                .flatten()
                .flatten()
            {
                let log = std::fs::read_to_string(entry.path()).unwrap_or_default();
                text += &format!("--- {}\n", entry.file_name().to_string_lossy());
                let lines: Vec<&str> = log.lines().collect();
                for line in lines.iter().rev().take(15).rev() {
                    text += &line.chars().take(400).collect::<String>();
                    text.push('\n');
                }
            }
        }
        text
    }

    /// Waits until nothing of an agent is left but its row.
    pub fn until_gone(&self, reviewer: &InstanceId) {
        let worktree = self.instance(reviewer).worktree_path;
        self.until("the reviewer is put away", || {
            !self.has_session(reviewer)
                && !worktree.exists()
                && !self.path("state/agents").join(reviewer.as_str()).exists()
                && self.instance(reviewer).owner.is_none()
        });
    }
}

/// Hands every file below a folder to a check.
fn check_files(path: &Path, found: &impl Fn(&str, &[u8])) {
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            check_files(&path, found);
        } else if kind.is_file() {
            let bytes = std::fs::read(&path).unwrap_or_default();
            found(&path.display().to_string(), &bytes);
        }
    }
}
