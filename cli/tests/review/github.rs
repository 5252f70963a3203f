//! The loop with GitHub: pushed by git, opened through the API, followed by sync.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use scripted_github::{Fault, Trouble};
use serde_json::json;
use shared::model::{Status, Verdict};
use tests::{AgentEnv, GithubRemote};

#[test]
fn from_coding_to_merged_without_anybody() {
    let mut env = AgentEnv::new("loop", "approve");
    let github = GithubRemote::new(&mut env);
    let coder = env.coder(&["--issue", "42"]);
    env.until("the pull request", || {
        env.status(&coder) == Status::PrCreated
    });
    let review = env.reviews(&coder).pop().unwrap();
    assert_eq!(review.verdict, Verdict::Approved);
    env.until_gone(review.review_instance_id.as_ref().unwrap());
    env.until("the coder is put away", || {
        !env.has_session(&coder) && env.instance(&coder).owner.is_none()
    });
    let instance = env.instance(&coder);
    let number = instance.pr_number.unwrap();
    assert!(instance.pr_url.unwrap().starts_with("http"));
    {
        let state = github.state();
        assert_eq!(state.pulls.len(), 1);
        let pull = &state.pulls[&number];
        assert_eq!(pull.head, format!("octo:codex/{coder}"));
        assert_eq!(pull.base, "main");
        assert_eq!(pull.title, "Add the work");
        assert!(pull.body.contains("Closes #42"), "{}", pull.body);
        assert!(pull.body.contains("Reviewed and approved"), "{}", pull.body);
        let tip = env.git(&["rev-parse", &format!("codex/{coder}")]);
        assert_eq!(pull.head_commit, tip.trim());
    }
    let listed = env.json(&["pr", "list"]);
    assert_eq!(listed[0]["number"], number);
    let shown = number.to_string();
    assert_eq!(env.json(&["pr", "show", &shown])["state"], "open");

    // Asked again, GitHub has nothing new to say.
    assert_eq!(env.json(&["sync"]), json!([]));
    assert_eq!(env.json(&["sync"]), json!([]));
    let asked = github.requests();
    assert!(asked.iter().any(|seen| seen.status == Some(304)));
    assert!(instance.worktree_path.exists());

    github.state().merge(number);
    let synced = env.json(&["sync"]);
    assert_eq!(synced[0]["id"], coder.as_str());
    assert_eq!(synced[0]["to"], "pr_merged");
    assert_eq!(env.status(&coder), Status::PrMerged);
    assert!(!instance.worktree_path.exists(), "{synced}");
    let before = github.requests().len();
    assert_eq!(env.json(&["sync"]), json!([]));
    assert_eq!(github.requests().len(), before, "what is merged stays so");
}

#[test]
fn closed_there_and_reopened_and_merged_from_here() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    let coder = env.coder_with_commit();
    assert_eq!(env.create_pr(&coder, "Title")["error"], false);
    env.until("the coder is put away", || {
        !env.has_session(&coder) && env.instance(&coder).owner.is_none()
    });
    let diff = env.json(&["pr", "diff", "1"]);
    assert!(!diff["diff"].as_str().unwrap().is_empty());
    let closed = env.json(&["pr", "close", "1"]);
    assert_eq!(closed["instances"][0]["to"], "pr_closed");
    assert!(!github.state().pulls[&1].open);
    assert_eq!(env.refused(&["pr", "merge", "1"]), "PULL_REQUEST_NOT_OPEN");
    assert_eq!(env.refused(&["pr", "reopen", "1"]), "NOT_AVAILABLE");
    {
        let mut state = github.state();
        state.pulls.get_mut(&1).unwrap().open = true;
    }
    assert_eq!(env.json(&["sync"])[0]["to"], "pr_created");
    let merged = env.json(&["pr", "merge", "1", "--method", "squash"]);
    assert_eq!(merged["state"], "merged");
    assert_eq!(env.status(&coder), Status::PrMerged);
    assert_eq!(env.refused(&["pr", "show", "7"]), "FORGE_NOT_FOUND");
}

#[test]
fn what_died_between_push_and_api_is_found_again() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    let coder = env.coder_with_commit();
    let branch = format!("codex/{coder}");
    let fault = Fault::status(403).method("POST").path("/pulls");
    github.fail(fault);
    env.create_pr_refused(&coder, "FORGE_FORBIDDEN");
    assert!(github.bare().commit_of(&branch).is_some(), "it was pushed");
    // Made, but the answer never came.
    let lost = Fault::once(Trouble::DropAfter)
        .method("POST")
        .path("/pulls");
    github.fail(lost);
    let answer = env.create_pr(&coder, "Title");
    assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
    assert_eq!(github.state().pulls.len(), 1);
    assert_eq!(env.status(&coder), Status::PrCreated);
}

/// Tells whether a git that pushes from this folder is alive.
fn pushes(folder: &Path) -> bool {
    let mut processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.any(|process| {
        let is_there =
            std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == folder);
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        is_there && line.contains("git") && (line.contains("push") || line.contains("remote-http"))
    })
}

#[test]
fn a_server_ended_in_the_middle_of_a_push_leaves_no_git_and_no_trace() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    let coder = env.coder_with_commit();
    let worktree = env.instance(&coder).worktree_path;
    let sign = env.path("pushing");
    github.bare().hold_pushes(&sign).unwrap();
    let arguments = json!({ "title": "Title", "description": "What and why." });
    env.tell(
        &coder,
        &json!({ "call": "create_pr", "arguments": arguments }),
    );
    env.until("the push", || sign.exists());
    assert_eq!(env.status(&coder), Status::CreatingPr);
    assert!(pushes(&worktree), "or this test sees nothing");

    let server = env.instance(&coder).server.unwrap().pid;
    let server = Pid::from_raw(i32::try_from(server).unwrap()).unwrap();
    kill_process(server, Signal::TERM).unwrap();
    env.until("the call's end", || !env.log(&coder, "tool").is_empty());
    env.until("the push's end", || !pushes(&worktree));
    assert_eq!(env.status(&coder), Status::Running);
    assert_eq!(env.instance(&coder).pr_number, None);
    assert!(github.state().pulls.is_empty());

    github.bare().accept_pushes().unwrap();
    env.restart_server(&coder);
    let answer = env.create_pr(&coder, "Title");
    assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
    assert_eq!(github.state().pulls.len(), 1);
}

#[test]
fn the_open_one_is_updated_also_when_another_was_faster() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    let coder = env.coder_with_commit();
    let branch = format!("codex/{coder}");
    let number = github.state().add_pull("Old", &branch, "main");
    // It is not seen at first, as if somebody had made it in this very moment.
    let nothing = Trouble::Answer {
        status: 200,
        headers: Vec::new(),
        body: json!([]),
    };
    github.fail(Fault::once(nothing).method("GET").path("/pulls"));
    let answer = env.create_pr(&coder, "New");
    assert_eq!(answer["result"]["prNumber"], number, "{answer}");
    let state = github.state();
    assert_eq!(state.pulls.len(), 1);
    assert_eq!(state.pulls[&number].title, "New");
}

#[test]
fn a_wish_to_be_left_alone_is_respected_by_everybody() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    let coder = env.coder_with_commit();
    assert_eq!(env.create_pr(&coder, "Title")["error"], false);
    let later = Trouble::Answer {
        status: 429,
        headers: vec![("retry-after".to_owned(), "100".to_owned())],
        body: json!({ "message": "slow down" }),
    };
    github.fail(Fault::once(later));
    assert_eq!(env.refused(&["sync"]), "FORGE_RATE_LIMITED");
    let asked = github.requests().len();
    assert_eq!(env.refused(&["sync"]), "FORGE_RATE_LIMITED");
    assert_eq!(env.refused(&["pr", "list"]), "FORGE_RATE_LIMITED");
    assert_eq!(github.requests().len(), asked, "GitHub was asked again");
    assert_eq!(env.status(&coder), Status::PrCreated);
}
