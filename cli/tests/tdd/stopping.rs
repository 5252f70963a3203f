//! A person who stops, leaves or meddles with a run.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use shared::model::Status;

use crate::lab::{Lab, result};
use crate::support::text;

#[test]
fn stop_ends_the_run_and_its_agents() {
    for (coder, reviewer, waiting) in [
        ("wait-work", "approve", "coder"),
        ("work", "wait-approve", "reviewer"),
    ] {
        let lab = Lab::new(coder, reviewer);
        let (child, id) = lab.begin(&[]);
        lab.waits(waiting);
        let listed = lab.place.json(&["list"]);
        let agents = listed.as_array().unwrap();
        assert!(
            agents.iter().any(|agent| agent["id"] == id.as_str()),
            "{listed}"
        );
        text(&lab.place.codex(&["stop", id.as_str()]));
        let result = result(&child.wait_with_output().unwrap());
        let error = result["error"].as_str().unwrap();
        assert!(error.contains("was stopped"), "{error}");
        assert_eq!(lab.show(&id)["status"], "failed");
        assert_eq!(lab.place.status(&id), Status::Terminated);
        lab.nothing_runs();
        lab.go();
        let result = lab.resume(&id, &[]);
        assert_eq!(result["success"], true, "{result}");
    }
}

#[test]
fn ctrl_c_leaves_a_run_that_can_be_resumed_and_says_how() {
    let lab = Lab::new("wait-work", "approve");
    let (child, id) = lab.begin(&[]);
    lab.waits("coder");
    let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["code"], "CANCELLED");
    let hint = error["hint"].as_str().unwrap();
    assert!(
        hint.contains(&format!("claude-codex tdd resume {id}")),
        "{hint}"
    );
    assert_eq!(lab.show(&id)["status"], "running");
    assert!(lab.place.status(&id).is_live());
    lab.go();
    assert_eq!(lab.resume(&id, &[])["success"], true);
    assert_eq!(lab.turns("coder"), 1);
}

#[test]
fn a_run_has_one_driver_and_its_agents_no_other_way_back() {
    let lab = Lab::new("wait-work", "approve");
    let (child, id) = lab.begin(&[]);
    lab.waits("coder");
    assert_eq!(
        lab.place.refused(&["tdd", "resume", id.as_str()]),
        "ILLEGAL_STATE"
    );
    assert_eq!(lab.place.refused(&["resume", id.as_str()]), "NOT_AVAILABLE");
    // Nothing is typed at a headless agent; what it is sent waits for its next turn.
    let sent: Value = serde_json::from_str(&text(&lab.place.send(&id, "be polite"))).unwrap();
    assert_eq!(sent["delivered"], false);
    assert_eq!(sent["waitingFor"], "next_turn");
    lab.go();
    assert_eq!(result(&child.wait_with_output().unwrap())["success"], true);
}

#[test]
fn a_note_from_a_person_is_in_the_next_prompt() {
    let lab = Lab::new("wait-work,work", "changes,approve");
    let (child, id) = lab.begin(&[]);
    lab.waits("coder");
    text(&lab.place.send(&id, "be polite"));
    lab.go();
    let result = result(&child.wait_with_output().unwrap());
    assert_eq!(
        (&result["success"], &result["iterations"]),
        (&json!(true), &json!(2))
    );
    let told = lab.told("coder", 2);
    assert!(
        told.contains("be polite") && told.contains("Please change it"),
        "{told}"
    );
}

#[test]
fn tokens_of_the_person_are_in_no_file_of_a_run() {
    let mut lab = Lab::new("wait-work,work", "changes,approve");
    let secret = "sk-ant-verysecret-0123456789";
    lab.place.set("ANTHROPIC_API_KEY", secret);
    let (child, _) = lab.begin(&[]);
    lab.waits("coder");
    lab.place.assert_nowhere(&[secret]);
    lab.go();
    let result = result(&child.wait_with_output().unwrap());
    assert_eq!(result["success"], true, "{result}");
    lab.place.assert_nowhere(&[secret]);
}

#[test]
fn prompts_are_overridden_in_the_repository() {
    let lab = Lab::new("work", "approve");
    let folder = lab.place.path("repo/.claude-codex/prompts");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("tdd-coder.md"),
        "MINE for {{instance}}, {{round}}/{{max_rounds}}",
    )
    .unwrap();
    std::fs::write(folder.join("tdd-reviewer.md"), "ALSO MINE, {{base}}").unwrap();
    text(&lab.place.codex(&["trust", "--yes"]));
    let result = lab.tdd(&[]);
    let id = crate::lab::id_of(&result);
    assert_eq!(result["success"], true);
    assert!(
        lab.told("coder", 1)
            .starts_with(&format!("MINE for {id}, 1/3"))
    );
    assert!(lab.told("reviewer", 1).starts_with("ALSO MINE, main"));
}
