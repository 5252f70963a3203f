//! Tokens of the person are in no file, argument or variable of tmux, and reach the servers all the same.

use serde_json::{Value, json};
use shared::model::InstanceId;

use crate::github_support::{Hub, committed};
use crate::support::{Place, text};

const SECRET: &str = "sk-ant-verysecret-0123456789";

#[test]
fn tokens_are_in_no_file_argument_or_terminal() {
    let mut place = Place::new("idle", "idle");
    let hub = Hub::new(&mut place);
    place.set("ANTHROPIC_API_KEY", SECRET);
    let secrets = [SECRET, scripted_github::TOKEN];
    let coder = committed(&place);
    place.assert_nowhere(&secrets);
    text(&place.codex(&["stop", coder.as_str()]));
    text(&place.codex(&["resume", coder.as_str()]));
    place.assert_nowhere(&secrets);
    let asked = place.call(&coder, "request_review", &json!({ "description": "Look." }));
    assert_eq!(asked["error"], false, "{asked}");
    let reviewer = |place: &Place| -> Option<InstanceId> {
        let listed = place.json(&["list"]);
        let mut agents = listed.as_array().unwrap().iter();
        let found: &Value =
            agents.find(|agent| agent["type"] == "review" && agent["status"] == "running")?;
        found["id"].as_str().unwrap().parse().ok()
    };
    place.until("the reviewer is up", || reviewer(&place).is_some());
    place.assert_nowhere(&secrets);
    // The server has the token nevertheless.
    let published = place.create_pr(&reviewer(&place).unwrap(), "Title");
    assert_eq!(published["error"], false, "{published}");
    assert_eq!(hub.server.state().pulls.len(), 1);
    place.assert_nowhere(&secrets);
}
