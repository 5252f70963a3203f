//! A clock that steps, for every program of one place: commands, servers, agents, git and tmux.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::AgentEnv;

pub(super) struct Clock {
    file: PathBuf,
    /// Seconds by which it is ahead.
    ahead: Cell<i64>,
}

impl Clock {
    /// Gives a place a clock of its own.
    pub(super) fn of(env: &mut AgentEnv) -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/review/schedules/clock.c");
        let library = env.path("clock.so");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&library, &source])
            .arg("-ldl")
            .status();
        let file = env.path("clock");
        assert!(compiled.is_ok_and(|status| status.success()), "cc failed");
        env.set("SCHEDULE_CLOCK", file.display().to_string());
        env.set("LD_PRELOAD", library.display().to_string());
        Self {
            file,
            ahead: Cell::new(0),
        }
    }

    pub(super) fn step(&self, hours: i64) {
        self.ahead.set(self.ahead.get() + hours * 3600);
        // In one step: nobody reads half a number.
        let new = self.file.with_extension("new");
        std::fs::write(&new, self.ahead.get().to_string()).unwrap();
        std::fs::rename(new, &self.file).unwrap();
    }
}

#[test]
fn a_step_is_seen_by_commands_and_by_servers() {
    let mut env = AgentEnv::new("idle", "idle");
    let clock = Clock::of(&mut env);
    let before = env.instance(&env.coder(&[])).created_at;
    clock.step(25);
    let coder = env.coder(&[]);
    let after = env.instance(&coder).created_at;
    assert!(before.date() < after.date(), "{before} {after}");
    let last = env.log(&coder, "ready").pop().unwrap();
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
    assert!(last["at"].as_f64().unwrap() > now + 24.0 * 3600.0, "{last}");
    clock.step(-26);
    let event = env.instance(&env.coder(&[])).created_at;
    assert!(event < before, "{before} {event}");
}
