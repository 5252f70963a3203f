//! The examples do what they say.

use shared::model::Status;

use crate::support::Place;

#[test]
fn an_agent_of_twenty_lines_publishes_its_work() {
    let mut place = Place::new("idle", "idle");
    let agent = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/agent.py");
    place.set(
        "CODEX_AGENT_COMMAND",
        &format!("python3 '{}'", agent.display()),
    );
    place.set("CODEX_RESOURCES_CLEANUP", "manual");
    let coder = place.coder(&[]);
    place.until("it is published", || {
        place.status(&coder) == Status::PrCreated
    });
    let diff = place.codex(&["pr", "diff", "1"]);
    let diff = String::from_utf8_lossy(&diff.stdout).into_owned();
    assert!(diff.contains("+Do the work"), "{diff}");
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
