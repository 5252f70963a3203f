//! The real Claude Code with a scripted model: what scripted agents can't prove.
//!
//! Runs where `CODEX_TEST_CLAUDE` names a claude binary; else each test says that it was skipped.

mod adopted;
mod boxes;
mod delivery;
mod demo;
mod hostile;
mod nested;
mod planning;
mod whole_loop;

use std::path::PathBuf;

use scripted_model::{Answer, Model, Rule};
use serde_json::{Value, json};
use shared::model::{InstanceId, MessageState, Status};

use crate::support::{Place, text};

struct Lab {
    place: Place,
    model: Model,
    claude: PathBuf,
}

impl Lab {
    /// Makes a user with Claude Code, or says why not.
    fn new(rules: Vec<Rule>) -> Option<Self> {
        let Some(claude) = std::env::var_os("CODEX_TEST_CLAUDE").map(PathBuf::from) else {
            eprintln!("SKIPPED: CODEX_TEST_CLAUDE does not name a claude binary");
            return None;
        };
        assert!(claude.is_file(), "no Claude Code at {}", claude.display());
        let model = start(rules);
        let mut place = Place::new("idle", "idle");
        place.set("CODEX_AGENT_COMMAND", "");
        place.set("CODEX_CLAUDE", claude.to_str().unwrap());
        for (name, value) in model_variables(&model) {
            place.set(&name, &value);
        }
        text(&place.codex(&["trust", "--yes"]));
        Some(Self {
            place,
            model,
            claude,
        })
    }

    /// What points Claude Code at the model.
    fn variables(&self) -> Vec<(String, String)> {
        model_variables(&self.model)
    }

    fn allow(&self, rule: &str) {
        let folder = self.place.path("home/.config/claude-codex");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(
            folder.join("config.toml"),
            format!("[agent]\nallow = [\"{rule}\"]\n"),
        )
        .unwrap();
    }

    fn coder(&self, prompt: &str) -> InstanceId {
        let printed = text(&self.place.codex(&["code", prompt, "--json"]));
        let printed: Value = serde_json::from_str(&printed).unwrap();
        let id: InstanceId = printed["id"].as_str().unwrap().parse().unwrap();
        self.place
            .until("it is up", || self.place.status(&id) == Status::Running);
        id
    }

    fn screen(&self, id: &InstanceId) -> String {
        let output = self
            .place
            .tmux(&["capture-pane", "-p", "-t", &format!("={id}:")]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn shows(&self, id: &InstanceId, what: &str) {
        self.place.until(what, || self.screen(id).contains(what));
    }

    /// Waits until Claude Code itself says that it is at its prompt.
    fn idle(&self, id: &InstanceId) {
        self.place.until("it is idle", || {
            let listed = text(&self.place.codex(&["list", "--json"]));
            let listed: Value = serde_json::from_str(&listed).unwrap();
            let agents = listed.as_array().unwrap();
            let agent = agents.iter().find(|agent| agent["id"] == id.as_str());
            agent.is_some_and(|agent| agent["activity"]["state"] == "idle")
        });
    }

    fn press(&self, id: &InstanceId, keys: &[&str]) {
        let target = format!("={id}:");
        let args = [&["send-keys", "-t", &target], keys].concat();
        assert!(self.place.tmux(&args).status.success());
    }

    /// How often a text stands in the newest request of a conversation that has it at all.
    fn told(&self, what: &str) -> usize {
        let conversations = self.model.conversations();
        let last = conversations
            .iter()
            .rfind(|request| request.to_string().contains(what));
        last.map_or(0, |request| {
            request["messages"].to_string().matches(what).count()
        })
    }

    fn taken(&self, id: &InstanceId) {
        self.place.until("it is taken", || {
            let messages = self.place.messages(id);
            !messages.is_empty()
                && messages
                    .iter()
                    .all(|message| message.state == MessageState::Taken)
        });
    }
}

fn model_variables(model: &Model) -> Vec<(String, String)> {
    let quiet = [
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
        "DISABLE_AUTOUPDATER",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    ];
    let mut variables: Vec<(String, String)> = quiet
        .iter()
        .map(|name| ((*name).to_owned(), "1".to_owned()))
        .collect();
    variables.push(("ANTHROPIC_BASE_URL".to_owned(), model.url()));
    variables.push(("ANTHROPIC_AUTH_TOKEN".to_owned(), "dummy-token".to_owned()));
    variables
}

/// Runs the model on a thread of its own.
fn start(rules: Vec<Rule>) -> Model {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            sender
                .send(Model::start(rules, None, 0).await.unwrap())
                .ok()
                .unwrap();
            std::future::pending::<()>().await;
        });
    });
    receiver.recv().unwrap()
}

fn bash(command: &str) -> Answer {
    Answer::tool("Bash", json!({ "command": command, "description": "d" }))
}
