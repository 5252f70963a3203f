//! The real Claude Code with a scripted model: what scripted agents can't prove.
//!
//! Runs where `CODEX_TEST_CLAUDE` names a claude binary; else each test says that it was skipped.

mod adopted;
mod boxes;
mod delivery;
mod demo;
mod dialogs;
mod early_death;
mod hostile;
mod nested;
mod planning;
mod plugin;
mod usage;
mod waiting;
mod whole_loop;

use std::ops::{Deref, DerefMut};

use scripted_model::Rule;
use shared::model::{InstanceId, MessageState, Status};
use tests::{AgentEnv, ScriptedClaude};

/// An `AgentEnv` whose agents are Claude Code.
struct ClaudeEnv {
    env: AgentEnv,
    claude: ScriptedClaude,
}

impl Deref for ClaudeEnv {
    type Target = AgentEnv;

    fn deref(&self) -> &AgentEnv {
        &self.env
    }
}

impl DerefMut for ClaudeEnv {
    fn deref_mut(&mut self) -> &mut AgentEnv {
        &mut self.env
    }
}

impl ClaudeEnv {
    /// Makes a user with Claude Code, or says why not.
    fn new(rules: Vec<Rule>) -> Option<Self> {
        let claude = ScriptedClaude::start(rules)?;
        let mut env = AgentEnv::new("idle", "idle");
        claude.install(&mut env);
        env.text(&["trust", "--yes"]);
        Some(Self { env, claude })
    }

    fn allow(&self, rule: &str) {
        let folder = self.path("home/.config/claude-codex");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(
            folder.join("config.toml"),
            format!("[agent]\nallow = [\"{rule}\"]\n"),
        )
        .unwrap();
    }

    fn coder(&self, prompt: &str) -> InstanceId {
        let printed = self.json(&["code", prompt]);
        let id: InstanceId = printed["id"].as_str().unwrap().parse().unwrap();
        self.until("it is up", || self.status(&id) == Status::Running);
        id
    }

    fn screen(&self, id: &InstanceId) -> String {
        let output = self.tmux(&["capture-pane", "-p", "-t", &format!("={id}:")]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn until_shows(&self, id: &InstanceId, what: &str) {
        self.until(what, || self.screen(id).contains(what));
    }

    /// Waits until Claude Code itself says that it is at its prompt.
    fn until_idle(&self, id: &InstanceId) {
        self.until("it is idle", || {
            let listed = self.json(&["list"]);
            let agents = listed.as_array().unwrap();
            let agent = agents.iter().find(|agent| agent["id"] == id.as_str());
            agent.is_some_and(|agent| agent["activity"]["state"] == "idle")
        });
    }

    fn press(&self, id: &InstanceId, keys: &[&str]) {
        let target = format!("={id}:");
        let args = [&["send-keys", "-t", &target], keys].concat();
        assert!(self.tmux(&args).status.success());
    }

    /// How often a text stands in the newest request of a conversation that has it at all.
    fn told(&self, what: &str) -> usize {
        let conversations = self.claude.model.conversations();
        let last = conversations
            .iter()
            .rfind(|request| request.to_string().contains(what));
        last.map_or(0, |request| {
            request["messages"].to_string().matches(what).count()
        })
    }

    fn until_taken(&self, id: &InstanceId) {
        self.until("it is taken", || {
            let messages = self.messages(id);
            !messages.is_empty()
                && messages
                    .iter()
                    .all(|message| message.state == MessageState::Taken)
        });
    }
}
