//! A run whose pull request is on GitHub.

use serde_json::json;
use shared::model::Status;

use crate::github_support::Hub;
use crate::lab::{Lab, id_of};

#[test]
fn to_a_pull_request_on_github() {
    let mut lab = Lab::new("work", "changes,approve");
    let hub = Hub::new(&mut lab.place);
    let result = lab.tdd(&[]);
    let id = id_of(&result);
    assert_eq!(
        (&result["success"], &result["iterations"]),
        (&json!(true), &json!(2)),
        "{result}"
    );
    assert!(result["prUrl"].as_str().unwrap().starts_with("http"));
    assert_eq!(lab.place.status(&id), Status::PrCreated);
    let state = hub.server.state();
    assert_eq!(state.pulls.len(), 1);
    let pull = state.pulls.values().next().unwrap();
    assert_eq!(pull.head, format!("octo:tdd/{id}"));
    drop(state);
    // What was pushed is safe, so the worktree goes.
    let worktree = lab.place.instance(&id).worktree_path;
    assert!(!worktree.exists());
    lab.nothing_runs();
}
