//! A run whose pull request conflicts: its coder is not sent back, so no hint and no button says so.

use serde_json::{Value, json};
use tests::dashboard::Dashboard;
use tests::shown;

use crate::tdd_env::{TddEnv, id_of};

#[test]
fn a_new_agent_resolves_the_conflict_of_a_run() {
    let mut env = TddEnv::new("work", "approve");
    let id = id_of(&env.tdd(&[]));
    env.until_nothing_runs();
    std::fs::write(env.repository().join("work.txt"), "another\n").unwrap();
    env.git(&["add", "work.txt"]);
    env.git(&["commit", "-q", "-m", "in the way"]);

    let refused = env.codex(&["pr", "merge", "1", "--json"]);
    assert!(!refused.status.success(), "{}", shown(&refused));
    let error: Value = serde_json::from_slice(&refused.stderr).unwrap();
    assert_eq!(error["code"], "MERGE_CONFLICT", "{error}");
    let hint = error["hint"].as_str().unwrap();
    assert!(!hint.contains("pr resolve"), "{hint}");
    let way_on = format!("`claude-codex code --branch tdd/{id} --base main \"…\"`");
    assert!(hint.contains(&way_on), "{hint}");

    let dashboard = Dashboard::start(&env, &[]);
    let page = dashboard.get("/pulls/1").body;
    assert!(page.contains("conflicts with main in work.txt"), "{page}");
    assert!(!page.contains("/api/pulls/1/resolve"), "{page}");
    assert!(
        page.contains(&format!("--branch tdd/{id} --base main")),
        "{page}"
    );
    let told = dashboard.post("/api/pulls/1/resolve", &json!({}));
    assert_ne!(told.status, 200, "{}", told.body);

    // The way that is named is open.
    env.use_agent("agent.py");
    let branch = format!("tdd/{id}");
    let agent = env.json(&["code", "--branch", &branch, "--base", "main", "Merge main"]);
    assert_eq!(agent["branchName"], json!(branch), "{agent}");
}
