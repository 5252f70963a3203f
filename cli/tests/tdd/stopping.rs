//! A person who stops, leaves or meddles with a run.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use shared::model::Status;
use tests::text;

use crate::tdd_env::{TddEnv, result};

#[test]
fn stop_ends_the_run_and_its_agents() {
    for (coder, reviewer, waiting) in [
        ("wait-work", "approve", "coder"),
        ("work", "wait-approve", "reviewer"),
    ] {
        let env = TddEnv::new(coder, reviewer);
        let (child, id) = env.begin(&[]);
        env.until_waits(waiting);
        let listed = env.json(&["list"]);
        let agents = listed.as_array().unwrap();
        assert!(
            agents.iter().any(|agent| agent["id"] == id.as_str()),
            "{listed}"
        );
        env.text(&["stop", id.as_str()]);
        let result = result(&child.wait_with_output().unwrap());
        let error = result["error"].as_str().unwrap();
        assert!(error.contains("was stopped"), "{error}");
        assert_eq!(env.show(&id)["status"], "failed");
        assert_eq!(env.status(&id), Status::Terminated);
        env.until_nothing_runs();
        env.go();
        let result = env.resume(&id, &[]);
        assert_eq!(result["success"], true, "{result}");
    }
}

#[test]
fn ctrl_c_leaves_a_run_that_can_be_resumed_and_says_how() {
    let env = TddEnv::new("wait-work", "approve");
    let (child, id) = env.begin(&[]);
    env.until_waits("coder");
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
    assert_eq!(env.show(&id)["status"], "running");
    assert!(env.status(&id).is_live());
    env.go();
    assert_eq!(env.resume(&id, &[])["success"], true);
    assert_eq!(env.turns("coder"), 1);
}

#[test]
fn a_run_has_one_driver_and_its_agents_no_other_way_back() {
    let env = TddEnv::new("wait-work", "approve");
    let (child, id) = env.begin(&[]);
    env.until_waits("coder");
    assert_eq!(
        env.refused(&["tdd", "resume", id.as_str()]),
        "ILLEGAL_STATE"
    );
    assert_eq!(env.refused(&["resume", id.as_str()]), "NOT_AVAILABLE");
    // Nothing is typed at a headless agent; what it is sent waits for its next turn.
    let sent: Value = serde_json::from_str(&text(&env.send(&id, "be polite"))).unwrap();
    assert_eq!(sent["delivered"], false);
    assert_eq!(sent["waitingFor"], "next_turn");
    env.go();
    assert_eq!(result(&child.wait_with_output().unwrap())["success"], true);
}

#[test]
fn a_note_from_a_person_is_in_the_next_prompt() {
    let env = TddEnv::new("wait-work,work", "changes,approve");
    let (child, id) = env.begin(&[]);
    env.until_waits("coder");
    text(&env.send(&id, "be polite"));
    env.go();
    let result = result(&child.wait_with_output().unwrap());
    assert_eq!(
        (&result["success"], &result["iterations"]),
        (&json!(true), &json!(2))
    );
    let told = env.told("coder", 2);
    assert!(
        told.contains("be polite") && told.contains("Please change it"),
        "{told}"
    );
}

#[test]
fn tokens_of_the_person_are_in_no_file_of_a_run() {
    let mut env = TddEnv::new("wait-work,work", "changes,approve");
    let secret = "sk-ant-verysecret-0123456789";
    env.set("ANTHROPIC_API_KEY", secret);
    let (child, _) = env.begin(&[]);
    env.until_waits("coder");
    env.assert_nowhere(&[secret]);
    env.go();
    let result = result(&child.wait_with_output().unwrap());
    assert_eq!(result["success"], true, "{result}");
    env.assert_nowhere(&[secret]);
}

#[test]
fn prompts_are_overridden_in_the_repository() {
    let env = TddEnv::new("work", "approve");
    let folder = env.path("repo/.claude-codex/prompts");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("tdd-coder.md"),
        "MINE for {{instance}}, {{round}}/{{max_rounds}}",
    )
    .unwrap();
    std::fs::write(folder.join("tdd-reviewer.md"), "ALSO MINE, {{base}}").unwrap();
    env.text(&["trust", "--yes"]);
    let result = env.tdd(&[]);
    let id = crate::tdd_env::id_of(&result);
    assert_eq!(result["success"], true);
    assert!(
        env.told("coder", 1)
            .starts_with(&format!("MINE for {id}, 1/3"))
    );
    assert!(env.told("reviewer", 1).starts_with("ALSO MINE, main"));
}
