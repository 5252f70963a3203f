//! Publishing on the built-in forge: no account, no network, and never two pull requests for one.

use serde_json::{Value, json};
use shared::model::{InstanceId, MessageState, Status, Verdict};
use tests::{AgentEnv, Server, kill};

/// Waits inside the change of a pull request's reference for as long as the file `hold` is there.
const HOLD: &str = r#"[ "$1" = prepared ] || exit 0
grep -q refs/codex/pull/ || exit 0
touch "$SCRIPT_DIR/held"
while [ -e "$SCRIPT_DIR/hold" ]; do sleep 0.05; done"#;

fn approved(env: &AgentEnv) -> InstanceId {
    let coder = env.coder(&[]);
    env.until("the pull request", || {
        env.status(&coder) == Status::PrCreated
    });
    coder
}

fn under_review(env: &AgentEnv) -> (InstanceId, InstanceId) {
    let coder = env.coder(&[]);
    env.commit(&coder, "work");
    let answer = env.call(&coder, "request_review", &json!({ "description": "look" }));
    let reviewer = answer["result"]["reviewInstanceId"].as_str().unwrap();
    env.until("the reviewer is up", || {
        env.status(&coder) == Status::UnderReview
    });
    (coder, reviewer.parse().unwrap())
}

#[test]
fn from_coding_to_merged_without_anybody() {
    let env = AgentEnv::new("loop", "approve");
    let coder = approved(&env);
    let review = env.reviews(&coder).pop().unwrap();
    assert_eq!(review.verdict, Verdict::Approved);
    env.until_gone(review.review_instance_id.as_ref().unwrap());
    assert_eq!(
        env.status(review.review_instance_id.as_ref().unwrap()),
        Status::Completed
    );
    let answer = env
        .log(review.review_instance_id.as_ref().unwrap(), "tool")
        .pop()
        .unwrap();
    assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
    assert!(answer["text"].as_str().unwrap().contains("pr merge 1"));

    // The session is over, the worktree stays for as long as the pull request is open.
    env.until("the coder is put away", || {
        !env.has_session(&coder) && env.instance(&coder).owner.is_none()
    });
    let instance = env.instance(&coder);
    assert!(instance.worktree_path.exists());
    assert_eq!(instance.pr_number, Some(1));
    assert_eq!(instance.pr_url.as_deref(), Some("codex://pull/repo/1"));
    assert!(env.messages(&coder).is_empty());

    let listed = env.json(&["pr", "list"]);
    assert_eq!(listed.as_array().unwrap().len(), 1);
    let shown = env.json(&["pr", "show", "codex://pull/repo/1"]);
    assert_eq!(shown, listed[0]);
    // The same number means something else there.
    for elsewhere in ["codex://pull/other/1", "https://github.com/o/r/pull/1"] {
        for verb in [
            vec!["pr", "merge", elsewhere],
            vec!["pr", "request-changes", elsewhere, "no"],
        ] {
            assert_eq!(env.refused(&verb), "PULL_REQUEST_NOT_FOUND");
        }
    }
    assert_eq!(shown["title"], "Add the work");
    let body = shown["body"].as_str().unwrap();
    assert!(body.contains("It does what was asked."), "{body}");
    assert!(body.contains("Reviewed and approved"), "{body}");
    let table = env.text(&["pr", "list"]);
    assert!(
        table.starts_with("N ") && table.contains("Add the work"),
        "{table}"
    );
    assert!(env.text(&["pr", "show", "1"]).contains("codex/work-"));
    let diff = env.text(&["pr", "diff", "1"]);
    assert!(diff.contains("+first"), "{diff}");
    assert_eq!(env.json(&["pr", "diff", "1"])["diff"], diff);
    assert_eq!(env.json(&["sync"]), json!([]));

    let merged = env.json(&["pr", "merge", "1", "--method", "squash"]);
    assert_eq!(merged["state"], "merged");
    assert_eq!(merged["instances"][0]["to"], "pr_merged");
    assert_eq!(merged["instances"][0]["kept"], Value::Null);
    assert_eq!(env.status(&coder), Status::PrMerged);
    assert!(!instance.worktree_path.exists());
    assert_eq!(env.git(&["branch", "--list", "codex/*"]), "");
    let work = std::fs::read_to_string(env.path("repo/work.txt")).unwrap();
    assert_eq!(work, "first\n");
    assert_eq!(
        env.git(&["log", "-1", "--format=%s"]).trim(),
        "Add the work (#1)"
    );
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    // What was published outlives its branch.
    let kept = env.git(&["rev-parse", "refs/codex/pull/1/head"]);
    assert_eq!(kept.trim(), shown["headCommit"].as_str().unwrap());
    assert_eq!(env.text(&["pr", "diff", "1"]), diff);
    assert_eq!(env.json(&["sync"]), json!([]));
    assert_eq!(env.json(&["clean"]), json!([]));
}

#[test]
fn a_coder_publishes_itself_and_sync_sees_a_merge_by_hand() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&["--issue", "42"]);
    env.commit(&coder, "work");
    let answer = env.create_pr(&coder, "Title");
    assert_eq!(answer["error"], false, "{answer}");
    assert_eq!(answer["result"]["prUrl"], "codex://pull/repo/1");
    assert_eq!(env.status(&coder), Status::PrCreated);
    let shown = env.json(&["pr", "show", "1"]);
    assert!(
        shown["body"].as_str().unwrap().contains("Closes #42"),
        "{shown}"
    );
    env.until("the coder is put away", || !env.has_session(&coder));
    env.git(&["merge", "-q", "--no-ff", "codex/work-42-a1"]);
    let synced = env.json(&["sync"]);
    assert_eq!(synced[0]["from"], "pr_created");
    assert_eq!(synced[0]["to"], "pr_merged");
    assert_eq!(env.status(&coder), Status::PrMerged);
    assert!(!env.instance(&coder).worktree_path.exists());
    assert_eq!(env.json(&["pr", "show", "1"])["state"], "merged");
}

#[test]
fn a_coder_that_stays_is_told_and_publishes_more_into_the_same() {
    let mut env = AgentEnv::new("idle", "idle");
    env.set("CODEX_RESOURCES_CLEANUP", "manual");
    let (coder, reviewer) = under_review(&env);
    let answer = env.create_pr(&reviewer, "First");
    assert_eq!(answer["error"], false, "{answer}");
    env.until("the news", || env.received(&coder).len() == 1);
    let told = &env.received(&coder)[0];
    assert!(told.contains("published as pull request #1"), "{told}");
    env.until("the receipt", || {
        env.messages(&coder)[0].state == MessageState::Taken
    });
    assert!(env.has_session(&coder));

    env.commit(&coder, "more");
    let answer = env.create_pr(&coder, "Second");
    assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
    assert_eq!(env.status(&coder), Status::PrCreated);
    let pulls = env.json(&["pr", "list", "--state", "all"]);
    assert_eq!(pulls.as_array().unwrap().len(), 1, "{pulls}");
    assert_eq!(pulls[0]["title"], "Second");
    let tip = env.git(&["rev-parse", &format!("codex/{coder}")]);
    assert_eq!(pulls[0]["headCommit"], tip.trim());
    let kept = env.git(&["rev-parse", "refs/codex/pull/1/head"]);
    assert_eq!(kept, tip);
}

#[test]
fn racing_calls_make_one() {
    let mut env = AgentEnv::new("idle", "idle");
    env.set("CODEX_RESOURCES_CLEANUP", "manual");
    let coder = env.coder(&[]);
    env.commit(&coder, "work");
    for number in 0..4 {
        let arguments = json!({ "title": format!("Title {number}"), "description": "d" });
        env.tell(
            &coder,
            &json!({ "call": "create_pr", "arguments": arguments }),
        );
    }
    env.until("all answers", || env.log(&coder, "tool").len() == 4);
    for answer in env.log(&coder, "tool") {
        assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
    }
    let pulls = env.json(&["pr", "list", "--state", "all"]);
    assert_eq!(pulls.as_array().unwrap().len(), 1, "{pulls}");
    assert_eq!(env.status(&coder), Status::PrCreated);
}

#[test]
fn two_agents_on_one_branch_share_its_pull_request() {
    let env = AgentEnv::new("idle", "idle");
    env.git(&["switch", "-q", "-c", "topic"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "work"]);
    let arguments = json!({ "title": "One", "description": "d" });
    let first = env.call_as_person(Server::Coding, "create_pr", &arguments);
    let arguments = json!({ "title": "Two", "description": "d" });
    let second = env.call_as_person(Server::Coding, "create_pr", &arguments);
    for answer in [&first, &second] {
        assert_eq!(answer["structuredContent"]["prNumber"], 1, "{answer}");
    }
    assert_eq!(env.json(&["pr", "show", "1"])["title"], "Two");
}

#[test]
fn killed_in_the_middle_it_is_repaired_and_goes_on_with_the_same() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    env.commit(&coder, "work");
    env.reference_hook(HOLD);
    std::fs::write(env.path("script/hold"), "").unwrap();
    let arguments = json!({ "title": "Title", "description": "d" });
    env.tell(
        &coder,
        &json!({ "call": "create_pr", "arguments": arguments }),
    );
    env.until("the middle", || env.path("script/held").exists());
    assert_eq!(env.status(&coder), Status::CreatingPr);
    let server = env.instance(&coder).owner.unwrap();
    // Nobody takes it over as long as its owner lives.
    env.text(&["list"]);
    assert_eq!(env.status(&coder), Status::CreatingPr);
    kill(u64::from(server.pid));
    std::fs::remove_file(env.path("script/hold")).unwrap();
    env.until("the repair", || {
        env.text(&["list"]);
        env.status(&coder) == Status::Running
    });
    assert!(env.instance(&coder).owner.is_none());
    env.restart_server(&coder);
    let answer = env.create_pr(&coder, "Again");
    assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
    let pulls = env.json(&["pr", "list", "--state", "all"]);
    assert_eq!(pulls.as_array().unwrap().len(), 1, "{pulls}");
    assert_eq!(pulls[0]["title"], "Again");
    assert_eq!(
        env.git(&["rev-parse", "refs/codex/pull/1/head"]).trim(),
        pulls[0]["headCommit"].as_str().unwrap()
    );
}

#[test]
fn cancelled_in_the_middle_it_is_where_it_was() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    env.commit(&coder, "work");
    env.reference_hook(HOLD);
    std::fs::write(env.path("script/hold"), "").unwrap();
    let arguments = json!({ "title": "Title", "description": "d" });
    env.tell(
        &coder,
        &json!({ "call": "create_pr", "arguments": arguments, "cancelAfter": 1.5 }),
    );
    env.until("the middle", || env.path("script/held").exists());
    env.until("the end", || !env.recorded("create_pr").is_empty());
    let recorded = env.recorded("create_pr").pop().unwrap();
    assert_eq!(recorded.error_code.as_deref(), Some("CANCELLED"));
    assert_eq!(env.status(&coder), Status::Running);
    std::fs::remove_file(env.path("script/hold")).unwrap();
    let answer = env.create_pr(&coder, "Again");
    assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
}

/// The reviewer's own end is noticed before or after its publication is given up, by whoever looks.
#[test]
fn a_reviewer_that_dies_while_publishing_loses_its_round() {
    let env = AgentEnv::new("idle", "idle");
    let (coder, reviewer) = under_review(&env);
    env.reference_hook(HOLD);
    std::fs::write(env.path("script/hold"), "").unwrap();
    let arguments = json!({ "title": "Title", "description": "d" });
    env.tell(
        &reviewer,
        &json!({ "call": "create_pr", "arguments": arguments }),
    );
    env.until("the middle", || env.path("script/held").exists());
    assert_eq!(env.status(&coder), Status::CreatingPr);
    kill(env.log(&reviewer, "ready")[0]["pid"].as_u64().unwrap());
    env.until("the repair", || {
        env.text(&["list"]);
        env.status(&coder) == Status::Running
    });
    std::fs::remove_file(env.path("script/hold")).unwrap();
    assert_eq!(env.reviews(&coder)[0].verdict, Verdict::Lost);
    env.until("the news", || env.received(&coder).len() == 1);
    assert!(env.received(&coder)[0].contains("was lost"));
    env.until_gone(&reviewer);
    let answer = env.create_pr(&coder, "Title");
    assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
}

#[test]
fn a_failed_approval_leaves_the_review_open() {
    let env = AgentEnv::new("idle", "idle");
    let (coder, reviewer) = under_review(&env);
    env.reference_hook("grep -q refs/codex/pull/ && exit 1; exit 0");
    let answer = env.create_pr(&reviewer, "Title");
    assert_eq!(answer["error"], true, "{answer}");
    assert_eq!(env.status(&coder), Status::UnderReview);
    assert_eq!(env.status(&reviewer), Status::Running);
    assert_eq!(env.reviews(&coder)[0].verdict, Verdict::Pending);
    env.no_reference_hook();
    let answer = env.create_pr(&reviewer, "Title");
    assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
    assert_eq!(env.reviews(&coder)[0].verdict, Verdict::Approved);
    env.until_gone(&reviewer);
}

#[test]
fn commits_that_the_reviewer_made_are_published_and_unseen_ones_are_not() {
    let env = AgentEnv::new("idle", "idle");
    let (coder, reviewer) = under_review(&env);
    env.commit(&coder, "unseen");
    let answer = env.create_pr(&reviewer, "Title");
    assert!(
        answer["text"].as_str().unwrap().contains("REVIEW_OUTDATED"),
        "{answer}"
    );
    assert_eq!(env.status(&coder), Status::UnderReview);
    // They are brought to the reviewer, which then adds one of its own.
    let branch = format!("codex/{coder}");
    let before = env.log(&reviewer, "run").len();
    env.tell(
        &reviewer,
        &json!({ "run": ["git", "diff", "--exit-code", branch] }),
    );
    env.tell(
        &reviewer,
        &json!({ "run": ["git", "commit", "-q", "--allow-empty", "-m", "a test"] }),
    );
    env.until("the look", || env.log(&reviewer, "run").len() == before + 2);
    for run in &env.log(&reviewer, "run")[before..] {
        assert_eq!(run["status"], 0, "{run}");
    }
    let answer = env.create_pr(&reviewer, "Title");
    assert_eq!(answer["error"], false, "{answer}");
    assert_eq!(
        env.git(&["log", "-1", "--format=%s", &branch]).trim(),
        "a test"
    );
    let head = env.json(&["pr", "show", "1"])["headCommit"].clone();
    assert_eq!(head, env.git(&["rev-parse", &branch]).trim());
}
