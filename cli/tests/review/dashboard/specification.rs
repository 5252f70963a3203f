//! A run from a specification to a pull request, begun in the browser.

use serde_json::json;
use shared::model::InstanceId;
use tests::AgentEnv;
use tests::dashboard::Dashboard;

fn tdd_env() -> AgentEnv {
    let mut env = AgentEnv::new("work", "approve");
    env.use_agent("tdd_agent.py");
    env
}

#[test]
fn a_specification_becomes_a_pull_request_though_the_dashboard_goes() {
    let env = tdd_env();
    let dashboard = Dashboard::start(&env, &[]);
    let spec = "# Greeting\n\nThe program greets by name.\n";
    let begun = dashboard.post(
        "/api/instances",
        &json!({ "kind": "tdd", "prompt": spec, "maxReviews": 2 }),
    );
    assert_eq!(begun.status, 201, "{begun:?}");
    let id: InstanceId = begun.json()["id"].as_str().unwrap().parse().unwrap();
    drop(dashboard);
    env.until("it is done", || {
        env.json(&["tdd", "show", id.as_str()])["status"] == "completed"
    });
    let run = env.json(&["tdd", "show", id.as_str()]);
    assert_eq!(run["originalSpec"], spec);
    assert_eq!(run["maxIterations"], 2);
    let pulls = env.json(&["pr", "list"]);
    assert_eq!(pulls.as_array().unwrap().len(), 1, "{pulls}");
}

#[test]
fn what_no_run_can_be_made_of_is_refused_and_leaves_nothing() {
    let env = tdd_env();
    let dashboard = Dashboard::start(&env, &[]);
    for wrong in [
        json!({ "kind": "tdd" }),
        json!({ "kind": "tdd", "prompt": "  \n" }),
        json!({ "kind": "tdd", "prompt": "x", "issue": 1 }),
        json!({ "kind": "tdd", "prompt": "x", "base": "main" }),
        json!({ "kind": "tdd", "prompt": "x", "maxReviews": 0 }),
        json!({ "kind": "tdd", "prompt": "x".repeat((256 << 10) + 1) }),
    ] {
        let refused = dashboard.post("/api/instances", &wrong);
        assert_eq!(refused.code(), "INVALID_ARGUMENTS", "{refused:?}");
    }
    assert_eq!(env.json(&["tdd", "list"]), json!([]));
    let specs = std::fs::read_dir(env.path("state/specs"));
    assert_eq!(specs.map_or(0, Iterator::count), 0);
}
