//! How things stand before a verb.

use std::path::Path;

use serde_json::json;
use shared::model::{InstanceId, Status};

use super::Stage;
use crate::delivery::{command, kill_server, sent};
use crate::github_support::Hub;
use crate::support::{Place, text};

pub(super) fn nothing(_: &mut Stage) {}

pub(super) fn a_coder(stage: &mut Stage) {
    stage.id = Some(stage.place.coder(&[]));
}

/// Whoever sends it something hands it over as well.
pub(super) fn a_coder_without_server(stage: &mut Stage) {
    a_coder(stage);
    kill_server(&stage.place, stage.id());
}

/// A Claude Code that writes no transcript and whose server is dead: what was typed is never proven.
pub(super) fn a_silent_claude(stage: &mut Stage) {
    a_claude(stage);
    command(&stage.place, stage.id(), &json!({ "silent": true }));
    kill_server(&stage.place, stage.id());
}

pub(super) fn a_coder_with_work(stage: &mut Stage) {
    a_coder(stage);
    stage.place.commit(stage.id(), "work");
}

/// One commit, and a line that is not committed.
pub(super) fn a_coder_with_unsaved_work(stage: &mut Stage) {
    a_coder_with_work(stage);
    let (place, id) = (&stage.place, stage.id());
    let before = place.log(id, "written").len();
    place.tell(id, &json!({ "write": "unsaved" }));
    place.until("it is written", || place.log(id, "written").len() > before);
}

fn has_ended(place: &Place, id: &InstanceId) {
    place.until("it has ended", || {
        place.instance(id).owner.is_none() && !place.has_session(id)
    });
}

pub(super) fn a_published_coder(stage: &mut Stage) {
    a_coder_with_work(stage);
    let answer = stage.place.create_pr(stage.id(), "Add the work");
    assert_eq!(answer["error"], false, "{answer}");
    has_ended(&stage.place, stage.id());
}

pub(super) fn under_review(stage: &mut Stage) {
    a_coder_with_work(stage);
    let place = &stage.place;
    let asked = json!({ "description": "Please look." });
    let answer = place.call(stage.id(), "request_review", &asked);
    assert_eq!(answer["error"], false, "{answer}");
    let reviewer = place.reviews(stage.id())[0].review_instance_id.clone();
    place.until("the reviewer is up", || {
        place.status(&reviewer) == Status::Running && !place.log(&reviewer, "ready").is_empty()
    });
    stage.reviewer = Some(reviewer);
}

fn a_claude(stage: &mut Stage) {
    let place = &mut stage.place;
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/review/fake_claude.py");
    place.set("CODEX_AGENT_COMMAND", "");
    place.set("CODEX_CLAUDE", program.to_str().unwrap());
    text(&place.codex(&["trust", "--yes"]));
    let id = place.coder(&[]);
    place.until("it is up", || place.status(&id) == Status::Running);
    stage.id = Some(id);
}

/// A Claude Code with a draft in its box, so that nothing is typed, is owed a message.
pub(super) fn an_owed_claude(stage: &mut Stage) {
    a_claude(stage);
    let (place, id) = (&stage.place, stage.id());
    command(place, id, &json!({ "draft": "wait" }));
    let sent = sent(place, id, "a word");
    assert_eq!(sent["delivered"], false, "{sent}");
}

pub(super) fn a_stopped_coder(stage: &mut Stage) {
    a_coder_with_work(stage);
    text(&stage.place.codex(&["stop", stage.id().as_str()]));
    has_ended(&stage.place, stage.id());
}

/// One has work that is nowhere else; nothing of the other is worth keeping. Nobody has put them away.
pub(super) fn two_ended_coders(stage: &mut Stage) {
    stage.place.set("CODEX_RESOURCES_CLEANUP", "manual");
    a_coder_with_work(stage);
    let other = stage.place.coder(&[]);
    for id in [stage.id(), &other] {
        text(&stage.place.codex(&["stop", id.as_str()]));
        has_ended(&stage.place, id);
    }
    stage.reviewer = Some(other);
}

pub(super) fn merged_on_github(stage: &mut Stage) {
    stage.hub = Some(Hub::new(&mut stage.place));
    a_published_coder(stage);
    let number = stage.place.instance(stage.id()).pr_number.unwrap();
    let hub = stage.hub.as_ref().unwrap();
    hub.server.state().merge(number);
}

pub(super) fn a_planner(stage: &mut Stage) {
    stage.hub = Some(Hub::new(&mut stage.place));
    let place = &stage.place;
    let printed = place.json(&["plan", "Plan the work"]);
    let id: InstanceId = printed["id"].as_str().unwrap().parse().unwrap();
    place.until("the planner is up", || place.status(&id) == Status::Running);
    stage.id = Some(id);
}

pub(super) fn a_specification(stage: &mut Stage) {
    let place = &mut stage.place;
    let agent = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tdd/agent.py");
    let agent = format!("python3 '{}'", agent.display());
    place.set("CODEX_AGENT_COMMAND", &agent);
    place.set("SCRIPT_CODER", "work");
    place.set("SCRIPT_REVIEWER", "approve");
    std::fs::write(place.path("SPEC.md"), "# Greeting\n\nIt greets by name.\n").unwrap();
}

pub(super) fn a_project(stage: &mut Stage) {
    let place = &stage.place;
    std::fs::create_dir(place.path("repo/src")).unwrap();
    std::fs::write(
        place.path("repo/Cargo.toml"),
        "[package]\nname = \"sample\"\n",
    )
    .unwrap();
    std::fs::write(
        place.path("repo/src/lib.rs"),
        "pub fn one() -> u8 {\n    1\n}\n",
    )
    .unwrap();
    place.git(&["add", "."]);
    place.git(&["commit", "-q", "-m", "project"]);
}
