//! A `TestEnv` with a Claude Code session in TDD phases: its hooks are called as Claude Code would.

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::process::Child;

use serde_json::{Value, json};
use shared::model::Phase;
use shared::store::PhaseRow;

use crate::environment::{TestEnv, feed};

/// The Claude Code session whose hooks are called.
pub const SESSION: &str = "0b2f6a52-6a3c-4c6e-9d3e-0a1b2c3d4e5f";

/// The library of [`PhaseEnv::scripted`].
pub const LIBRARY: &str = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 1), 2);\n    }\n}\n";

/// One user with a repository and a Claude Code session.
#[derive(Debug)]
pub struct PhaseEnv(TestEnv);

impl Deref for PhaseEnv {
    type Target = TestEnv;

    fn deref(&self) -> &TestEnv {
        &self.0
    }
}

impl DerefMut for PhaseEnv {
    fn deref_mut(&mut self) -> &mut TestEnv {
        &mut self.0
    }
}

impl PhaseEnv {
    /// Makes a repository with these files, committed.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let mut env = Self(TestEnv::with_empty_repository("repo"));
        for folder in ["state", "tools"] {
            std::fs::create_dir(env.path(folder)).unwrap();
        }
        env.pass_on_toolchains();
        for (name, text) in files {
            env.write(name, text);
        }
        env.commit_all("base");
        env
    }

    /// Sets the variables that lead to compilers, which live in the folders of the user who runs the tests.
    fn pass_on_toolchains(&mut self) {
        for name in ["RUSTUP_TOOLCHAIN", "PYENV_ROOT"] {
            if let Ok(value) = std::env::var(name) {
                self.set(name, value);
            }
        }
        let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            let usual = || Some(home.join(folder)).filter(|folder| folder.is_dir());
            if let Some(folder) = std::env::var_os(name).map(PathBuf::from).or_else(usual) {
                self.set(name, folder.to_string_lossy());
            }
        }
    }

    /// A Rust project whose compiler and tests say what the test wants: nothing and success to begin with.
    pub fn scripted() -> Self {
        let env = Self::with(&[
            ("Cargo.toml", "[package]\nname = \"sample\"\n"),
            ("src/lib.rs", LIBRARY),
            ("tests/all.rs", "#[test]\nfn one() {}\n"),
            ("README.md", "A project\n"),
        ]);
        let run = |name: &str| {
            let tools = env.path("tools");
            let script = format!(
                "cat '{0}/{name}.out'; exit $(cat '{0}/{name}.code')",
                tools.display()
            );
            env.script_tool(name, "", 0);
            json!(["sh", "-c", script])
        };
        let said = json!({ "profile": "cargo", "compileCommand": run("compile"), "testCommand": run("test") });
        env.write(".claude-codex/tdd.json", &said.to_string());
        env.commit_all("profile");
        env
    }

    /// Makes the scripted `compile` or `test` print something and end with a status.
    pub fn script_tool(&self, name: &str, output: &str, code: i32) {
        let tools = self.path("tools");
        std::fs::write(tools.join(format!("{name}.out")), output).unwrap();
        std::fs::write(tools.join(format!("{name}.code")), code.to_string()).unwrap();
    }

    /// Writes a file of the repository, and trusts the settings if it is one of them.
    pub fn write(&self, name: &str, text: &str) {
        self.0.write(name, text);
        if name.starts_with(".claude-codex/") {
            self.text(&["trust", "--yes"]);
        }
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.repository().join(name)).unwrap()
    }

    /// Starts a hook with its payload.
    pub fn start_hook(&self, event: &str, payload: &[u8]) -> Child {
        feed(&mut self.codex_command(&["hook", event, "--tdd"]), payload)
    }

    /// Calls a hook with raw bytes; it always succeeds. Null if it prints nothing.
    pub fn raw_hook(&self, event: &str, payload: &[u8]) -> Value {
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

    pub fn payload(&self, session: &str, event: &str, rest: &Value) -> Value {
        let mut payload = json!({
            "session_id": session, "transcript_path": "/nowhere", "cwd": self.repository(), "hook_event_name": event,
        });
        for (name, value) in rest.as_object().unwrap() {
            payload[name] = value.clone();
        }
        payload
    }

    pub fn hook_of(&self, session: &str, event: &str, rest: &Value) -> Value {
        let payload = self.payload(session, event, rest);
        self.raw_hook(event, payload.to_string().as_bytes())
    }

    pub fn hook(&self, event: &str, rest: &Value) -> Value {
        self.hook_of(SESSION, event, rest)
    }

    /// The person types something, some time after the agent's turn.
    pub fn prompt(&self, text: &str) -> Value {
        if self.database().exists() {
            let rested = self.store().write_now(|w| w.set_phase_turn(SESSION, false));
            rested.unwrap();
        }
        self.prompt_at_once(text)
    }

    /// Something is heard at once, as what was typed during a turn is.
    pub fn prompt_at_once(&self, text: &str) -> Value {
        self.hook("UserPromptSubmit", &json!({ "prompt": text }))
    }

    /// The agent wants to use a tool; returns why it is refused.
    pub fn denied(&self, tool: &str, input: &Value) -> Option<String> {
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

    pub fn write_denied(&self, name: &str, content: &str) -> Option<String> {
        let path = self.repository().join(name);
        self.denied("Write", &json!({ "file_path": path, "content": content }))
    }

    /// The agent ran a shell command, really; returns what it is told.
    pub fn bash(&self, line: &str) -> Option<String> {
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
    pub fn edited(&self, name: &str) -> Option<String> {
        let input = json!({ "file_path": self.repository().join(name) });
        let answer = self.hook(
            "PostToolUse",
            &json!({ "tool_name": "Write", "tool_input": input }),
        );
        context(&answer)
    }

    /// The agent's turn ends; `goes_on` if a hook has prolonged it before.
    pub fn stop(&self, goes_on: bool) -> Value {
        self.hook("Stop", &json!({ "stop_hook_active": goes_on }))
    }

    /// The turn's end must be refused; returns why.
    pub fn blocked(&self, goes_on: bool) -> String {
        let answer = self.stop(goes_on);
        assert_eq!(answer["decision"], "block", "{answer}");
        answer["reason"].as_str().unwrap().to_owned()
    }

    pub fn row(&self) -> Option<PhaseRow> {
        let store = self.store();
        store
            .read_now(|r| r.phase(self.repository(), SESSION))
            .unwrap()
    }

    pub fn phase(&self) -> Phase {
        self.row().unwrap().phase
    }

    /// A person begins with a phase.
    pub fn begin(&self, phase: Phase) {
        let answer = self.prompt(&format!("/tdd start {phase}"));
        assert!(context(&answer).is_some(), "{answer}");
        assert_eq!(self.phase(), phase);
    }
}

/// What the model is told along.
pub fn context(answer: &Value) -> Option<String> {
    answer["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .map(str::to_owned)
}
