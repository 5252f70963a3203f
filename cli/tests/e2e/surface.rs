//! What can be asked without an agent: usage, init, doctor, config, completions, tasks.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use shared::model::{Priority, TaskStatus};
use shared::store::NewTask;
use tests::{Server, error, write_program};

use crate::PROGRAM;
use crate::support::{env_with_agent, env_without_repository};

#[test]
fn wrong_usage_exits_with_2_and_prints_nothing_to_standard_output() {
    let env = env_with_agent();
    // Attaching needs a terminal.
    env.json(&["code", "First"]);
    for words in [
        &[] as &[&str],
        &["fly"],
        &["code"],
        &["code", "  "],
        &["code", "x", "--issue", "0"],
        &["code", "x", "--max-reviews", "many"],
        &["show"],
        &["show", "../etc/passwd"],
        &["list", "--watch"],
        &["attach", "work-first-a1"],
        &["code", "x", "--branch", "-bad..name"],
    ] {
        let output = env.codex(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {output:?}");
        assert!(output.stdout.is_empty(), "{words:?}");
        let json: Vec<_> = words.iter().copied().chain(["--json"]).collect();
        let output = env.codex(&json);
        assert_eq!(output.status.code(), Some(2), "{json:?}: {output:?}");
        let error = error(&output);
        assert_eq!(error["code"], "INVALID_ARGUMENTS", "{error}");
        assert!(!error["message"].as_str().unwrap().is_empty());
    }
    assert_eq!(env.codex(&["--help"]).status.code(), Some(0));
    assert_eq!(env.codex(&["list", "--help"]).status.code(), Some(0));
}

#[test]
fn errors_say_what_happened_and_what_to_do() {
    let env = env_without_repository();
    let output = env.codex(&["code", "x"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<_> = said
        .lines()
        .filter(|line| !line.starts_with("Checking"))
        .collect();
    assert!(
        lines[0].starts_with("error: ") && lines[1].starts_with("hint: "),
        "{said}"
    );
    assert_eq!(
        error(&env.codex(&["tasks", "--json"]))["code"],
        "NOT_A_REPOSITORY"
    );
}

#[test]
fn init_keeps_what_is_there_and_is_done_once() {
    let env = env_with_agent();
    let mcp = env.repository().join(".mcp.json");
    let config = env.repository().join(".claude-codex/config.toml");
    std::fs::write(&mcp, "{\n    \"mcpServers\": {\n        \"mine\": {\"command\": \"x\"}\n    },\n    \"other\": [1, 2]\n}\n").unwrap();
    std::fs::set_permissions(&mcp, std::fs::Permissions::from_mode(0o640)).unwrap();

    let planned = env.json(&["init", "--dry-run"]);
    assert_eq!(
        (&planned[0]["action"], &planned[1]["action"]),
        (&json!("updated"), &json!("created"))
    );
    assert!(!config.exists() && !std::fs::read_to_string(&mcp).unwrap().contains("codex"));

    env.text(&["init"]);
    let text = std::fs::read_to_string(&mcp).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["mcpServers"]["mine"]["command"], "x");
    assert_eq!(value["other"], json!([1, 2]));
    for name in ["codex-coding", "codex-review", "codex-planning"] {
        let command = value["mcpServers"][name]["command"].as_str().unwrap();
        assert!(
            std::path::Path::new(command).is_absolute() && std::path::Path::new(command).exists()
        );
    }
    assert!(text.starts_with("{\n    \"mcpServers\""), "{text}");
    assert_eq!(mcp.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    // Everything in it is a comment: the settings are as before.
    assert!(
        env.json(&["config"])
            .as_array()
            .unwrap()
            .iter()
            .all(|value| { !value["origin"].as_str().unwrap().ends_with("config.toml") })
    );

    std::fs::write(&config, "[review]\nmaxReviewCycles = 7\n").unwrap();
    let again = env.json(&["init"]);
    assert_eq!(
        (&again[0]["action"], &again[1]["action"]),
        (&json!("unchanged"), &json!("unchanged"))
    );
    assert_eq!(std::fs::read_to_string(&mcp).unwrap(), text);
    assert!(std::fs::read_to_string(&config).unwrap().contains('7'));
}

#[test]
fn init_is_undone_and_leaves_what_was_there() {
    let env = env_with_agent();
    let folder = env.repository().join(".claude");
    let settings = folder.join("settings.json");
    env.text(&["init", "--hooks"]);
    let text = std::fs::read_to_string(&settings).unwrap();
    assert!(text.contains("hook Stop") && text.contains("mcp__codex-coding__*"));
    let again = env.json(&["init", "--hooks"]);
    assert_eq!(again[2]["action"], "unchanged");
    env.text(&["init", "--remove"]);
    assert_eq!(env.git(&["status", "--porcelain", "--ignored"]), "");

    let theirs = "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": []\n      }\n    ]\n  },\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls:*)\"\n    ]\n  }\n}\n";
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(&settings, theirs).unwrap();
    env.text(&["init", "--hooks"]);
    assert_ne!(std::fs::read_to_string(&settings).unwrap(), theirs);
    let config = env.repository().join(".claude-codex/config.toml");
    std::fs::write(&config, "[review]\nmaxReviewCycles = 7\n").unwrap();
    env.text(&["init", "--remove"]);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), theirs);
    assert!(config.exists() && !env.repository().join(".mcp.json").exists());
    let nothing = env.json(&["init", "--remove"]);
    assert!(
        nothing
            .as_array()
            .unwrap()
            .iter()
            .all(|change| change["action"] == "unchanged")
    );
}

/// A file that others get with a clone has no path of this machine.
#[test]
fn init_names_programs_that_are_on_path_without_it() {
    let env = env_with_agent();
    let folder = Server::Coding.path();
    let folder = folder.parent().unwrap().to_str().unwrap();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    let done = env
        .codex_command(&["init", "--hooks"])
        .env("PATH", path)
        .output();
    assert!(done.unwrap().status.success());
    for file in [".mcp.json", ".claude/settings.json"] {
        let text = std::fs::read_to_string(env.repository().join(file)).unwrap();
        assert!(!text.contains('/'), "{text}");
    }
}

#[test]
fn init_leaves_a_broken_file_alone() {
    let env = env_with_agent();
    let mcp = env.repository().join(".mcp.json");
    std::fs::write(&mcp, "{ not json").unwrap();
    let output = env.codex(&["init", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(error(&output)["code"], "CONFIG_INVALID");
    assert_eq!(std::fs::read_to_string(&mcp).unwrap(), "{ not json");
    assert!(!env.repository().join(".claude-codex").exists());
}

/// A clone that has links must not choose which of the person's files gets servers and hooks.
#[test]
fn init_writes_through_no_link_out_of_the_repository() {
    for (link, target, words) in [
        (".mcp.json", "home/settings.json", &["init", "--json"][..]),
        (".claude-codex", "home", &["init", "--json"]),
        (".claude", "home", &["init", "--hooks", "--json"]),
        (".claude", "home", &["init", "--remove", "--json"]),
        (".claude", "home", &["init", "--tdd", "--json"]),
        (".claude", "home", &["init", "--tdd", "--remove", "--json"]),
    ] {
        let env = env_with_agent();
        let home = env.path("home");
        std::fs::write(home.join("settings.json"), "{\"mine\":1}").unwrap();
        let link = env.repository().join(link);
        std::os::unix::fs::symlink(env.root().join(target), link).unwrap();
        let output = env.codex(words);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {output:?}");
        assert_eq!(error(&output)["code"], "CONFIG_INVALID");
        let kept = std::fs::read_to_string(home.join("settings.json")).unwrap();
        assert_eq!(kept, "{\"mine\":1}");
        assert_eq!(std::fs::read_dir(&home).unwrap().count(), 1, "{words:?}");
    }
}

fn status<'a>(checks: &'a Value, name: &str) -> &'a str {
    let mut checks = checks.as_array().unwrap().iter();
    let check = checks.find(|check| check["name"] == name);
    check.unwrap_or_else(|| panic!("no check {name}"))["status"]
        .as_str()
        .unwrap()
}

#[test]
fn doctor_says_which_servers_are_of_another_release() {
    let env = env_with_agent();
    let folder = env.path("mixed");
    std::fs::create_dir(&folder).unwrap();
    let program = folder.join("claude-codex");
    std::fs::hard_link(PROGRAM, &program)
        .or_else(|_| std::fs::copy(PROGRAM, &program).map(|_| ()))
        .unwrap();
    write_program(
        &folder.join("mcp-coding"),
        "#!/bin/sh\necho mcp-coding 0.0.1\n",
    );
    write_program(&folder.join("mcp-review"), "#!/bin/sh\nexit 1\n");
    let own = Path::new(PROGRAM).with_file_name("mcp-planning");
    std::os::unix::fs::symlink(own, folder.join("mcp-planning")).unwrap();
    let output = env.command(&program).args(["doctor", "--json"]).output();
    let checks: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    assert_eq!(status(&checks, "mcp-planning"), "ok");
    for (name, words) in [
        ("mcp-coding", "is of release 0.0.1"),
        ("mcp-review", "does not tell its version"),
    ] {
        let mut all = checks.as_array().unwrap().iter();
        let check = all.find(|check| check["name"] == name).unwrap();
        assert_eq!(check["status"], "error");
        let message = check["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn doctor_finds_what_is_wrong_and_leaves_no_trace() {
    let env = env_without_repository();
    let output = env.codex(&["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let checks: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(status(&checks, "repository"), "error");
    assert_eq!(status(&checks, "git"), "ok");
    assert_eq!(status(&checks, "agent"), "warning");
    assert!(!env.state().exists());

    let env = env_with_agent();
    let healthy = env.json(&["doctor"]);
    assert_eq!(status(&healthy, "repository"), "ok");
    assert_eq!(status(&healthy, "database"), "ok");

    std::fs::create_dir(env.repository().join(".claude-codex")).unwrap();
    std::fs::write(
        env.repository().join(".claude-codex/config.toml"),
        "[review]\nmaxReviewCycle = 1\n",
    )
    .unwrap();
    std::fs::create_dir(env.state()).unwrap();
    std::fs::write(
        env.state().join("codex.db"),
        "this is no database, but text of some length".repeat(100),
    )
    .unwrap();
    env.git(&[
        "remote",
        "add",
        "origin",
        "https://me:secret123@github.com/me/it",
    ]);
    let output = env
        .codex_command(&["doctor", "--json"])
        .env_remove("CODEX_AGENT_COMMAND")
        .env("CODEX_CLAUDE", "/nowhere/claude")
        .env("CODEX_FORGE", "github")
        .env("GITHUB_TOKEN", "ghp_verysecret")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("secret"), "{text}");
    let checks: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(status(&checks, "config"), "error");
    assert_eq!(status(&checks, "database"), "error");
    let broken = checks
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["status"] == "error");
    assert!(
        broken.clone().all(|check| check["fix"].is_string()),
        "{checks}"
    );
}

#[test]
fn config_says_where_each_value_came_from() {
    let env = env_with_agent();
    std::fs::create_dir(env.repository().join(".claude-codex")).unwrap();
    std::fs::write(
        env.repository().join(".claude-codex/config.toml"),
        "[coding]\nrequireReview = true\n",
    )
    .unwrap();
    let output = env
        .codex_command(&["config", "--json"])
        .env("CODEX_REVIEW_MAX_REVIEW_CYCLES", "5")
        .output()
        .unwrap();
    let values: Value = serde_json::from_slice(&output.stdout).unwrap();
    let origin = |key: &str| {
        let mut values = values.as_array().unwrap().iter();
        values.find(|value| value["key"] == key).unwrap()["origin"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(origin("coding.requireReview").ends_with(".claude-codex/config.toml"));
    assert_eq!(
        origin("review.maxReviewCycles"),
        "$CODEX_REVIEW_MAX_REVIEW_CYCLES"
    );
    assert_eq!(origin("review.mayEdit"), "default");
    assert!(env.text(&["config"]).contains("coding.requireReview"));
    assert!(!env.state().exists());
}

#[test]
fn completions_and_man_pages_are_printed() {
    let env = env_without_repository();
    for shell in ["bash", "zsh", "fish"] {
        let text = env.text(&["completions", shell]);
        assert!(
            text.contains("claude-codex") && text.contains("CODEX_COMPLETE"),
            "{shell}"
        );
    }
    assert!(env.text(&["man"]).contains(".TH claude-codex"));
    assert!(env.text(&["man", "code"]).contains("claude\\-codex\\-code"));
}

#[test]
fn many_tasks_are_paged_for_people_and_complete_for_programs() {
    let env = env_with_agent();
    let repository = env.git(&["rev-parse", "--show-toplevel"]);
    let filled = env.store().write_now(|w| {
        for number in 0..60 {
            w.insert_task(&NewTask {
                repository: repository.trim().to_owned(),
                title: format!("Title {number}"),
                description: "Do it".to_owned(),
                priority: Priority::Low,
                estimated_hours: None,
                depends_on: Vec::new(),
                created_by: None,
            })?;
        }
        Ok(())
    });
    filled.unwrap();
    let listed = |words: &[&str]| {
        let text = env.text(words);
        (text.matches("Title ").count(), text)
    };
    let (rows, text) = listed(&["tasks"]);
    assert_eq!(rows, 50);
    assert!(
        text.contains("10 more: `claude-codex tasks --all` lists them, too."),
        "{text}"
    );
    let (rows, text) = listed(&["tasks", "--ready", "--limit", "7"]);
    assert_eq!(rows, 7);
    assert!(
        text.contains("53 more: `claude-codex tasks --ready --all`"),
        "{text}"
    );
    let (rows, text) = listed(&["tasks", "--all"]);
    assert_eq!((rows, text.contains("more:")), (60, false));
    assert_eq!(listed(&["tasks", "--limit", "60"]).1, text);
    let length = |words: &[&str]| env.json(words).as_array().unwrap().len();
    assert_eq!(length(&["tasks"]), 60);
    assert_eq!(length(&["tasks", "--all"]), 60);
    assert_eq!(length(&["tasks", "--limit", "5"]), 5);
    for wrong in [
        &["tasks", "--limit", "0"][..],
        &["tasks", "--all", "--limit", "5"],
    ] {
        assert_eq!(env.codex(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn tasks_are_listed_and_one_that_waits_is_refused() {
    let env = env_with_agent();
    let repository = env.git(&["rev-parse", "--show-toplevel"]).trim().to_owned();
    let task = |title: &str, depends_on| NewTask {
        repository: repository.clone(),
        title: title.to_owned(),
        description: "Do it".to_owned(),
        priority: Priority::High,
        estimated_hours: Some(1.5),
        depends_on,
        created_by: None,
    };
    let store = env.store();
    let first = store
        .write_now(|w| w.insert_task(&task("First", vec![])))
        .unwrap();
    let second = store
        .write_now(|w| w.insert_task(&task("Second", vec![first.id.clone()])))
        .unwrap();
    assert_eq!(env.json(&["tasks"]).as_array().unwrap().len(), 2);
    let ready = env.json(&["tasks", "--ready"]);
    assert_eq!(
        (ready.as_array().unwrap().len(), &ready[0]["title"]),
        (1, &json!("First"))
    );
    assert!(env.text(&["tasks"]).contains("Second"));

    let refused = error(&env.codex(&["code", "--task", second.id.as_str(), "--json"]));
    assert_eq!(refused["code"], "TASK_NOT_READY");
    assert_eq!(refused["details"]["waitingFor"], json!([first.id]));
    assert!(refused["message"].as_str().unwrap().contains("First"));

    let launched = env.json(&["code", "--task", first.id.as_str()]);
    assert_eq!(launched["taskId"], json!(first.id));
    assert!(
        launched["prompt"]
            .as_str()
            .unwrap()
            .starts_with("First\n\nDo it")
    );
    let status = store
        .read_now(|r| r.task(&repository, &first.id))
        .unwrap()
        .status;
    assert_eq!(status, TaskStatus::InProgress);
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let env = env_without_repository();
    let mut child = std::process::Command::new(PROGRAM)
        .args(["completions", "zsh"])
        .current_dir(env.root())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}
