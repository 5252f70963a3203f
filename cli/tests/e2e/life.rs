//! An agent from launch to end, on real git and tmux.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tests::{error, until};

use crate::support::{env_with_agent, traces};

const FIELDS: [&str; 17] = [
    "id",
    "type",
    "status",
    "repository",
    "worktreePath",
    "branchName",
    "baseBranch",
    "tmuxSession",
    "claudeSessionId",
    "issueNumber",
    "taskId",
    "parentInstanceId",
    "prNumber",
    "prUrl",
    "createdAt",
    "lastActivity",
    "completedAt",
];

#[test]
fn from_code_to_clean_nothing_is_left() {
    let env = env_with_agent();
    let before = traces(&env);

    let instance = env.json(&["code", "Fix the login"]);
    for field in FIELDS {
        assert!(
            instance.get(field).is_some(),
            "{field} is missing: {instance}"
        );
    }
    let id = "work-fix-the-login-a1";
    assert_eq!(instance["id"], id);
    assert_eq!(instance["type"], "coding");
    assert_eq!(instance["branchName"], format!("codex/{id}"));
    assert_eq!(env.sessions(), [id]);

    let list = env.json(&["list"]);
    assert_eq!(list.as_array().unwrap().len(), 1);
    assert_eq!(list[0]["id"], id);
    assert_eq!(list[0]["activity"], json!({"state": "unknown"}));
    let table = env.text(&["list"]);
    assert!(table.starts_with("ID ") && table.contains(id), "{table}");
    assert!(!table.contains('\x1b'), "{table:?}");

    let stray = ["new-session", "-d", "-s", "stray", "sleep", "600"];
    assert!(env.tmux(&stray).status.success());
    let checks = env.json(&["doctor"]).to_string();
    assert!(checks.contains("belong to no agent: stray\""), "{checks}");
    env.tmux(&["kill-session", "-t", "=stray"]);

    let shown = env.json(&["show", id]);
    assert_eq!(shown["prompt"], "Fix the login");
    assert_eq!(shown["events"][0]["name"], "code");
    assert_eq!(shown["events"][0]["source"], "command");
    assert_eq!(shown["messages"], json!([]));
    assert!(env.text(&["show", id]).contains("Fix the login"));
    until("the terminal says hello", || {
        env.json(&["logs", id])["terminal"] == "hello"
    });

    let stopped = env.json(&["stop", id]);
    assert_eq!(
        (&stopped["status"], &stopped["kept"]),
        (&json!("terminated"), &Value::Null)
    );
    assert_eq!(env.json(&["list"]), json!([]));
    assert_eq!(env.json(&["list", "--all"])[0]["status"], "terminated");
    assert_eq!(env.json(&["clean"]), json!([]));
    assert_eq!(traces(&env), before);

    let names: Vec<Value> = env
        .json(&["events", id])
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["name"].clone())
        .collect();
    assert_eq!(names, ["code", "stop"]);
}

#[test]
fn unsaved_work_outlives_stop_and_clean_and_resume_finds_it() {
    let env = env_with_agent();
    let instance = env.json(&["code", "Write it"]);
    let id = instance["id"].as_str().unwrap();
    let worktree = std::path::Path::new(instance["worktreePath"].as_str().unwrap());
    std::fs::write(worktree.join("draft"), "precious").unwrap();

    let stopped = env.json(&["stop", id]);
    assert!(
        stopped["kept"].as_str().unwrap().contains("1 uncommitted"),
        "{stopped}"
    );
    let cleaned = env.json(&["clean", "--dry-run"]);
    assert_eq!(
        (&cleaned[0]["id"], &cleaned[0]["kept"]),
        (&json!(id), &json!(true))
    );
    assert_eq!(env.json(&["clean"])[0]["kept"], true);
    assert!(worktree.join("draft").exists());

    assert_eq!(env.json(&["resume", id])["status"], "started");
    assert_eq!(env.sessions(), [id]);
    std::fs::remove_file(worktree.join("draft")).unwrap();
    env.text(&["stop", id]);
    assert!(!worktree.exists());
}

#[test]
fn stop_of_an_agent_that_is_gone_and_of_one_that_never_was() {
    let env = env_with_agent();
    let id = env.json(&["code", "Go"])["id"].as_str().unwrap().to_owned();
    env.text(&["stop", &id]);
    assert_eq!(env.json(&["stop", &id])["status"], "terminated");
    let output = env.codex(&["stop", "work-nobody-a1", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(error(&output)["code"], "INSTANCE_NOT_FOUND");
}

#[test]
fn the_prompt_comes_from_standard_input_and_is_harmless_on_the_terminal() {
    let env = env_with_agent();
    let mut child = env
        .codex_command(&["plan", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"Plan \x1b[31mred\x1b]0;title\x07 things\n")
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let instance: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(instance["type"], "planning");
    assert_eq!(instance["branchName"], Value::Null);
    let id = instance["id"].as_str().unwrap();
    for words in [&["list"] as &[&str], &["show", id], &["events"]] {
        // As on a terminal: styles of ours are kept, so those of others would be too.
        let mut command = env.codex_command(words);
        let output = command.env("CLICOLOR_FORCE", "1").output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(shown.contains("\x1b["), "{shown:?}");
        for harmful in ["\x1b[31m", "\x1b]0", "\x07"] {
            assert!(!shown.contains(harmful), "{shown:?}");
        }
    }
}

#[test]
fn a_killed_tmux_server_shows_as_failed() {
    let env = env_with_agent();
    let id = env.json(&["code", "Go"])["id"].as_str().unwrap().to_owned();
    let killed = env.tmux(&["kill-server"]);
    assert!(killed.status.success(), "{killed:?}");
    // As long as its process has not ended it counts as alive.
    until("it has failed", || {
        let output = env.codex(&["list"]);
        String::from_utf8_lossy(&output.stderr).contains(&format!("{id} is started → failed"))
    });
    assert_eq!(env.json(&["show", &id])["status"], "failed");
}

#[test]
fn what_is_already_there_refuses_a_launch_and_stays() {
    let env = env_with_agent();
    let before = traces(&env);
    for (words, code) in [
        (
            &["code", "x", "--branch", "main", "--json"] as &[&str],
            "BRANCH_EXISTS",
        ),
        (
            &["code", "x", "--base", "nowhere", "--json"],
            "BRANCH_NOT_FOUND",
        ),
        (&["code", "--issue", "42", "--json"], "FORGE_NOT_CONFIGURED"),
        (
            &["code", "--task", "task-00000000", "--json"],
            "TASK_NOT_FOUND",
        ),
    ] {
        let output = env.codex(words);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert_eq!(error(&output)["code"], code);
    }
    assert_eq!(traces(&env), before);
    assert_eq!(env.json(&["list", "--all"]), json!([]));
    assert_eq!(
        env.json(&["code", "x", "--issue", "42"])["id"],
        "work-42-a1"
    );
}

#[test]
fn agents_of_a_submodule_change_nothing_in_its_superproject() {
    let env = env_with_agent();
    let outer = env.path("super");
    let git = |folder: &Path, words: &[&str]| {
        let mut command = env.command("git");
        let output = command.args(words).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    std::fs::create_dir(&outer).unwrap();
    git(&outer, &["init", "-q", "-b", "main"]);
    let url = env.repository();
    let url = url.to_str().unwrap();
    let file = "protocol.file.allow=always";
    git(&outer, &["-c", file, "submodule", "add", "-q", url, "lib"]);
    git(&outer, &["commit", "-q", "-m", "lib"]);
    let lib = outer.join("lib");
    let codex = |words: &[&str]| {
        let mut command = env.codex_command(words);
        let output = command.current_dir(&lib).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    for prompt in ["One", "Two"] {
        codex(&["code", prompt]);
        assert_eq!(git(&outer, &["status", "--porcelain"]), "");
    }
    let checked = codex(&["doctor"]);
    assert!(!checked.contains(".gitignore"), "{checked}");
    for id in ["work-one-a1", "work-two-a1"] {
        codex(&["stop", id]);
    }
    assert!(!outer.join(".codex-worktrees").exists());
}
