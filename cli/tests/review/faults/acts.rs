//! What is done while the fault waits, and what a person does after it.

use serde_json::{Value, json};
use shared::model::{InstanceId, Kept, MessageState, Phase, Status, Verdict};
use tests::{AgentEnv, binary, comes_true, text};

use super::Stage;
use crate::delivery::command;
use crate::settled::{all_is_told, arrivals};

const SESSION: &str = "0b2f6a52-6a3c-4c6e-9d3e-0a1b2c3d4e5f";

/// The commit that a coder made is still in the repository, whatever else happened.
fn work_is_there(env: &AgentEnv) {
    let found = env.git(&["log", "--all", "--format=%s"]);
    assert!(found.lines().any(|subject| subject == "work"), "{found}");
}

/// Has an agent's server, which is the one with the fault, do something; it may die over it.
fn call_by_new_server(env: &AgentEnv, id: &InstanceId, tool: &str, arguments: &Value) {
    let before = env.log(id, "tool").len();
    env.tell(id, &json!({ "restart": true }));
    env.tell(id, &json!({ "call": tool, "arguments": arguments }));
    // An agent that has ended answers nothing, and one whose server stands still only later.
    comes_true(|| env.log(id, "tool").len() > before || !env.has_session(id));
}

/// Calls a tool with a server that has no fault; it must succeed.
fn call_again(env: &AgentEnv, id: &InstanceId, tool: &str, arguments: &Value) {
    env.restart_server(id);
    let answer = env.call(id, tool, arguments);
    assert_eq!(answer["error"], false, "{answer}\n{}", env.describe());
}

/// An agent that the fault has ended is brought back.
fn bring_back(env: &AgentEnv, id: &InstanceId) {
    // Whoever looks notices that it died.
    env.text(&["list"]);
    if !env.status(id).is_live() {
        env.text(&["resume", id.as_str()]);
        env.until("it is up", || env.status(id) != Status::Started);
    }
}

pub(super) fn launch(stage: &Stage) {
    stage.env.codex(&["code", "Do the work"]);
}

pub(super) fn launch_again(stage: &Stage) {
    let id = stage.env.coder(&[]);
    stage.env.text(&["stop", id.as_str()]);
}

pub(super) fn stop(stage: &Stage) {
    stage.env.codex(&["stop", stage.id().as_str()]);
}

pub(super) fn stop_again(stage: &Stage) {
    stage.env.text(&["stop", stage.id().as_str()]);
    work_is_there(&stage.env);
}

pub(super) fn stopped_with_its_work(stage: &Stage) {
    stop_again(stage);
    let worktree = stage.env.instance(stage.id()).worktree_path;
    let kept = std::fs::read_to_string(worktree.join("work.txt")).unwrap_or_default();
    assert!(kept.contains("unsaved"), "what was not committed is lost");
}

pub(super) fn send(stage: &Stage) {
    stage.env.send(stage.id(), "a word");
}

/// The agent's own server hands it over, which is the one with the fault.
pub(super) fn send_to_new_server(stage: &Stage) {
    let (env, id) = (&stage.env, stage.id());
    let before = env.log(id, "server").len();
    env.tell(id, &json!({ "restart": true }));
    comes_true(|| env.log(id, "server").len() > before || !env.has_session(id));
    env.send(id, "a word");
}

/// One more message, so that none stays behind the first.
pub(super) fn send_again(stage: &Stage) {
    bring_back(&stage.env, stage.id());
    text(&stage.env.send(stage.id(), "another word"));
    all_is_told(&stage.env);
}

/// Nobody can prove that it arrived, so it is typed once, or not at all if the sender died too early.
pub(super) fn told_at_most_once(stage: &Stage) {
    let (env, id) = (&stage.env, stage.id());
    all_is_told(env);
    let sent = env.messages(id);
    assert!(sent.len() <= 1, "{sent:?}");
    let times: usize = arrivals(env, id).values().sum();
    assert_eq!(times, sent.len(), "{}", env.describe());
}

pub(super) fn merge(stage: &Stage) {
    stage.env.codex(&["pr", "merge", "1"]);
}

pub(super) fn merged_once(stage: &Stage) {
    let env = &stage.env;
    env.codex(&["pr", "merge", "1"]);
    let shown = env.json(&["pr", "show", "1"]);
    assert_eq!(shown["state"], "merged", "{shown}");
    work_is_there(env);
    let subjects = env.git(&["log", "--format=%s", "main"]);
    let merged = subjects
        .lines()
        .filter(|subject| *subject == "work")
        .count();
    assert_eq!(merged, 1, "{subjects}");
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    assert!(!env.path("repo/.git/index.lock").exists());
}

fn pull_request() -> Value {
    json!({ "title": "Add the work", "description": "What and why." })
}

pub(super) fn publish(stage: &Stage) {
    call_by_new_server(&stage.env, stage.id(), "create_pr", &pull_request());
}

/// Called again, it finds the pull request that stands, or makes the only one.
pub(super) fn published_once(stage: &Stage) {
    let (env, id) = (&stage.env, stage.id());
    if env.status(id) != Status::PrCreated {
        bring_back(env, id);
        call_again(env, id, "create_pr", &pull_request());
    }
    env.until("it is published", || env.status(id) == Status::PrCreated);
    let pulls = env.json(&["pr", "list", "--state", "all"]);
    assert_eq!(pulls.as_array().unwrap().len(), 1, "{pulls}");
    work_is_there(env);
}

pub(super) fn ask_for_review(stage: &Stage) {
    let arguments = json!({ "description": "Please look." });
    call_by_new_server(&stage.env, stage.id(), "request_review", &arguments);
}

/// Whether the review stands or was taken back, the coder can be ended and nothing of a reviewer stays.
pub(super) fn stop_whoever_is_there(stage: &Stage) {
    stop_again(stage);
    stage.env.until("no reviewer is left", || {
        let all = stage.env.store().read_now(|r| r.instances(false));
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
    call_by_new_server(&stage.env, reviewer, "request_changes", &feedback());
}

/// The reviewer can say it as long as it lives; the coder hears it once, or that the reviewer was lost.
pub(super) fn changes_requested_once(stage: &Stage) {
    let (env, id) = (&stage.env, stage.id());
    let reviewer = stage.reviewer.as_ref().unwrap();
    if env.status(reviewer).is_live() {
        call_again(env, reviewer, "request_changes", &feedback());
    }
    bring_back(env, id);
    all_is_told(env);
    let status = env.status(id);
    assert_eq!(status, Status::Running, "{}", env.describe());
    env.until_gone(reviewer);
    let said = |message: &&shared::model::Message| message.body.contains("Please change it.");
    let times = env.messages(id).iter().filter(said).count();
    let verdict = env.reviews(id)[0].verdict;
    let wanted = usize::from(verdict == Verdict::ChangesRequested);
    assert_eq!(times, wanted, "{verdict}\n{}", env.describe());
    stop_again(stage);
}

pub(super) fn approve(stage: &Stage) {
    let reviewer = stage.reviewer.as_ref().unwrap();
    call_by_new_server(&stage.env, reviewer, "create_pr", &pull_request());
}

pub(super) fn approved_once(stage: &Stage) {
    let reviewer = stage.reviewer.as_ref().unwrap();
    if stage.env.status(reviewer).is_live() {
        call_again(&stage.env, reviewer, "create_pr", &pull_request());
    }
    published_once(stage);
    stage.env.until_gone(reviewer);
}

pub(super) fn stop_hook(stage: &Stage) {
    let (env, id) = (&stage.env, stage.id());
    let program = binary("claude-codex");
    env.tell(id, &json!({ "hook": [program, "hook", "Stop"] }));
    env.until("the hook ends", || !env.log(id, "hook").is_empty());
}

pub(super) fn taken_once(stage: &Stage) {
    let (env, id) = (&stage.env, stage.id());
    command(env, id, &json!({ "draft": "" }));
    env.until("it is taken", || {
        env.codex(&["list"]);
        env.messages(id)[0].state == MessageState::Taken
    });
    assert_eq!(arrivals(env, id).values().sum::<usize>(), 1);
}

pub(super) fn resume(stage: &Stage) {
    stage.env.codex(&["resume", stage.id().as_str()]);
}

pub(super) fn resumed(stage: &Stage) {
    bring_back(&stage.env, stage.id());
    text(&stage.env.send(stage.id(), "a word"));
    all_is_told(&stage.env);
    stop_again(stage);
}

pub(super) fn clean(stage: &Stage) {
    stage.env.codex(&["clean"]);
}

pub(super) fn cleaned(stage: &Stage) {
    let env = &stage.env;
    env.text(&["clean"]);
    work_is_there(env);
    let other = env.instance(stage.reviewer.as_ref().unwrap());
    assert!(!other.worktree_path.exists(), "{}", env.describe());
    let branch = format!("codex/{}", other.id);
    assert_eq!(env.git(&["branch", "--list", &branch]), "");
}

pub(super) fn sync(stage: &Stage) {
    stage.env.codex(&["sync"]);
}

pub(super) fn synced(stage: &Stage) {
    let env = &stage.env;
    env.text(&["sync"]);
    let instance = env.instance(stage.id());
    assert_eq!(instance.status, Status::PrMerged);
    // Where git could not tell whether there is work in it, the worktree is kept for a person to clean.
    env.until("its worktree is put away", || {
        env.text(&["list"]);
        !instance.worktree_path.exists()
            || env
                .instance(stage.id())
                .note
                .kept
                .is_some_and(|kept| matches!(kept, Kept::Unchecked { .. }))
    });
    env.text(&["clean"]);
    assert!(!instance.worktree_path.exists(), "{}", env.describe());
}

fn task() -> Value {
    json!({
        "taskTitle": "One", "taskDescription": "Do it well", "priority": "high", "createIssue": true,
    })
}

pub(super) fn create_task(stage: &Stage) {
    call_by_new_server(&stage.env, stage.id(), "create_task", &task());
}

/// Whoever does not know whether it was done asks once more.
pub(super) fn one_task(stage: &Stage) {
    let (env, id) = (&stage.env, stage.id());
    bring_back(env, id);
    let answered = env.log(id, "tool");
    let last = answered.last();
    if last.is_none_or(|answer| answer["result"]["issueNumber"].is_null()) {
        call_again(env, id, "create_task", &task());
    }
    let tasks = env.json(&["tasks"]);
    assert_eq!(tasks.as_array().unwrap().len(), 1, "{tasks}");
    let github = stage.github.as_ref().unwrap();
    assert_eq!(github.state().issues.len(), 1);
}

pub(super) fn tdd_run(stage: &Stage) {
    let spec = stage.env.path("SPEC.md");
    stage.env.codex(&["tdd", spec.to_str().unwrap()]);
}

/// A run that was begun is taken up; then there is one pull request, whatever was done twice.
pub(super) fn tdd_resumed(stage: &Stage) {
    let env = &stage.env;
    let runs = env.store().read_now(|r| r.tdd_runs(10)).unwrap();
    assert!(runs.len() <= 1, "{runs:?}");
    let spec = env.path("SPEC.md");
    match runs.first() {
        Some(run) if run.status == shared::model::TddStatus::Completed => {}
        Some(run) => {
            env.text(&["tdd", "resume", run.task_id.as_str()]);
        }
        None => {
            env.text(&["tdd", spec.to_str().unwrap()]);
        }
    }
    let pulls = env.json(&["pr", "list", "--state", "all"]);
    assert_eq!(pulls.as_array().unwrap().len(), 1, "{pulls}");
}

/// Calls a hook as a session of a person's own would.
fn hook(env: &AgentEnv, event: &str, rest: (&str, &str)) -> String {
    let payload = json!({
        "session_id": SESSION, "transcript_path": "/nowhere", "cwd": env.path("repo"),
        "hook_event_name": event, rest.0: rest.1,
    });
    let child = env.start(&["hook", event, "--tdd"], &payload.to_string());
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

pub(super) fn begin_phase(stage: &Stage) {
    hook(
        &stage.env,
        "UserPromptSubmit",
        ("prompt", "/tdd start tests"),
    );
}

/// Said again, it holds: from then on the library is not to be touched.
pub(super) fn phase_begun(stage: &Stage) {
    let env = &stage.env;
    begin_phase(stage);
    let root = env.path("repo");
    let row = env.store().read_now(|r| r.phase(&root, SESSION)).unwrap();
    assert_eq!(row.map(|row| row.phase), Some(Phase::Tests));
    let payload = json!({
        "session_id": SESSION, "transcript_path": "/nowhere", "cwd": root, "hook_event_name": "PreToolUse",
        "tool_name": "Write", "tool_input": { "file_path": root.join("src/lib.rs"), "content": "" },
    });
    let child = env.start(&["hook", "PreToolUse", "--tdd"], &payload.to_string());
    let answer = text(&child.wait_with_output().unwrap());
    assert!(answer.contains("deny"), "{answer}");
}
