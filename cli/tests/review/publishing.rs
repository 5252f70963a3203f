//! Publishing on the built-in forge: no account, no network, and never two pull requests for one.

use serde_json::{Value, json};
use shared::model::{InstanceId, MessageState, Status, Verdict};

use crate::support::{Place, kill, text};

/// Waits inside the change of a pull request's reference for as long as the file `hold` is there.
const HOLD: &str = r#"[ "$1" = prepared ] || exit 0
grep -q refs/codex/pull/ || exit 0
touch "$SCRIPT_DIR/held"
while [ -e "$SCRIPT_DIR/hold" ]; do sleep 0.05; done"#;

fn approved(place: &Place) -> InstanceId {
    let coder = place.coder(&[]);
    place.until("the pull request", || {
        place.status(&coder) == Status::PrCreated
    });
    coder
}

fn under_review(place: &Place) -> (InstanceId, InstanceId) {
    let coder = place.coder(&[]);
    place.commit(&coder, "work");
    let answer = place.call(&coder, "request_review", &json!({ "description": "look" }));
    let reviewer = answer["result"]["reviewInstanceId"].as_str().unwrap();
    place.until("the reviewer is up", || {
        place.status(&coder) == Status::UnderReview
    });
    (coder, reviewer.parse().unwrap())
}

#[test]
fn from_coding_to_merged_without_anybody() {
    let place = Place::new("loop", "approve");
    let coder = approved(&place);
    let review = place.reviews(&coder).pop().unwrap();
    assert_eq!(review.verdict, Verdict::Approved);
    place.is_gone(&review.review_instance_id);
    assert_eq!(place.status(&review.review_instance_id), Status::Completed);
    let answer = place.log(&review.review_instance_id, "tool").pop().unwrap();
    assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
    assert!(answer["text"].as_str().unwrap().contains("pr merge 1"));

    // The session is over, the worktree stays for as long as the pull request is open.
    place.until("the coder is put away", || {
        !place.has_session(&coder) && place.instance(&coder).owner.is_none()
    });
    let instance = place.instance(&coder);
    assert!(instance.worktree_path.exists());
    assert_eq!(instance.pr_number, Some(1));
    assert_eq!(instance.pr_url.as_deref(), Some("codex://pull/repo/1"));
    assert!(place.messages(&coder).is_empty());

    let listed = place.json(&["pr", "list"]);
    assert_eq!(listed.as_array().unwrap().len(), 1);
    let shown = place.json(&["pr", "show", "codex://pull/repo/1"]);
    assert_eq!(shown, listed[0]);
    assert_eq!(shown["title"], "Add the work");
    let body = shown["body"].as_str().unwrap();
    assert!(body.contains("It does what was asked."), "{body}");
    assert!(body.contains("Reviewed and approved"), "{body}");
    let table = text(&place.codex(&["pr", "list"]));
    assert!(
        table.starts_with("N ") && table.contains("Add the work"),
        "{table}"
    );
    assert!(text(&place.codex(&["pr", "show", "1"])).contains("codex/work-"));
    let diff = text(&place.codex(&["pr", "diff", "1"]));
    assert!(diff.contains("+first"), "{diff}");
    assert_eq!(place.json(&["pr", "diff", "1"])["diff"], diff);
    assert_eq!(place.json(&["sync"]), json!([]));

    let merged = place.json(&["pr", "merge", "1", "--method", "squash"]);
    assert_eq!(merged["state"], "merged");
    assert_eq!(merged["instances"][0]["to"], "pr_merged");
    assert_eq!(merged["instances"][0]["kept"], Value::Null);
    assert_eq!(place.status(&coder), Status::PrMerged);
    assert!(!instance.worktree_path.exists());
    assert_eq!(place.git(&["branch", "--list", "codex/*"]), "");
    let work = std::fs::read_to_string(place.path("repo/work.txt")).unwrap();
    assert_eq!(work, "first\n");
    assert_eq!(
        place.git(&["log", "-1", "--format=%s"]).trim(),
        "Add the work (#1)"
    );
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    // What was published outlives its branch.
    let kept = place.git(&["rev-parse", "refs/codex/pull/1/head"]);
    assert_eq!(kept.trim(), shown["headCommit"].as_str().unwrap());
    assert_eq!(text(&place.codex(&["pr", "diff", "1"])), diff);
    assert_eq!(place.json(&["sync"]), json!([]));
    assert_eq!(place.json(&["clean"]), json!([]));
}

#[test]
fn a_coder_publishes_itself_and_sync_sees_a_merge_by_hand() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&["--issue", "42"]);
    place.commit(&coder, "work");
    let answer = place.create_pr(&coder, "Title");
    assert_eq!(answer["error"], false, "{answer}");
    assert_eq!(answer["result"]["prUrl"], "codex://pull/repo/1");
    assert_eq!(place.status(&coder), Status::PrCreated);
    let shown = place.json(&["pr", "show", "1"]);
    assert!(
        shown["body"].as_str().unwrap().contains("Closes #42"),
        "{shown}"
    );
    place.until("the coder is put away", || !place.has_session(&coder));
    place.git(&["merge", "-q", "--no-ff", "codex/work-42-a1"]);
    let synced = place.json(&["sync"]);
    assert_eq!(synced[0]["from"], "pr_created");
    assert_eq!(synced[0]["to"], "pr_merged");
    assert_eq!(place.status(&coder), Status::PrMerged);
    assert!(!place.instance(&coder).worktree_path.exists());
    assert_eq!(place.json(&["pr", "show", "1"])["state"], "merged");
}

#[test]
fn a_coder_that_stays_is_told_and_publishes_more_into_the_same() {
    let mut place = Place::new("idle", "idle");
    place.set("CODEX_RESOURCES_CLEANUP", "manual");
    let (coder, reviewer) = under_review(&place);
    let answer = place.create_pr(&reviewer, "First");
    assert_eq!(answer["error"], false, "{answer}");
    place.until("the news", || place.received(&coder).len() == 1);
    let told = &place.received(&coder)[0];
    assert!(told.contains("published as pull request #1"), "{told}");
    place.until("the receipt", || {
        place.messages(&coder)[0].state == MessageState::Taken
    });
    assert!(place.has_session(&coder));

    place.commit(&coder, "more");
    let answer = place.create_pr(&coder, "Second");
    assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
    assert_eq!(place.status(&coder), Status::PrCreated);
    let pulls = place.json(&["pr", "list", "--state", "all"]);
    assert_eq!(pulls.as_array().unwrap().len(), 1, "{pulls}");
    assert_eq!(pulls[0]["title"], "Second");
    let tip = place.git(&["rev-parse", &format!("codex/{coder}")]);
    assert_eq!(pulls[0]["headCommit"], tip.trim());
    let kept = place.git(&["rev-parse", "refs/codex/pull/1/head"]);
    assert_eq!(kept, tip);
}

#[test]
fn racing_calls_make_one() {
    let mut place = Place::new("idle", "idle");
    place.set("CODEX_RESOURCES_CLEANUP", "manual");
    let coder = place.coder(&[]);
    place.commit(&coder, "work");
    for number in 0..4 {
        let arguments = json!({ "title": format!("Title {number}"), "description": "d" });
        place.tell(
            &coder,
            &json!({ "call": "create_pr", "arguments": arguments }),
        );
    }
    place.until("all answers", || place.log(&coder, "tool").len() == 4);
    for answer in place.log(&coder, "tool") {
        assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
    }
    let pulls = place.json(&["pr", "list", "--state", "all"]);
    assert_eq!(pulls.as_array().unwrap().len(), 1, "{pulls}");
    assert_eq!(place.status(&coder), Status::PrCreated);
}

#[test]
fn two_agents_on_one_branch_share_its_pull_request() {
    let place = Place::new("idle", "idle");
    place.git(&["switch", "-q", "-c", "topic"]);
    place.git(&["commit", "-q", "--allow-empty", "-m", "work"]);
    let arguments = json!({ "title": "One", "description": "d" });
    let first = place.stranger("mcp-coding", "create_pr", &arguments);
    let arguments = json!({ "title": "Two", "description": "d" });
    let second = place.stranger("mcp-coding", "create_pr", &arguments);
    for answer in [&first, &second] {
        assert_eq!(
            answer["result"]["structuredContent"]["prNumber"], 1,
            "{answer}"
        );
    }
    assert_eq!(place.json(&["pr", "show", "1"])["title"], "Two");
}

#[test]
fn killed_in_the_middle_it_is_repaired_and_goes_on_with_the_same() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    place.commit(&coder, "work");
    place.reference_hook(HOLD);
    std::fs::write(place.path("script/hold"), "").unwrap();
    let arguments = json!({ "title": "Title", "description": "d" });
    place.tell(
        &coder,
        &json!({ "call": "create_pr", "arguments": arguments }),
    );
    place.until("the middle", || place.path("script/held").exists());
    assert_eq!(place.status(&coder), Status::CreatingPr);
    let server = place.instance(&coder).owner.unwrap();
    // Nobody takes it over as long as its owner lives.
    text(&place.codex(&["list"]));
    assert_eq!(place.status(&coder), Status::CreatingPr);
    kill(u64::from(server.pid));
    std::fs::remove_file(place.path("script/hold")).unwrap();
    place.until("the repair", || {
        text(&place.codex(&["list"]));
        place.status(&coder) == Status::Running
    });
    assert!(place.instance(&coder).owner.is_none());
    place.restart_server(&coder);
    let answer = place.create_pr(&coder, "Again");
    assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
    let pulls = place.json(&["pr", "list", "--state", "all"]);
    assert_eq!(pulls.as_array().unwrap().len(), 1, "{pulls}");
    assert_eq!(pulls[0]["title"], "Again");
    assert_eq!(
        place.git(&["rev-parse", "refs/codex/pull/1/head"]).trim(),
        pulls[0]["headCommit"].as_str().unwrap()
    );
}

#[test]
fn cancelled_in_the_middle_it_is_where_it_was() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    place.commit(&coder, "work");
    place.reference_hook(HOLD);
    std::fs::write(place.path("script/hold"), "").unwrap();
    let arguments = json!({ "title": "Title", "description": "d" });
    place.tell(
        &coder,
        &json!({ "call": "create_pr", "arguments": arguments, "cancelAfter": 1.5 }),
    );
    place.until("the middle", || place.path("script/held").exists());
    place.until("the end", || !place.recorded("create_pr").is_empty());
    let recorded = place.recorded("create_pr").pop().unwrap();
    assert_eq!(recorded.error_code.as_deref(), Some("CANCELLED"));
    assert_eq!(place.status(&coder), Status::Running);
    std::fs::remove_file(place.path("script/hold")).unwrap();
    let answer = place.create_pr(&coder, "Again");
    assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
}

/// The reviewer's own end is noticed before or after its publication is given up, by whoever looks.
#[test]
fn a_reviewer_that_dies_while_publishing_loses_its_round() {
    let place = Place::new("idle", "idle");
    let (coder, reviewer) = under_review(&place);
    place.reference_hook(HOLD);
    std::fs::write(place.path("script/hold"), "").unwrap();
    let arguments = json!({ "title": "Title", "description": "d" });
    place.tell(
        &reviewer,
        &json!({ "call": "create_pr", "arguments": arguments }),
    );
    place.until("the middle", || place.path("script/held").exists());
    assert_eq!(place.status(&coder), Status::CreatingPr);
    kill(place.log(&reviewer, "ready")[0]["pid"].as_u64().unwrap());
    place.until("the repair", || {
        text(&place.codex(&["list"]));
        place.status(&coder) == Status::Running
    });
    std::fs::remove_file(place.path("script/hold")).unwrap();
    assert_eq!(place.reviews(&coder)[0].verdict, Verdict::Lost);
    place.until("the news", || place.received(&coder).len() == 1);
    assert!(place.received(&coder)[0].contains("was lost"));
    place.is_gone(&reviewer);
    let answer = place.create_pr(&coder, "Title");
    assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
}

#[test]
fn a_failed_approval_leaves_the_review_open() {
    let place = Place::new("idle", "idle");
    let (coder, reviewer) = under_review(&place);
    place.reference_hook("grep -q refs/codex/pull/ && exit 1; exit 0");
    let answer = place.create_pr(&reviewer, "Title");
    assert_eq!(answer["error"], true, "{answer}");
    assert_eq!(place.status(&coder), Status::UnderReview);
    assert_eq!(place.status(&reviewer), Status::Running);
    assert_eq!(place.reviews(&coder)[0].verdict, Verdict::Pending);
    place.no_reference_hook();
    let answer = place.create_pr(&reviewer, "Title");
    assert_eq!(answer["result"]["prNumber"], 1, "{answer}");
    assert_eq!(place.reviews(&coder)[0].verdict, Verdict::Approved);
    place.is_gone(&reviewer);
}

#[test]
fn commits_that_the_reviewer_made_are_published_and_unseen_ones_are_not() {
    let place = Place::new("idle", "idle");
    let (coder, reviewer) = under_review(&place);
    place.commit(&coder, "unseen");
    let answer = place.create_pr(&reviewer, "Title");
    assert!(
        answer["text"].as_str().unwrap().contains("REVIEW_OUTDATED"),
        "{answer}"
    );
    assert_eq!(place.status(&coder), Status::UnderReview);
    // They are brought to the reviewer, which then adds one of its own.
    let branch = format!("codex/{coder}");
    let before = place.log(&reviewer, "run").len();
    place.tell(
        &reviewer,
        &json!({ "run": ["git", "diff", "--exit-code", branch] }),
    );
    place.tell(
        &reviewer,
        &json!({ "run": ["git", "commit", "-q", "--allow-empty", "-m", "a test"] }),
    );
    place.until("the look", || {
        place.log(&reviewer, "run").len() == before + 2
    });
    for run in &place.log(&reviewer, "run")[before..] {
        assert_eq!(run["status"], 0, "{run}");
    }
    let answer = place.create_pr(&reviewer, "Title");
    assert_eq!(answer["error"], false, "{answer}");
    assert_eq!(
        place.git(&["log", "-1", "--format=%s", &branch]).trim(),
        "a test"
    );
    let head = place.json(&["pr", "show", "1"])["headCommit"].clone();
    assert_eq!(head, place.git(&["rev-parse", &branch]).trim());
}
