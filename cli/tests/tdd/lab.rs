//! A user with a specification and scripted agents.

use std::path::{Path, PathBuf};
use std::process::{Child, Output};

use serde_json::Value;
use shared::model::InstanceId;

use crate::support::Place;

pub(crate) const SPEC: &str = "# Greeting\n\nThe program greets by name.\n";

pub(crate) struct Lab {
    pub(crate) place: Place,
}

impl Lab {
    /// Makes a user whose agents take their turns as the scripts say.
    pub(crate) fn new(coder: &str, reviewer: &str) -> Self {
        let mut place = Place::new(coder, reviewer);
        let agent = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tdd/agent.py");
        place.set(
            "CODEX_AGENT_COMMAND",
            &format!("python3 '{}'", agent.display()),
        );
        std::fs::write(place.path("SPEC.md"), SPEC).unwrap();
        Self { place }
    }

    pub(crate) fn spec(&self) -> String {
        self.place.path("SPEC.md").to_str().unwrap().to_owned()
    }

    /// Begins a run and waits for its result.
    pub(crate) fn tdd(&self, more: &[&str]) -> Value {
        let spec = self.spec();
        let args = [&["tdd", &spec, "--json"], more].concat();
        result(&self.place.codex(&args))
    }

    pub(crate) fn resume(&self, id: &InstanceId, more: &[&str]) -> Value {
        let args = [&["tdd", "resume", id.as_str(), "--json"], more].concat();
        result(&self.place.codex(&args))
    }

    /// Begins a run and leaves it at work.
    pub(crate) fn begin(&self, more: &[&str]) -> (Child, InstanceId) {
        let known = self.runs().len();
        let spec = self.spec();
        let args = [&["tdd", &spec, "--json"], more].concat();
        let child = self.place.start(&args, "");
        self.place
            .until("the run is recorded", || self.runs().len() > known);
        let id = self.runs().pop().unwrap();
        (child, id)
    }

    pub(crate) fn runs(&self) -> Vec<InstanceId> {
        let runs = self.place.store().read_now(|r| r.tdd_runs(100)).unwrap();
        runs.into_iter().map(|run| run.task_id).collect()
    }

    pub(crate) fn show(&self, id: &InstanceId) -> Value {
        self.place.json(&["tdd", "show", id.as_str()])
    }

    /// What an agent was told in its n-th turn.
    pub(crate) fn told(&self, who: &str, turn: usize) -> String {
        std::fs::read_to_string(self.script(&format!("{who}-{turn}"))).unwrap_or_default()
    }

    pub(crate) fn turns(&self, who: &str) -> usize {
        (1..1_000)
            .take_while(|turn| self.script(&format!("{who}-{turn}")).exists())
            .count()
    }

    pub(crate) fn script(&self, name: &str) -> PathBuf {
        self.place.path("script").join(name)
    }

    /// Lets the agent go on that waits.
    pub(crate) fn go(&self) {
        std::fs::write(self.script("go"), "").unwrap();
    }

    pub(crate) fn waits(&self, who: &str) {
        self.place.until("an agent waits", || {
            self.script(&format!("{who}.waits")).exists()
        });
    }

    /// Asserts that neither session nor files of the run's agents are left.
    pub(crate) fn nothing_runs(&self) {
        self.place.until("all sessions are gone", || {
            let sessions = self.place.tmux(&["list-sessions", "-F", "#{session_name}"]);
            let agents = std::fs::read_dir(self.place.path("state/agents"));
            sessions.stdout.is_empty() && agents.map_or(0, Iterator::count) == 0
        });
    }

    /// The one pull request there is.
    pub(crate) fn pull(&self) -> Value {
        let pulls = self.place.json(&["pr", "list", "--state", "all"]);
        assert_eq!(pulls.as_array().unwrap().len(), 1, "{pulls}");
        pulls[0].clone()
    }
}

/// Reads the result of a run, which may have failed, but not otherwise than as a run.
pub(crate) fn result(output: &Output) -> Value {
    let shown = || {
        format!(
            "{}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    };
    let result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", shown()));
    assert_eq!(result["success"], output.status.success(), "{}", shown());
    result
}

pub(crate) fn id_of(result: &Value) -> InstanceId {
    result["taskId"].as_str().unwrap().parse().unwrap()
}
