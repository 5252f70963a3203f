//! An `AgentEnv` with a specification, whose agents take the turns of TDD runs.

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::process::{Child, Output};

use serde_json::Value;
use shared::model::InstanceId;
use tests::{AgentEnv, shown};

pub(crate) const SPEC: &str = "# Greeting\n\nThe program greets by name.\n";

pub(crate) struct TddEnv(AgentEnv);

impl Deref for TddEnv {
    type Target = AgentEnv;

    fn deref(&self) -> &AgentEnv {
        &self.0
    }
}

impl DerefMut for TddEnv {
    fn deref_mut(&mut self) -> &mut AgentEnv {
        &mut self.0
    }
}

impl TddEnv {
    /// Makes a user whose agents take their turns as the scripts say.
    pub(crate) fn new(coder: &str, reviewer: &str) -> Self {
        let mut env = AgentEnv::new(coder, reviewer);
        env.use_agent("tdd_agent.py");
        std::fs::write(env.path("SPEC.md"), SPEC).unwrap();
        Self(env)
    }

    pub(crate) fn spec(&self) -> String {
        self.path("SPEC.md").to_str().unwrap().to_owned()
    }

    /// Begins a run and waits for its result.
    pub(crate) fn tdd(&self, more: &[&str]) -> Value {
        let spec = self.spec();
        let args = [&["tdd", &spec, "--json"], more].concat();
        result(&self.codex(&args))
    }

    pub(crate) fn resume(&self, id: &InstanceId, more: &[&str]) -> Value {
        let args = [&["tdd", "resume", id.as_str(), "--json"], more].concat();
        result(&self.codex(&args))
    }

    /// Begins a run and leaves it at work.
    pub(crate) fn begin(&self, more: &[&str]) -> (Child, InstanceId) {
        let known = self.runs().len();
        let spec = self.spec();
        let args = [&["tdd", &spec, "--json"], more].concat();
        let child = self.start(&args, "");
        self.until("the run is recorded", || self.runs().len() > known);
        let id = self.runs().pop().unwrap();
        (child, id)
    }

    pub(crate) fn runs(&self) -> Vec<InstanceId> {
        let runs = self.store().read_now(|r| r.tdd_runs(100)).unwrap();
        runs.into_iter().map(|run| run.task_id).collect()
    }

    pub(crate) fn show(&self, id: &InstanceId) -> Value {
        self.json(&["tdd", "show", id.as_str()])
    }

    /// Returns the prompt of an agent's n-th turn.
    pub(crate) fn told(&self, who: &str, turn: usize) -> String {
        std::fs::read_to_string(self.script(&format!("{who}-{turn}"))).unwrap_or_default()
    }

    pub(crate) fn turns(&self, who: &str) -> usize {
        (1..1_000)
            .take_while(|turn| self.script(&format!("{who}-{turn}")).exists())
            .count()
    }

    pub(crate) fn script(&self, name: &str) -> PathBuf {
        self.path("script").join(name)
    }

    /// Lets the waiting agent go on.
    pub(crate) fn go(&self) {
        std::fs::write(self.script("go"), "").unwrap();
    }

    pub(crate) fn until_waits(&self, who: &str) {
        self.until("an agent waits", || {
            self.script(&format!("{who}.waits")).exists()
        });
    }

    /// Waits until neither session nor files of the run's agents are left.
    pub(crate) fn until_nothing_runs(&self) {
        self.until("all sessions are gone", || {
            let agents = std::fs::read_dir(self.path("state/agents"));
            self.sessions().is_empty() && agents.map_or(0, Iterator::count) == 0
        });
    }

    /// Returns the only pull request.
    pub(crate) fn pull(&self) -> Value {
        let pulls = self.json(&["pr", "list", "--state", "all"]);
        assert_eq!(pulls.as_array().unwrap().len(), 1, "{pulls}");
        pulls[0].clone()
    }
}

/// Reads the JSON of a run that has come to its end, whether it succeeded or not.
pub(crate) fn result(output: &Output) -> Value {
    let result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", shown(output)));
    assert_eq!(
        result["success"],
        output.status.success(),
        "{}",
        shown(output)
    );
    result
}

pub(crate) fn id_of(result: &Value) -> InstanceId {
    result["taskId"].as_str().unwrap().parse().unwrap()
}
