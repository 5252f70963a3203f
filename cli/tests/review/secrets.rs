//! Tokens of the person are in no file, argument or variable of tmux, and reach the servers all the same.

use serde_json::{Value, json};
use shared::model::InstanceId;
use tests::{AgentEnv, GithubRemote};

const SECRET: &str = "sk-ant-verysecret-0123456789";

#[test]
fn tokens_are_in_no_file_argument_or_terminal() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    env.set("ANTHROPIC_API_KEY", SECRET);
    let secrets = [SECRET, scripted_github::TOKEN];
    let coder = env.coder_with_commit();
    env.assert_nowhere(&secrets);
    env.text(&["stop", coder.as_str()]);
    env.text(&["resume", coder.as_str()]);
    env.assert_nowhere(&secrets);
    let asked = env.call(&coder, "request_review", &json!({ "description": "Look." }));
    assert_eq!(asked["error"], false, "{asked}");
    let reviewer = |env: &AgentEnv| -> Option<InstanceId> {
        let listed = env.json(&["list"]);
        let mut agents = listed.as_array().unwrap().iter();
        let found: &Value =
            agents.find(|agent| agent["type"] == "review" && agent["status"] == "running")?;
        found["id"].as_str().unwrap().parse().ok()
    };
    env.until("the reviewer is up", || reviewer(&env).is_some());
    env.assert_nowhere(&secrets);
    // The server has the token nevertheless.
    let published = env.create_pr(&reviewer(&env).unwrap(), "Title");
    assert_eq!(published["error"], false, "{published}");
    assert_eq!(github.state().pulls.len(), 1);
    env.assert_nowhere(&secrets);
}
