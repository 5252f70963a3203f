//! Agents that end by themselves: what they said is kept, and a launch whose agent dies at once fails and says why.

use serde_json::{Value, json};
use tests::dashboard::Dashboard;
use tests::{TestEnv, error, shown, until};

use crate::support::{env_with_agent, traces};

/// Long enough for any machine: a program that dies ends the wait.
const PATIENT: (&str, &str) = ("CODEX_AGENT_START_TIMEOUT_SECONDS", "1000");
const DIES: &str =
    "sh -c 'echo \"FATAL: no API key\"; echo ghp_0123456789abcdefghijklmnopqrstuvwxyz12; exit 3'";

/// An agent that dies as soon as the file `die` is there.
fn dies_later(env: &TestEnv) -> String {
    let file = env.path("die");
    format!(
        "sh -c 'while ! test -e {}; do sleep 0.05; done; echo \"FATAL: no API key\"; exit 3'",
        file.display()
    )
}

#[test]
fn what_an_agent_said_before_it_died_is_kept() {
    let mut env = env_with_agent();
    env.set("CODEX_AGENT_COMMAND", dies_later(&env));
    let id = env.json(&["code", "Try"])["id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(env.json(&["show", &id])["ending"], Value::Null);
    std::fs::write(env.path("die"), "").unwrap();
    until("it has failed", || {
        env.json(&["show", &id])["status"] == "failed"
    });

    let details = env.json(&["show", &id]);
    let ending = &details["ending"];
    assert_eq!(
        (&ending["exitStatus"], &ending["signal"], &ending["screen"]),
        (&json!(3), &Value::Null, &json!("FATAL: no API key")),
        "{details}"
    );
    let text = env.text(&["show", &id]);
    assert!(
        text.contains("(the agent exited with status 3)\n  FATAL: no API key\n"),
        "{text}"
    );
    let logs = env.text(&["logs", &id]);
    assert!(
        logs.contains("FATAL: no API key") && !logs.contains("no problems were logged"),
        "{logs}"
    );
    assert_eq!(env.json(&["logs", &id])["ending"], *ending);

    let dashboard = Dashboard::start(&env, &[]);
    let view = dashboard.get(&format!("/api/instances/{id}")).good();
    assert_eq!(view["ending"], *ending, "{view}");
    let page = dashboard.get(&format!("/agents/{id}"));
    assert!(page.body.contains("FATAL: no API key"), "{}", page.body);
    drop(dashboard);

    std::fs::remove_file(env.path("die")).unwrap();
    env.text(&["resume", &id]);
    assert_eq!(env.json(&["show", &id])["ending"], Value::Null);
    env.text(&["stop", &id]);
    let ending = &env.json(&["show", &id])["ending"];
    assert_eq!(ending["exitStatus"], Value::Null, "{ending}");
}

#[test]
fn a_launch_whose_agent_dies_at_once_fails_and_leaves_nothing() {
    let mut env = env_with_agent();
    env.set(PATIENT.0, PATIENT.1);
    env.set("CODEX_AGENT_COMMAND", DIES);
    let before = traces(&env);
    for words in [&["code", "Try", "--json"] as &[&str], &["plan", "--json"]] {
        let failed = error(&env.codex(words));
        assert_eq!(failed["code"], "AGENT_FAILED", "{failed}");
        let message = failed["message"].as_str().unwrap();
        assert!(
            message.contains("exited with status 3") && message.contains("FATAL: no API key"),
            "{message}"
        );
        assert_eq!(failed["details"]["exitStatus"], 3, "{failed}");
        assert!(!failed.to_string().contains("ghp_"), "{failed}");
        assert_eq!(env.json(&["list", "--all"]), json!([]));
        assert_eq!(traces(&env), before);
    }
    let told = shown(&env.codex(&["code", "Try"]));
    assert!(told.contains("\n  FATAL: no API key"), "{told}");
}

/// A program that need not ever call a tool is watched as long as Claude Code is.
#[test]
fn a_launch_whose_program_dies_after_a_moment_fails() {
    let mut env = env_with_agent();
    env.set(PATIENT.0, "5");
    env.set(
        "CODEX_AGENT_COMMAND",
        "sh -c 'sleep 2; echo FATAL: no API key; exit 3'",
    );
    let failed = error(&env.codex(&["code", "Try", "--json"]));
    assert_eq!(failed["code"], "AGENT_FAILED", "{failed}");
    let message = failed["message"].as_str().unwrap();
    assert!(message.contains("FATAL: no API key"), "{message}");
    assert_eq!(env.json(&["list", "--all"]), json!([]));
}

/// Nothing was heard of it: that it works would be a guess.
#[test]
fn a_program_that_has_not_called_a_tool_is_not_said_to_be_running() {
    let env = env_with_agent();
    let told = env.text(&["code", "Try"]);
    assert!(
        told.starts_with("work-try-a1 has started; it has not called a tool yet\n"),
        "{told}"
    );
    env.text(&["stop", "work-try-a1"]);
    for more in [&[] as &[&str], &["work-try-a1"]] {
        let told = env.text(&[&["resume", "work-try-a1"], more].concat());
        assert!(told.contains("has not called a tool yet"), "{told}");
        env.text(&["stop", "work-try-a1"]);
    }
}

#[test]
fn a_resumed_agent_that_dies_at_once_fails_and_stays_resumable() {
    let mut env = env_with_agent();
    let id = env.json(&["code", "Try"])["id"]
        .as_str()
        .unwrap()
        .to_owned();
    env.text(&["stop", &id]);
    env.set(PATIENT.0, PATIENT.1);
    let living = env.variables()["CODEX_AGENT_COMMAND"].clone();
    env.set("CODEX_AGENT_COMMAND", DIES);
    let failed = error(&env.codex(&["resume", &id, "--json"]));
    assert_eq!(failed["code"], "AGENT_FAILED", "{failed}");
    let details = env.json(&["show", &id]);
    assert_eq!(details["status"], "failed", "{details}");
    assert_eq!(details["ending"]["exitStatus"], 3, "{details}");
    env.set("CODEX_AGENT_COMMAND", living);
    env.unset(PATIENT.0);
    assert_eq!(env.json(&["resume", &id])["status"], "started");
}

#[test]
fn an_agent_that_ends_well_at_once_has_not_failed_but_ended() {
    let mut env = env_with_agent();
    env.set(PATIENT.0, PATIENT.1);
    env.set("CODEX_AGENT_COMMAND", "sh -c 'echo Nothing to do'");
    let told = env.text(&["code", "Try"]);
    assert_eq!(
        told,
        "work-try-a1 has already ended: the agent exited with status 0\n  Nothing to do\n\
         Next: claude-codex show work-try-a1 to see what it left\n"
    );
    assert_eq!(env.json(&["code", "Again"])["status"], "terminated");
    let told = env.text(&["resume", "work-try-a1"]);
    assert!(
        told.contains("already ended") && told.contains("Nothing to do"),
        "{told}"
    );
    env.set("CODEX_AGENT_COMMAND", "true");
    let told = env.text(&["plan"]);
    assert!(told.contains("status 0, and said nothing\n"), "{told}");
}
