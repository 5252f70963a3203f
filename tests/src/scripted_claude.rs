//! The real Claude Code with a scripted model, for what scripted agents can't prove.

use std::path::PathBuf;

use scripted_model::{Model, Rule};

use crate::environment::TestEnv;

/// Claude Code, and the model that answers it.
#[derive(Debug)]
pub struct ScriptedClaude {
    /// The binary that `CODEX_TEST_CLAUDE` names.
    pub program: PathBuf,
    pub model: Model,
}

impl ScriptedClaude {
    /// Starts a model for Claude Code; where `CODEX_TEST_CLAUDE` does not name a binary, says that the test is skipped.
    pub fn start(rules: Vec<Rule>) -> Option<Self> {
        let Some(program) = std::env::var_os("CODEX_TEST_CLAUDE").map(PathBuf::from) else {
            eprintln!("SKIPPED: CODEX_TEST_CLAUDE does not name a claude binary");
            return None;
        };
        assert!(program.is_file(), "no Claude Code at {}", program.display());
        let model = Model::on_thread(rules).unwrap();
        Some(Self { program, model })
    }

    /// Makes it the agent of an environment.
    pub fn install(&self, env: &mut TestEnv) {
        env.set("CODEX_AGENT_COMMAND", "");
        env.set("CODEX_CLAUDE", self.program.to_string_lossy());
        for (name, value) in self.model.claude_variables() {
            env.set(name, value);
        }
    }
}
