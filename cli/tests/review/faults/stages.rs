//! How things stand before a verb.

use serde_json::json;
use shared::model::{InstanceId, Status};
use tests::{AgentEnv, GithubRemote, project_root};

use super::Stage;
use crate::delivery::{command, kill_server, sent};

pub(super) fn nothing(_: &mut Stage) {}

pub(super) fn a_coder(stage: &mut Stage) {
    stage.id = Some(stage.env.coder(&[]));
}

/// Whoever sends it something hands it over as well.
pub(super) fn a_coder_without_server(stage: &mut Stage) {
    a_coder(stage);
    kill_server(&stage.env, stage.id());
}

/// A Claude Code that writes no transcript and whose server is dead: what was typed is never proven.
pub(super) fn a_silent_claude(stage: &mut Stage) {
    a_claude(stage);
    command(&stage.env, stage.id(), &json!({ "silent": true }));
    kill_server(&stage.env, stage.id());
}

pub(super) fn a_coder_with_work(stage: &mut Stage) {
    a_coder(stage);
    stage.env.commit(stage.id(), "work");
}

/// One commit, and a line that is not committed.
pub(super) fn a_coder_with_unsaved_work(stage: &mut Stage) {
    a_coder_with_work(stage);
    let (env, id) = (&stage.env, stage.id());
    let before = env.log(id, "written").len();
    env.tell(id, &json!({ "write": "unsaved" }));
    env.until("it is written", || env.log(id, "written").len() > before);
}

fn has_ended(env: &AgentEnv, id: &InstanceId) {
    env.until("it has ended", || {
        env.instance(id).owner.is_none() && !env.has_session(id)
    });
}

pub(super) fn a_published_coder(stage: &mut Stage) {
    a_coder_with_work(stage);
    let answer = stage.env.create_pr(stage.id(), "Add the work");
    assert_eq!(answer["error"], false, "{answer}");
    has_ended(&stage.env, stage.id());
}

pub(super) fn under_review(stage: &mut Stage) {
    a_coder_with_work(stage);
    let env = &stage.env;
    let asked = json!({ "description": "Please look." });
    let answer = env.call(stage.id(), "request_review", &asked);
    assert_eq!(answer["error"], false, "{answer}");
    let reviewer = env.reviews(stage.id())[0]
        .review_instance_id
        .clone()
        .unwrap();
    env.until("the reviewer is up", || {
        env.status(&reviewer) == Status::Running && !env.log(&reviewer, "ready").is_empty()
    });
    stage.reviewer = Some(reviewer);
}

fn a_claude(stage: &mut Stage) {
    let env = &mut stage.env;
    let program = project_root().join("tests/agents/fake_claude.py");
    env.set("CODEX_AGENT_COMMAND", "");
    env.set("CODEX_CLAUDE", program.to_str().unwrap());
    env.text(&["trust", "--yes"]);
    let id = env.coder(&[]);
    env.until("it is up", || env.status(&id) == Status::Running);
    stage.id = Some(id);
}

/// A Claude Code with a draft in its box, so that nothing is typed, is owed a message.
pub(super) fn an_owed_claude(stage: &mut Stage) {
    a_claude(stage);
    let (env, id) = (&stage.env, stage.id());
    command(env, id, &json!({ "draft": "wait" }));
    let sent = sent(env, id, "a word");
    assert_eq!(sent["delivered"], false, "{sent}");
}

pub(super) fn a_stopped_coder(stage: &mut Stage) {
    a_coder_with_work(stage);
    stage.env.text(&["stop", stage.id().as_str()]);
    has_ended(&stage.env, stage.id());
}

/// One has work that is nowhere else; nothing of the other is worth keeping. Nobody has put them away.
pub(super) fn two_ended_coders(stage: &mut Stage) {
    stage.env.set("CODEX_RESOURCES_CLEANUP", "manual");
    a_coder_with_work(stage);
    let other = stage.env.coder(&[]);
    for id in [stage.id(), &other] {
        stage.env.text(&["stop", id.as_str()]);
        has_ended(&stage.env, id);
    }
    stage.reviewer = Some(other);
}

pub(super) fn merged_on_github(stage: &mut Stage) {
    stage.github = Some(GithubRemote::new(&mut stage.env));
    a_published_coder(stage);
    let number = stage.env.instance(stage.id()).pr_number.unwrap();
    let github = stage.github.as_ref().unwrap();
    github.state().merge(number);
}

pub(super) fn a_planner(stage: &mut Stage) {
    stage.github = Some(GithubRemote::new(&mut stage.env));
    let env = &stage.env;
    let printed = env.json(&["plan", "Plan the work"]);
    let id: InstanceId = printed["id"].as_str().unwrap().parse().unwrap();
    env.until("the planner is up", || env.status(&id) == Status::Running);
    stage.id = Some(id);
}

pub(super) fn a_specification(stage: &mut Stage) {
    let env = &mut stage.env;
    env.use_agent("tdd_agent.py");
    env.set("SCRIPT_CODER", "work");
    env.set("SCRIPT_REVIEWER", "approve");
    std::fs::write(env.path("SPEC.md"), "# Greeting\n\nIt greets by name.\n").unwrap();
}

pub(super) fn a_project(stage: &mut Stage) {
    let env = &stage.env;
    std::fs::create_dir(env.path("repo/src")).unwrap();
    std::fs::write(
        env.path("repo/Cargo.toml"),
        "[package]\nname = \"sample\"\n",
    )
    .unwrap();
    std::fs::write(
        env.path("repo/src/lib.rs"),
        "pub fn one() -> u8 {\n    1\n}\n",
    )
    .unwrap();
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "project"]);
}
