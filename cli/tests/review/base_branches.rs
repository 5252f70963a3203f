//! Pull requests whose base branch was rewritten or removed: each says so, waits for the person, and holds up no other.

use std::process::Output;

use serde_json::{Value, json};
use tests::{AgentEnv, shown};

fn refused(env: &AgentEnv, args: &[&str]) -> Value {
    let output: Output = env.codex(&[args, &["--json"]].concat());
    assert!(!output.status.success(), "{args:?}: {}", shown(&output));
    serde_json::from_slice(&output.stderr).unwrap()
}

fn standing(env: &AgentEnv, number: u64) -> Value {
    env.json(&["pr", "show", &number.to_string()])["standing"].clone()
}

fn commit_to_main(env: &AgentEnv, file: &str, text: &str) {
    env.write(file, text);
    env.commit_all("by hand");
}

#[test]
fn a_base_without_common_history_holds_up_no_other_pull_request() {
    let env = AgentEnv::new("idle", "idle");
    env.publish("one", &[("a.txt", "one\n")]);
    env.git(&["checkout", "-q", "--orphan", "other"]);
    env.git(&["commit", "-q", "-m", "rewritten root"]);
    env.git(&["branch", "-f", "main", "other"]);
    env.git(&["checkout", "-q", "main"]);
    env.publish("two", &[("b.txt", "two\n")]);

    let listed = env.json(&["pr", "list"]);
    let of = |number: u64| {
        let all = listed.as_array().unwrap().iter();
        let mut found = all.filter(|pull| pull["number"] == number);
        found.next().unwrap()["standing"].clone()
    };
    assert_eq!(of(2)["mergeable"], "clean", "{listed}");
    assert_eq!(of(2)["obstacle"], Value::Null, "{listed}");
    assert_eq!(of(1)["mergeable"], "conflicting", "{listed}");
    assert_eq!(of(1)["obstacle"], "no_common_history", "{listed}");
    let text = env.text(&["pr", "list"]);
    assert!(text.contains("no common history with main"), "{text}");
    let text = env.text(&["pr", "show", "1"]);
    assert!(text.contains("`claude-codex pr close 1`"), "{text}");

    // It waits for the person, and nobody is sent to resolve what cannot be resolved.
    let waiting = env.json(&["list"]);
    assert_eq!(waiting.as_array().unwrap().len(), 1, "{waiting}");
    let kind = &waiting[0]["attention"]["kind"];
    assert_eq!(kind, "noCommonHistory", "{waiting}");
    for verb in ["merge", "resolve"] {
        let error = refused(&env, &["pr", verb, "1"]);
        assert_eq!(error["code"], "NOT_MERGEABLE", "{error}");
        let hint = error["hint"].as_str().unwrap();
        assert!(hint.contains("`claude-codex pr close 1`"), "{hint}");
    }
    for method in ["squash", "rebase"] {
        let error = refused(&env, &["pr", "merge", "1", "--method", method]);
        assert_eq!(error["code"], "NOT_MERGEABLE", "{error}");
    }
    assert_eq!(env.json(&["pr", "close", "1"])["state"], "closed");
    assert_eq!(env.json(&["list"]), json!([]));
    assert_eq!(env.json(&["pr", "merge", "2"])["state"], "merged");
}

#[test]
fn a_base_that_is_gone_waits_for_the_person_and_comes_back_by_the_hint() {
    let env = AgentEnv::new("idle", "idle");
    env.publish("one", &[("a.txt", "one\n")]);
    env.publish("two", &[("b.txt", "two\n")]);
    commit_to_main(&env, "a.txt", "by hand\n");
    let before = env.json(&["list"]);
    assert_eq!(before[0]["attention"]["kind"], "conflict", "{before}");
    let base = env.git(&["rev-parse", "main"]).trim().to_owned();
    env.git(&["checkout", "-q", "--detach"]);
    env.git(&["branch", "-q", "-D", "main"]);

    // The clean one cannot be merged either.
    let waiting = env.json(&["list"]);
    assert_eq!(waiting.as_array().unwrap().len(), 2, "{waiting}");
    for agent in waiting.as_array().unwrap() {
        assert_eq!(agent["attention"]["kind"], "baseGone", "{waiting}");
        let sentence = agent["attention"]["sentence"].as_str().unwrap();
        assert!(sentence.contains("git branch main "), "{sentence}");
    }
    let text = env.text(&["list"]);
    assert!(!text.contains("conflicts with"), "{text}");
    assert_eq!(standing(&env, 1)["obstacle"], "base_gone");
    assert_eq!(standing(&env, 1)["conflicts"], Value::Null);
    assert!(env.text(&["pr", "list"]).contains("base main is gone"));
    let command = format!("git branch main {base}");
    let text = env.text(&["pr", "show", "1"]);
    assert!(text.contains(&format!("`{command}`")), "{text}");
    for verb in ["merge", "resolve"] {
        let error = refused(&env, &["pr", verb, "1"]);
        assert_eq!(error["code"], "BASE_NOT_FOUND", "{error}");
        let hint = error["hint"].as_str().unwrap();
        assert!(hint.contains(&format!("`{command}`")), "{hint}");
    }

    // Pasted, it works, and what was kept of the same commits does not hide that.
    env.git(&["branch", "main", &base]);
    let waiting = env.json(&["list"]);
    assert_eq!(waiting.as_array().unwrap().len(), 1, "{waiting}");
    assert_eq!(waiting[0]["attention"]["kind"], "conflict", "{waiting}");
    assert_eq!(standing(&env, 2)["mergeable"], "clean");
    assert_eq!(env.json(&["pr", "merge", "2"])["state"], "merged");
}
