//! One user with a repository and a Claude Code session: its hooks are called as Claude Code would.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use shared::model::Phase;
use shared::store::{PhaseRow, Store};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_claude-codex");
pub(crate) const SESSION: &str = "0b2f6a52-6a3c-4c6e-9d3e-0a1b2c3d4e5f";

pub(crate) struct Place {
    root: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

impl Place {
    /// Makes a repository with these files, committed.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let place = Self {
            root: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
        };
        for folder in ["home", "state", "repo", "tools"] {
            std::fs::create_dir(place.path(folder)).unwrap();
        }
        place.git(&["init", "-q", "-b", "main"]);
        for (name, text) in files {
            place.write(name, text);
        }
        place.git(&["add", "-A"]);
        place.git(&["commit", "-q", "--allow-empty", "-m", "base"]);
        place
    }

    /// A Rust project whose compiler and tests say what the test wants: nothing and success to begin with.
    pub(crate) fn scripted() -> Self {
        let place = Self::with(&[
            ("Cargo.toml", "[package]\nname = \"sample\"\n"),
            ("src/lib.rs", LIBRARY),
            ("tests/all.rs", "#[test]\nfn one() {}\n"),
            ("README.md", "A project\n"),
        ]);
        let run = |name: &str| {
            let tools = place.path("tools");
            let script = format!(
                "cat '{0}/{name}.out'; exit $(cat '{0}/{name}.code')",
                tools.display()
            );
            place.says(name, "", 0);
            json!(["sh", "-c", script])
        };
        let said = json!({ "profile": "cargo", "compileCommand": run("compile"), "testCommand": run("test") });
        place.write(".claude-codex/tdd.json", &said.to_string());
        place.git(&["add", "-A"]);
        place.git(&["commit", "-q", "-m", "profile"]);
        place
    }

    /// Makes the scripted `compile` or `test` print something and end with a status.
    pub(crate) fn says(&self, name: &str, output: &str, code: i32) {
        let tools = self.path("tools");
        std::fs::write(tools.join(format!("{name}.out")), output).unwrap();
        std::fs::write(tools.join(format!("{name}.code")), code.to_string()).unwrap();
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.path("repo")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.repo().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        if name.starts_with(".claude-codex/") {
            // What is here is the person's own.
            let trusted = self.codex(&["trust", "--yes"]);
            assert!(trusted.status.success(), "{trusted:?}");
        }
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.repo().join(name)).unwrap()
    }

    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.path("home"))
            .env("CODEX_STATE_DIR", self.path("state"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "Test")
            .env("GIT_AUTHOR_EMAIL", "test@example.com")
            .env("GIT_COMMITTER_NAME", "Test")
            .env("GIT_COMMITTER_EMAIL", "test@example.com")
            .current_dir(self.repo())
            .stdin(Stdio::null());
        // Compilers live in the user's own folders.
        for name in [
            "CARGO_HOME",
            "RUSTUP_HOME",
            "RUSTUP_TOOLCHAIN",
            "PYENV_ROOT",
        ] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        if let Some(home) = std::env::var_os("HOME").map(PathBuf::from) {
            for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
                if std::env::var_os(name).is_none() && home.join(folder).is_dir() {
                    command.env(name, home.join(folder));
                }
            }
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn git(&self, words: &[&str]) -> String {
        let output = self.command("git").args(words).output().unwrap();
        assert!(output.status.success(), "git {words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn codex(&self, words: &[&str]) -> Output {
        self.command(PROGRAM).args(words).output().unwrap()
    }

    /// Starts a hook with its payload.
    pub(crate) fn start_hook(&self, event: &str, payload: &[u8]) -> Child {
        let mut child = self
            .command(PROGRAM)
            .args(["hook", event, "--tdd"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // One that has nothing to say may end before it has read all.
        let _ = child.stdin.take().unwrap().write_all(payload);
        child
    }

    /// Calls a hook with raw bytes; it always succeeds. Null if it prints nothing.
    pub(crate) fn raw_hook(&self, event: &str, payload: &[u8]) -> Value {
        let output = self.start_hook(event, payload).wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
        if output.stdout.is_empty() {
            return Value::Null;
        }
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    pub(crate) fn payload(&self, session: &str, event: &str, rest: &Value) -> Value {
        let mut payload = json!({
            "session_id": session, "transcript_path": "/nowhere", "cwd": self.repo(), "hook_event_name": event,
        });
        for (name, value) in rest.as_object().unwrap() {
            payload[name] = value.clone();
        }
        payload
    }

    pub(crate) fn hook_of(&self, session: &str, event: &str, rest: &Value) -> Value {
        let payload = self.payload(session, event, rest);
        self.raw_hook(event, payload.to_string().as_bytes())
    }

    pub(crate) fn hook(&self, event: &str, rest: &Value) -> Value {
        self.hook_of(SESSION, event, rest)
    }

    /// The person types something, some time after the agent's turn.
    pub(crate) fn prompt(&self, text: &str) -> Value {
        if self.path("state/codex.db").exists() {
            let rested = self.store().write_now(|w| w.set_phase_turn(SESSION, false));
            rested.unwrap();
        }
        self.prompt_at_once(text)
    }

    /// Something is heard at once, as what was typed during a turn is.
    pub(crate) fn prompt_at_once(&self, text: &str) -> Value {
        self.hook("UserPromptSubmit", &json!({ "prompt": text }))
    }

    /// The agent wants to use a tool; returns why it is refused.
    pub(crate) fn denied(&self, tool: &str, input: &Value) -> Option<String> {
        let answer = self.hook(
            "PreToolUse",
            &json!({ "tool_name": tool, "tool_input": input }),
        );
        if answer.is_null() {
            return None;
        }
        let specific = &answer["hookSpecificOutput"];
        assert_eq!(specific["permissionDecision"], "deny", "{answer}");
        Some(
            specific["permissionDecisionReason"]
                .as_str()
                .unwrap()
                .to_owned(),
        )
    }

    pub(crate) fn write_denied(&self, name: &str, content: &str) -> Option<String> {
        let path = self.repo().join(name);
        self.denied("Write", &json!({ "file_path": path, "content": content }))
    }

    /// The agent ran a shell command, really; returns what it is told.
    pub(crate) fn bash(&self, line: &str) -> Option<String> {
        let input = json!({ "command": line });
        if let Some(reason) = self.denied("Bash", &input) {
            return Some(format!("DENIED {reason}"));
        }
        let done = self.command("sh").args(["-c", line]).output().unwrap();
        let event = if done.status.success() {
            "PostToolUse"
        } else {
            "PostToolUseFailure"
        };
        let answer = self.hook(event, &json!({ "tool_name": "Bash", "tool_input": input }));
        context(&answer)
    }

    /// The agent edited a file; returns what it is told.
    pub(crate) fn edited(&self, name: &str) -> Option<String> {
        let input = json!({ "file_path": self.repo().join(name) });
        let answer = self.hook(
            "PostToolUse",
            &json!({ "tool_name": "Write", "tool_input": input }),
        );
        context(&answer)
    }

    /// The agent's turn ends; `goes_on` if a hook has prolonged it before.
    pub(crate) fn stop(&self, goes_on: bool) -> Value {
        self.hook("Stop", &json!({ "stop_hook_active": goes_on }))
    }

    /// The turn's end must be refused; returns why.
    pub(crate) fn blocked(&self, goes_on: bool) -> String {
        let answer = self.stop(goes_on);
        assert_eq!(answer["decision"], "block", "{answer}");
        answer["reason"].as_str().unwrap().to_owned()
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.path("state/codex.db")).unwrap()
    }

    pub(crate) fn row(&self) -> Option<PhaseRow> {
        let store = self.store();
        store.read_now(|r| r.phase(&self.repo(), SESSION)).unwrap()
    }

    pub(crate) fn phase(&self) -> Phase {
        self.row().unwrap().phase
    }

    /// A person begins with a phase.
    pub(crate) fn begin(&self, phase: Phase) {
        let answer = self.prompt(&format!("/tdd start {phase}"));
        assert!(context(&answer).is_some(), "{answer}");
        assert_eq!(self.phase(), phase);
    }
}

/// What the model is told along.
pub(crate) fn context(answer: &Value) -> Option<String> {
    answer["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .map(str::to_owned)
}

pub(crate) const LIBRARY: &str = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 1), 2);\n    }\n}\n";
