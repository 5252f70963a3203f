//! One user with a repository: own home, state and tmux server, and scripted agents.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use shared::model::{Instance, InstanceId, Message, Review, Status};
use shared::store::{EventRow, Store};

/// Two busy cores need this long for what takes a second.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) fn program() -> PathBuf {
    static SERVERS: Once = Once::new();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_claude-codex"));
    SERVERS.call_once(|| {
        let folder = program.parent().unwrap();
        let missing = ["mcp-coding", "mcp-planning", "mcp-review"]
            .iter()
            .any(|name| !folder.join(name).is_file());
        if missing {
            let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
            let mut build = Command::new(cargo);
            build.arg("build");
            for server in ["mcp-coding", "mcp-planning", "mcp-review"] {
                build.args(["-p", server]);
            }
            if folder.ends_with("release") {
                build.arg("--release");
            }
            assert!(
                build.status().is_ok_and(|status| status.success()),
                "the servers must stand beside {}: run `cargo build`",
                program.display()
            );
        }
    });
    program
}

pub(crate) struct Place {
    root: tempfile::TempDir,
    pub(crate) socket: String,
    variables: Vec<(String, String)>,
}

impl Place {
    /// Makes a user whose agents do what the two scripts say: `loop` or `idle`, `changes`, `approve` or `idle`.
    pub(crate) fn new(coder: &str, reviewer: &str) -> Self {
        program();
        let root = tempfile::tempdir().unwrap();
        let mut place = Self {
            root,
            socket: format!("codex-test-{}", uuid::Uuid::new_v4().simple()),
            variables: Vec::new(),
        };
        for folder in ["home", "state", "script", "repo"] {
            std::fs::create_dir(place.path(folder)).unwrap();
        }
        let agent = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/review/agent.py");
        place.set(
            "CODEX_AGENT_COMMAND",
            &format!("python3 '{}'", agent.display()),
        );
        place.set("SCRIPT_CODER", coder);
        place.set("SCRIPT_REVIEWER", reviewer);
        place.git(&["init", "-q", "-b", "main"]);
        std::fs::write(place.path("repo/README.md"), "A project\n").unwrap();
        place.git(&["add", "."]);
        place.git(&["commit", "-q", "-m", "base"]);
        place
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        std::fs::canonicalize(self.root.path()).unwrap().join(name)
    }

    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.path("home"))
            .env("LANG", "C.UTF-8")
            .env("CODEX_STATE_DIR", self.path("state"))
            .env("CODEX_TMUX_SOCKET", &self.socket)
            .env("SCRIPT_DIR", self.path("script"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(["AUTHOR", "COMMITTER"].iter().flat_map(|who| {
                [
                    (format!("GIT_{who}_NAME"), "Test"),
                    (format!("GIT_{who}_EMAIL"), "test@example.invalid"),
                ]
            }))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.path("repo"));
        command
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        text(&self.command(Path::new("git")).args(args).output().unwrap())
    }

    pub(crate) fn tmux(&self, args: &[&str]) -> Output {
        self.tmux_with(&[&["-L", &self.socket], args].concat())
    }

    /// Runs tmux with a socket that is named in the arguments.
    pub(crate) fn tmux_with(&self, args: &[&str]) -> Output {
        let mut command = self.command(Path::new("tmux"));
        command.args(args).output().unwrap()
    }

    pub(crate) fn has_session(&self, id: &InstanceId) -> bool {
        self.tmux(&["has-session", "-t", &format!("={id}")])
            .status
            .success()
    }

    pub(crate) fn codex(&self, args: &[&str]) -> Output {
        self.command(&program()).args(args).output().unwrap()
    }

    /// Starts a command whose standard input is the text.
    pub(crate) fn start(&self, args: &[&str], input: &str) -> Child {
        let mut child = self
            .command(&program())
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        child
    }

    pub(crate) fn send(&self, id: &InstanceId, message: &str) -> Output {
        let child = self.start(&["send", id.as_str(), "-", "--json"], message);
        child.wait_with_output().unwrap()
    }

    /// Launches a coder and waits until its server has spoken.
    pub(crate) fn coder(&self, more: &[&str]) -> InstanceId {
        let args = [&["code", "Do the work", "--json"], more].concat();
        let printed: Value = serde_json::from_str(&text(&self.codex(&args))).unwrap();
        let id: InstanceId = printed["id"].as_str().unwrap().parse().unwrap();
        self.until("the coder is up", || {
            self.instance(&id).status != Status::Started
        });
        id
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.path("state/codex.db")).unwrap()
    }

    pub(crate) fn instance(&self, id: &InstanceId) -> Instance {
        self.store().read_now(|r| r.instance(id)).unwrap()
    }

    pub(crate) fn status(&self, id: &InstanceId) -> Status {
        self.instance(id).status
    }

    pub(crate) fn reviews(&self, id: &InstanceId) -> Vec<Review> {
        self.store().read_now(|r| r.reviews(id)).unwrap()
    }

    pub(crate) fn messages(&self, id: &InstanceId) -> Vec<Message> {
        self.store().read_now(|r| r.messages(id)).unwrap()
    }

    /// What an agent has written down, of one kind.
    pub(crate) fn log(&self, id: &InstanceId, event: &str) -> Vec<Value> {
        let path = self.path("script").join(format!("{id}.log"));
        let lines = std::fs::read_to_string(path).unwrap_or_default();
        lines
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|entry| entry["event"] == event)
            .collect()
    }

    pub(crate) fn received(&self, id: &InstanceId) -> Vec<String> {
        let messages = self.log(id, "message");
        messages
            .iter()
            .map(|entry| entry["text"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Makes an agent do something.
    pub(crate) fn tell(&self, id: &InstanceId, command: &Value) {
        let path = self.path("script").join(format!("{id}.in"));
        let mut file = std::fs::File::options()
            .append(true)
            .create(true)
            .open(path)
            .unwrap();
        writeln!(file, "{command}").unwrap();
    }

    /// Makes an agent call a tool and returns what it was answered.
    pub(crate) fn call(&self, id: &InstanceId, tool: &str, arguments: &Value) -> Value {
        let before = self.log(id, "tool").len();
        self.tell(id, &json!({ "call": tool, "arguments": arguments }));
        self.until(tool, || self.log(id, "tool").len() > before);
        self.log(id, "tool").pop().unwrap()
    }

    /// Makes an agent call `create_pr` and returns what it was answered.
    pub(crate) fn create_pr(&self, id: &InstanceId, title: &str) -> Value {
        let arguments = json!({ "title": title, "description": "What and why." });
        self.call(id, "create_pr", &arguments)
    }

    /// Runs a command of ours with `--json`, which must succeed.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let args = [args, &["--json"]].concat();
        serde_json::from_str(&text(&self.codex(&args))).unwrap()
    }

    /// Runs a command of ours with `--json`, which must fail, and returns the code of its error.
    pub(crate) fn refused(&self, args: &[&str]) -> String {
        let args = [args, &["--json"]].concat();
        let output = self.codex(&args);
        assert!(!output.status.success(), "{}", text_of(&output));
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert!(error["hint"].is_string(), "{error}");
        error["code"].as_str().unwrap().to_owned()
    }

    /// Asserts that secrets are nowhere that an agent, or another user, could read them unasked.
    pub(crate) fn assert_nowhere(&self, secrets: &[&str]) {
        let found = |place: &str, bytes: &[u8]| {
            for secret in secrets {
                let mut parts = bytes.windows(secret.len());
                let there = parts.any(|part| part == secret.as_bytes());
                assert!(!there, "{secret} is in {place}");
            }
        };
        for folder in ["state", "repo", ".codex-worktrees"] {
            look_into(&self.path(folder), &found);
        }
        found("tmux", &self.tmux(&["show-environment", "-g"]).stdout);
        let sessions = self.tmux(&["list-sessions", "-F", "#{session_name}"]);
        for session in String::from_utf8_lossy(&sessions.stdout).lines() {
            let target = format!("={session}");
            let shown = self.tmux(&["show-environment", "-t", &target]);
            found(session, &shown.stdout);
        }
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found("an argument", &line);
        }
    }

    /// Makes git wait in, or refuse, the change of a reference: `body` is what the hook does.
    pub(crate) fn reference_hook(&self, body: &str) {
        let path = self.path("repo/.git/hooks/reference-transaction");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).unwrap();
    }

    pub(crate) fn no_reference_hook(&self) {
        std::fs::remove_file(self.path("repo/.git/hooks/reference-transaction")).unwrap();
    }

    /// Publishes files on a branch of their own, from a person's session in a worktree beside the repository.
    pub(crate) fn publish(&self, branch: &str, files: &[(&str, &str)]) -> Value {
        let folder = self.path(branch);
        let place = folder.to_str().unwrap();
        if !folder.exists() {
            self.git(&["worktree", "add", "-q", "-b", branch, place, "main"]);
        }
        for (file, text) in files {
            let file = folder.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        self.git(&["-C", place, "add", "--all", "--force"]);
        self.git(&["-C", place, "commit", "-q", "-m", branch]);
        self.publish_again(branch)
    }

    /// Publishes what is committed on a branch; returns the result of the call.
    pub(crate) fn publish_again(&self, branch: &str) -> Value {
        let arguments = json!({ "title": branch, "description": "What and why." });
        let answer = self.stranger_in(&self.path(branch), "mcp-coding", "create_pr", &arguments);
        answer["result"].clone()
    }

    /// Makes an agent commit something.
    pub(crate) fn commit(&self, id: &InstanceId, what: &str) {
        let before = self.log(id, "run").len();
        self.tell(id, &json!({ "write": what }));
        self.tell(id, &json!({ "run": ["git", "add", "work.txt"] }));
        self.tell(id, &json!({ "run": ["git", "commit", "-q", "-m", what] }));
        self.until("a commit", || self.log(id, "run").len() >= before + 2);
        let last = self.log(id, "run").pop().unwrap();
        assert_eq!(last["status"], 0, "{last}");
    }

    /// Calls a tool of a server that nobody launched, from the repository, and returns the answer.
    pub(crate) fn stranger(&self, server: &str, tool: &str, arguments: &Value) -> Value {
        self.stranger_in(&self.path("repo"), server, tool, arguments)
    }

    /// Does the same from another folder.
    pub(crate) fn stranger_in(
        &self,
        folder: &Path,
        server: &str,
        tool: &str,
        arguments: &Value,
    ) -> Value {
        let path = program().with_file_name(server);
        let mut command = self.command(&path);
        let mut child = command
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let call = json!({ "name": tool, "arguments": arguments });
        let mut input = child.stdin.take().unwrap();
        for message in [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }),
        ] {
            writeln!(input, "{message}").unwrap();
        }
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut answers = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
        let answer = answers.find(|answer| answer["id"] == 2).unwrap();
        drop(input);
        child.wait().unwrap();
        answer
    }

    pub(crate) fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !holds() {
            assert!(
                Instant::now() < deadline,
                "waited in vain for {what}\n{}",
                self.describe()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Makes an agent whose server is dead start another.
    pub(crate) fn restart_server(&self, id: &InstanceId) {
        let before = self.log(id, "server").len();
        self.tell(id, &json!({ "restart": true }));
        self.until("a new server", || self.log(id, "server").len() > before);
    }

    /// The calls of a tool that have come to an end, oldest first.
    pub(crate) fn recorded(&self, tool: &str) -> Vec<EventRow> {
        let events = self.store().read_now(|r| r.events_after(None, 0, 500));
        let mut events = events.unwrap();
        events.retain(|event| event.name == tool);
        events
    }

    /// What a failed test shows.
    pub(crate) fn describe(&self) -> String {
        let mut text = text_of(&self.codex(&["list", "--all"]));
        text += &text_of(&self.codex(&["events"]));
        for folder in ["script", "state/logs"] {
            for entry in std::fs::read_dir(self.path(folder))
                .into_iter()
                .flatten()
                .flatten()
            {
                let shown = std::fs::read_to_string(entry.path()).unwrap_or_default();
                text += &format!("--- {}\n", entry.file_name().to_string_lossy());
                let lines: Vec<&str> = shown.lines().collect();
                for line in lines.iter().rev().take(15).rev() {
                    text += &line.chars().take(400).collect::<String>();
                    text.push('\n');
                }
            }
        }
        text
    }

    /// Asserts that nothing of a reviewer is left but its row.
    pub(crate) fn is_gone(&self, reviewer: &InstanceId) {
        let worktree = self.instance(reviewer).worktree_path;
        self.until("the reviewer is put away", || {
            !self.has_session(reviewer)
                && !worktree.exists()
                && !self.path("state/agents").join(reviewer.as_str()).exists()
                && self.instance(reviewer).owner.is_none()
        });
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let socket = self.tmux(&["display-message", "-p", "#{socket_path}"]);
        self.tmux(&["kill-server"]);
        // The path is printed by a living server; the complaint about a dead one names it too.
        let printed = text_of(&socket);
        let path = printed
            .split_whitespace()
            .find(|word| word.starts_with('/'));
        if let Some(path) = path {
            let deadline = Instant::now() + Duration::from_secs(5);
            while std::os::unix::net::UnixStream::connect(path).is_ok() && Instant::now() < deadline
            {
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = std::fs::remove_file(path);
        }
    }
}

fn text_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Returns what a command printed, which must have succeeded.
pub(crate) fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", text_of(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn kill(pid: u64) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    // Gone already is what is wanted.
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
}

fn look_into(path: &Path, found: &impl Fn(&str, &[u8])) {
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            look_into(&path, found);
        } else if kind.is_file() {
            let bytes = std::fs::read(&path).unwrap_or_default();
            found(&path.display().to_string(), &bytes);
        }
    }
}
