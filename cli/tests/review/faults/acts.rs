//! What is done while the fault waits, and what a person does after it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use shared::model::{InstanceId, MessageState, Phase, Status, Verdict};

use super::Stage;
use crate::delivery::command;
use crate::settled::{all_is_told, arrivals};
use crate::support::{PATIENCE, Place, program, text};

const SESSION: &str = "0b2f6a52-6a3c-4c6e-9d3e-0a1b2c3d4e5f";

/// The commit that a coder made is still in the repository, whatever else happened.
fn work_is_there(place: &Place) {
    let found = place.git(&["log", "--all", "--format=%s"]);
    assert!(found.lines().any(|subject| subject == "work"), "{found}");
}

/// Has an agent's server, which is the one with the fault, do something; it may die over it.
fn call_by_new_server(place: &Place, id: &InstanceId, tool: &str, arguments: &Value) {
    let before = place.log(id, "tool").len();
    place.tell(id, &json!({ "restart": true }));
    place.tell(id, &json!({ "call": tool, "arguments": arguments }));
    let deadline = Instant::now() + PATIENCE;
    while place.log(id, "tool").len() == before && Instant::now() < deadline {
        // An agent that has ended answers nothing.
        if !place.has_session(id) {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Calls a tool with a server that has no fault; it must succeed.
fn call_again(place: &Place, id: &InstanceId, tool: &str, arguments: &Value) {
    place.restart_server(id);
    let answer = place.call(id, tool, arguments);
    assert_eq!(answer["error"], false, "{answer}\n{}", place.describe());
}

/// An agent that the fault has ended is brought back.
fn bring_back(place: &Place, id: &InstanceId) {
    // Whoever looks notices that it died.
    text(&place.codex(&["list"]));
    if !place.status(id).is_live() {
        text(&place.codex(&["resume", id.as_str()]));
        place.until("it is up", || place.status(id) != Status::Started);
    }
}

pub(super) fn launch(stage: &Stage) {
    stage.place.codex(&["code", "Do the work"]);
}

pub(super) fn launch_again(stage: &Stage) {
    let id = stage.place.coder(&[]);
    text(&stage.place.codex(&["stop", id.as_str()]));
}

pub(super) fn stop(stage: &Stage) {
    stage.place.codex(&["stop", stage.id().as_str()]);
}

pub(super) fn stop_again(stage: &Stage) {
    text(&stage.place.codex(&["stop", stage.id().as_str()]));
    work_is_there(&stage.place);
}

pub(super) fn stopped_with_its_work(stage: &Stage) {
    stop_again(stage);
    let worktree = stage.place.instance(stage.id()).worktree_path;
    let kept = std::fs::read_to_string(worktree.join("work.txt")).unwrap_or_default();
    assert!(kept.contains("unsaved"), "what was not committed is lost");
}

pub(super) fn send(stage: &Stage) {
    stage.place.send(stage.id(), "a word");
}

/// The agent's own server hands it over, which is the one with the fault.
pub(super) fn send_to_new_server(stage: &Stage) {
    let (place, id) = (&stage.place, stage.id());
    let before = place.log(id, "server").len();
    place.tell(id, &json!({ "restart": true }));
    let deadline = Instant::now() + PATIENCE;
    while place.log(id, "server").len() == before
        && place.has_session(id)
        && Instant::now() < deadline
    {
        std::thread::sleep(Duration::from_millis(20));
    }
    place.send(id, "a word");
}

/// One more message, so that none stays behind the first.
pub(super) fn send_again(stage: &Stage) {
    bring_back(&stage.place, stage.id());
    text(&stage.place.send(stage.id(), "another word"));
    all_is_told(&stage.place);
}

/// Nobody can prove that it arrived, so it is typed once, or not at all if the sender died too early.
pub(super) fn told_at_most_once(stage: &Stage) {
    let (place, id) = (&stage.place, stage.id());
    all_is_told(place);
    let sent = place.messages(id);
    assert!(sent.len() <= 1, "{sent:?}");
    let times: usize = arrivals(place, id).values().sum();
    assert_eq!(times, sent.len(), "{}", place.describe());
}

pub(super) fn merge(stage: &Stage) {
    stage.place.codex(&["pr", "merge", "1"]);
}

pub(super) fn merged_once(stage: &Stage) {
    let place = &stage.place;
    place.codex(&["pr", "merge", "1"]);
    let shown = place.json(&["pr", "show", "1"]);
    assert_eq!(shown["state"], "merged", "{shown}");
    work_is_there(place);
    let subjects = place.git(&["log", "--format=%s", "main"]);
    let merged = subjects
        .lines()
        .filter(|subject| *subject == "work")
        .count();
    assert_eq!(merged, 1, "{subjects}");
    assert_eq!(place.git(&["status", "--porcelain"]), "");
}

fn pull_request() -> Value {
    json!({ "title": "Add the work", "description": "What and why." })
}

pub(super) fn publish(stage: &Stage) {
    call_by_new_server(&stage.place, stage.id(), "create_pr", &pull_request());
}

/// Called again, it finds the pull request that stands, or makes the only one.
pub(super) fn published_once(stage: &Stage) {
    let (place, id) = (&stage.place, stage.id());
    if place.status(id) != Status::PrCreated {
        bring_back(place, id);
        call_again(place, id, "create_pr", &pull_request());
    }
    place.until("it is published", || place.status(id) == Status::PrCreated);
    let pulls = place.json(&["pr", "list", "--state", "all"]);
    assert_eq!(pulls.as_array().unwrap().len(), 1, "{pulls}");
    work_is_there(place);
}

pub(super) fn ask_for_review(stage: &Stage) {
    let arguments = json!({ "description": "Please look." });
    call_by_new_server(&stage.place, stage.id(), "request_review", &arguments);
}

/// Whether the review stands or was taken back, the coder can be ended and nothing of a reviewer stays.
pub(super) fn stop_whoever_is_there(stage: &Stage) {
    stop_again(stage);
    stage.place.until("no reviewer is left", || {
        let all = stage.place.store().read_now(|r| r.instances(false));
        all.unwrap()
            .iter()
            .all(|instance| !instance.status.is_live())
    });
}

fn feedback() -> Value {
    json!({ "feedback": "Please change it.", "findings": [
        { "file": "work.txt", "line": 1, "severity": "blocking", "message": "wrong word" }] })
}

pub(super) fn request_changes(stage: &Stage) {
    let reviewer = stage.reviewer.as_ref().unwrap();
    call_by_new_server(&stage.place, reviewer, "request_changes", &feedback());
}

/// The reviewer can say it as long as it lives; the coder hears it once, or that the reviewer was lost.
pub(super) fn changes_requested_once(stage: &Stage) {
    let (place, id) = (&stage.place, stage.id());
    let reviewer = stage.reviewer.as_ref().unwrap();
    if place.status(reviewer).is_live() {
        call_again(place, reviewer, "request_changes", &feedback());
    }
    bring_back(place, id);
    all_is_told(place);
    let status = place.status(id);
    assert_eq!(status, Status::Running, "{}", place.describe());
    place.is_gone(reviewer);
    let said = |message: &&shared::model::Message| message.body.contains("Please change it.");
    let times = place.messages(id).iter().filter(said).count();
    let verdict = place.reviews(id)[0].verdict;
    let wanted = usize::from(verdict == Verdict::ChangesRequested);
    assert_eq!(times, wanted, "{verdict}\n{}", place.describe());
    stop_again(stage);
}

pub(super) fn approve(stage: &Stage) {
    let reviewer = stage.reviewer.as_ref().unwrap();
    call_by_new_server(&stage.place, reviewer, "create_pr", &pull_request());
}

pub(super) fn approved_once(stage: &Stage) {
    let reviewer = stage.reviewer.as_ref().unwrap();
    if stage.place.status(reviewer).is_live() {
        call_again(&stage.place, reviewer, "create_pr", &pull_request());
    }
    published_once(stage);
    stage.place.is_gone(reviewer);
}

pub(super) fn stop_hook(stage: &Stage) {
    let (place, id) = (&stage.place, stage.id());
    let program = program();
    place.tell(id, &json!({ "hook": [program, "hook", "Stop"] }));
    place.until("the hook ends", || !place.log(id, "hook").is_empty());
}

pub(super) fn taken_once(stage: &Stage) {
    let (place, id) = (&stage.place, stage.id());
    command(place, id, &json!({ "draft": "" }));
    place.until("it is taken", || {
        place.codex(&["list"]);
        place.messages(id)[0].state == MessageState::Taken
    });
    assert_eq!(arrivals(place, id).values().sum::<usize>(), 1);
}

pub(super) fn resume(stage: &Stage) {
    stage.place.codex(&["resume", stage.id().as_str()]);
}

pub(super) fn resumed(stage: &Stage) {
    bring_back(&stage.place, stage.id());
    text(&stage.place.send(stage.id(), "a word"));
    all_is_told(&stage.place);
    stop_again(stage);
}

pub(super) fn clean(stage: &Stage) {
    stage.place.codex(&["clean"]);
}

pub(super) fn cleaned(stage: &Stage) {
    let place = &stage.place;
    text(&place.codex(&["clean"]));
    work_is_there(place);
    let other = place.instance(stage.reviewer.as_ref().unwrap());
    assert!(!other.worktree_path.exists(), "{}", place.describe());
    let branch = format!("codex/{}", other.id);
    assert_eq!(place.git(&["branch", "--list", &branch]), "");
}

pub(super) fn sync(stage: &Stage) {
    stage.place.codex(&["sync"]);
}

pub(super) fn synced(stage: &Stage) {
    let place = &stage.place;
    text(&place.codex(&["sync"]));
    let instance = place.instance(stage.id());
    assert_eq!(instance.status, Status::PrMerged);
    // Where git could not tell whether there is work in it, the worktree is kept for a person to clean.
    place.until("its worktree is put away", || {
        text(&place.codex(&["list"]));
        !instance.worktree_path.exists()
            || place
                .instance(stage.id())
                .note
                .is_some_and(|note| note.contains("git can't tell"))
    });
    text(&place.codex(&["clean"]));
    assert!(!instance.worktree_path.exists(), "{}", place.describe());
}

fn task() -> Value {
    json!({
        "taskTitle": "One", "taskDescription": "Do it well", "priority": "high", "createIssue": true,
    })
}

pub(super) fn create_task(stage: &Stage) {
    call_by_new_server(&stage.place, stage.id(), "create_task", &task());
}

/// Whoever does not know whether it was done asks once more.
pub(super) fn one_task(stage: &Stage) {
    let (place, id) = (&stage.place, stage.id());
    bring_back(place, id);
    let answered = place.log(id, "tool");
    let last = answered.last();
    if last.is_none_or(|answer| answer["result"]["issueNumber"].is_null()) {
        call_again(place, id, "create_task", &task());
    }
    let tasks = place.json(&["tasks"]);
    assert_eq!(tasks.as_array().unwrap().len(), 1, "{tasks}");
    let hub = stage.hub.as_ref().unwrap();
    assert_eq!(hub.server.state().issues.len(), 1);
}

pub(super) fn tdd_run(stage: &Stage) {
    let spec = stage.place.path("SPEC.md");
    stage.place.codex(&["tdd", spec.to_str().unwrap()]);
}

/// A run that was begun is taken up; then there is one pull request, whatever was done twice.
pub(super) fn tdd_resumed(stage: &Stage) {
    let place = &stage.place;
    let runs = place.store().read_now(|r| r.tdd_runs(10)).unwrap();
    assert!(runs.len() <= 1, "{runs:?}");
    let spec = place.path("SPEC.md");
    match runs.first() {
        Some(run) if run.status == shared::model::TddStatus::Completed => {}
        Some(run) => {
            text(&place.codex(&["tdd", "resume", run.task_id.as_str()]));
        }
        None => {
            text(&place.codex(&["tdd", spec.to_str().unwrap()]));
        }
    }
    let pulls = place.json(&["pr", "list", "--state", "all"]);
    assert_eq!(pulls.as_array().unwrap().len(), 1, "{pulls}");
}

/// Calls a hook as a session of a person's own would.
fn hook(place: &Place, event: &str, rest: (&str, &str)) -> String {
    let payload = json!({
        "session_id": SESSION, "transcript_path": "/nowhere", "cwd": place.path("repo"),
        "hook_event_name": event, rest.0: rest.1,
    });
    let child = place.start(&["hook", event, "--tdd"], &payload.to_string());
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

pub(super) fn begin_phase(stage: &Stage) {
    hook(
        &stage.place,
        "UserPromptSubmit",
        ("prompt", "/tdd start tests"),
    );
}

/// Said again, it holds: from then on the library is not to be touched.
pub(super) fn phase_begun(stage: &Stage) {
    let place = &stage.place;
    begin_phase(stage);
    let root = place.path("repo");
    let row = place.store().read_now(|r| r.phase(&root, SESSION)).unwrap();
    assert_eq!(row.map(|row| row.phase), Some(Phase::Tests));
    let payload = json!({
        "session_id": SESSION, "transcript_path": "/nowhere", "cwd": root, "hook_event_name": "PreToolUse",
        "tool_name": "Write", "tool_input": { "file_path": root.join("src/lib.rs"), "content": "" },
    });
    let child = place.start(&["hook", "PreToolUse", "--tdd"], &payload.to_string());
    let answer = text(&child.wait_with_output().unwrap());
    assert!(answer.contains("deny"), "{answer}");
}
