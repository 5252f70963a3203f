//! The examples do what they say.

use shared::model::{MessageState, Status};
use tests::AgentEnv;

use crate::delivery::sent;

#[test]
fn an_agent_of_thirty_lines_publishes_its_work_and_takes_messages() {
    let mut env = AgentEnv::new("idle", "idle");
    let agent = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/agent.py");
    env.set(
        "CODEX_AGENT_COMMAND",
        format!("python3 '{}'", agent.display()),
    );
    env.set("CODEX_RESOURCES_CLEANUP", "manual");
    let coder = env.coder(&[]);
    env.until("it is published", || {
        env.status(&coder) == Status::PrCreated
    });
    let diff = env.codex(&["pr", "diff", "1"]);
    let diff = String::from_utf8_lossy(&diff.stdout).into_owned();
    assert!(diff.contains("+Do the work"), "{diff}");
    // Without a review it can't publish, so it goes on, and can be told something.
    let coder = env.coder(&["--require-review"]);
    // A line that is longer than a terminal keeps for a program, among others.
    let long = "and on ".repeat(900);
    for text in ["one line", &format!("several\n\nlines\n{long}\nthe end")] {
        let sent = sent(&env, &coder, text);
        assert_eq!(sent["delivered"], true, "{sent}");
    }
    for message in env.messages(&coder) {
        assert_eq!(message.state, MessageState::Taken, "{message:?}");
    }
}

#[test]
fn the_settings_name_hooks_that_exist() {
    let text = include_str!("../../../examples/claude-settings.json");
    let settings: serde_json::Value = serde_json::from_str(text).unwrap();
    let hooks = settings["hooks"].as_object().unwrap();
    for (event, entries) in hooks {
        let command = entries[0]["hooks"][0]["command"].as_str().unwrap();
        assert_eq!(command, format!("claude-codex hook {event}"));
    }
}
