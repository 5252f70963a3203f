//! A run whose pull request is on GitHub.

use serde_json::json;
use shared::model::Status;
use tests::GithubRemote;

use crate::tdd_env::{TddEnv, id_of};

#[test]
fn to_a_pull_request_on_github() {
    let mut env = TddEnv::new("work", "changes,approve");
    let github = GithubRemote::new(&mut env);
    let result = env.tdd(&[]);
    let id = id_of(&result);
    assert_eq!(
        (&result["success"], &result["iterations"]),
        (&json!(true), &json!(2)),
        "{result}"
    );
    assert!(result["prUrl"].as_str().unwrap().starts_with("http"));
    assert_eq!(env.status(&id), Status::PrCreated);
    let state = github.state();
    assert_eq!(state.pulls.len(), 1);
    let pull = state.pulls.values().next().unwrap();
    assert_eq!(pull.head, format!("octo:tdd/{id}"));
    drop(state);
    // What was pushed is safe, so the worktree goes.
    let worktree = env.instance(&id).worktree_path;
    assert!(!worktree.exists());
    env.until_nothing_runs();
}
