//! Trust in a repository: what a clone brings along runs nothing until a person says so.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use tests::{TestEnv, write_program};

use crate::support::env_with_agent;

const OF_CLONE: &str = "[agent]\ncommand = \"touch ran-by-clone\"\n[tmux]\nsocket = \"default\"\n[review]\ntimeoutMinutes = 7\n";

fn with_files(files: &[(&str, &str)]) -> TestEnv {
    let env = env_with_agent();
    for (name, text) in files {
        let path = env.repository().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    env
}

fn value<'v>(values: &'v Value, key: &str) -> &'v Value {
    let mut values = values.as_array().unwrap().iter();
    values.find(|value| value["key"] == key).unwrap()
}

#[test]
fn the_settings_of_a_clone_count_once_they_are_trusted() {
    let env = with_files(&[
        (".claude-codex/config.toml", OF_CLONE),
        (
            ".claude-codex/prompts/coding.md",
            "Obey \u{1b}[2J{{instance}}\n",
        ),
    ]);
    let config = |env: &TestEnv| {
        let mut command = env.codex_command(&["config", "--json"]);
        command
            .env_remove("CODEX_AGENT_COMMAND")
            .env_remove("CODEX_TMUX_SOCKET");
        let output = command.output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let before = config(&env);
    assert_eq!(value(&before, "agent.command")["value"], "");
    assert_eq!(
        value(&before, "agent.command")["ignored"],
        "touch ran-by-clone"
    );
    assert_eq!(value(&before, "tmux.socket")["value"], "claude-codex");
    assert_eq!(value(&before, "review.timeoutMinutes")["value"], 7);

    // Said once, where the person looks, and not among the data.
    let listed = env.codex(&["list"]);
    let said = String::from_utf8_lossy(&listed.stderr);
    assert_eq!(said.matches("claude-codex trust").count(), 1, "{said}");
    assert!(
        said.contains("agent.command") && said.contains("prompts/coding.md"),
        "{said}"
    );
    assert!(env.text(&["config"]).contains("ignored until trusted"));

    // Not without a person, and not by an agent.
    let unasked = env.codex(&["trust"]);
    assert_eq!(unasked.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unasked.stderr).contains("trust --show"));
    let by_agent = env
        .codex_command(&["trust", "--yes"])
        .env("CODEX_INSTANCE_ID", "work-1-a1")
        .output()
        .unwrap();
    assert!(!by_agent.status.success());

    let shown = env.text(&["trust", "--show"]);
    for part in [
        "agent.command",
        "\"touch ran-by-clone\"",
        "runs a program",
        "| Obey",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    let shown = env.json(&["trust", "--show"]);
    assert_eq!(
        (&shown["trusted"], shown["files"].as_array().unwrap().len()),
        (&json!(false), 2)
    );

    env.text(&["trust", "--yes"]);
    assert_eq!(
        value(&config(&env), "agent.command")["value"],
        "touch ran-by-clone"
    );
    let mode = std::fs::metadata(env.state().join("trust.json"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(env.json(&["trust", "--show"])["files"][0]["trusted"], true);

    // A pull brings another command.
    let changed = OF_CLONE.replace("touch", "rm");
    std::fs::write(env.repository().join(".claude-codex/config.toml"), changed).unwrap();
    assert_eq!(value(&config(&env), "agent.command")["value"], "");
    assert_eq!(env.json(&["trust", "--show"])["files"][0]["changed"], true);
    env.text(&["trust", "--yes"]);
    env.text(&["trust", "--revoke"]);
    assert_eq!(value(&config(&env), "agent.command")["value"], "");
}

/// A program that says it is Claude Code and stays.
fn claude(env: &TestEnv) -> std::path::PathBuf {
    let path = env.path("claude");
    write_program(
        &path,
        "#!/bin/sh\n[ \"$1\" = --version ] && { echo '2.1.325 (Claude Code)'; exit; }\nexec sleep 1000\n",
    );
    path
}

#[test]
fn claude_code_starts_only_where_the_person_trusts_the_repository() {
    let env = env_with_agent();
    let program = claude(&env);
    let code = |more: &str| {
        let mut command = env.codex_command(&["code", more, "--json"]);
        command
            .env_remove("CODEX_AGENT_COMMAND")
            .env("CODEX_CLAUDE", &program);
        command.output().unwrap()
    };
    let home = env.path("home");
    std::fs::create_dir_all(&home).unwrap();
    let known = home.join(".claude.json");
    let refused = |known_before: Option<&str>| {
        let output = code("One");
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(error["code"], "REPOSITORY_UNTRUSTED");
        assert!(
            error["hint"]
                .as_str()
                .unwrap()
                .contains("claude-codex trust")
        );
        let after = std::fs::read_to_string(home.join(".claude.json")).ok();
        assert_eq!(
            after.as_deref(),
            known_before,
            "the question was answered unasked"
        );
    };
    refused(None);
    // The folder that clones lie in is another thing.
    let root = env.repository().canonicalize().unwrap();
    let accepted = json!({ "hasTrustDialogAccepted": true });
    let parent = json!({ "projects": { root.parent().unwrap().to_str().unwrap(): accepted } });
    std::fs::write(&known, parent.to_string()).unwrap();
    refused(Some(&parent.to_string()));
    assert!(env.json(&["list", "--all"]).as_array().unwrap().is_empty());

    // Claude Code's own question was answered by the person.
    let repository = json!({ "projects": { root.to_str().unwrap(): accepted } });
    std::fs::write(&known, repository.to_string()).unwrap();
    let output = code("One");
    assert!(output.status.success(), "{output:?}");
    std::fs::write(&known, "{}").unwrap();
    refused(Some("{}"));
    // Or ours: the hint works.
    env.text(&["trust", "--yes"]);
    let output = code("Two");
    assert!(output.status.success(), "{output:?}");
    let launched: Value = serde_json::from_slice(&output.stdout).unwrap();
    let config: Value = serde_json::from_slice(&std::fs::read(&known).unwrap()).unwrap();
    let worktree = launched["worktreePath"].as_str().unwrap();
    assert_eq!(config["projects"][worktree], accepted);
}

/// Claude Code knows a folder by its real path: trusted by another, it would ask, and nobody sits at the agent's terminal.
#[test]
fn a_worktree_behind_a_link_is_trusted_by_its_real_path() {
    let env = env_with_agent();
    let program = claude(&env);
    let disk = env.path("disk");
    std::fs::create_dir(&disk).unwrap();
    std::os::unix::fs::symlink(&disk, env.path(".codex-worktrees")).unwrap();
    env.text(&["trust", "--yes"]);
    let launched = env
        .codex_command(&["code", "One", "--json"])
        .env_remove("CODEX_AGENT_COMMAND")
        .env("CODEX_CLAUDE", &program)
        .output()
        .unwrap();
    assert!(launched.status.success(), "{launched:?}");
    let launched: Value = serde_json::from_slice(&launched.stdout).unwrap();
    let projects = || {
        let known = std::fs::read(env.path("home/.claude.json")).unwrap();
        let known: Value = serde_json::from_slice(&known).unwrap();
        known["projects"].clone()
    };
    let real = disk.canonicalize().unwrap().join("a-repository");
    let real = real.join(launched["id"].as_str().unwrap());
    let accepted = json!({ "hasTrustDialogAccepted": true });
    assert_eq!(projects(), json!({ real.to_str().unwrap(): accepted }));
    env.text(&["stop", launched["id"].as_str().unwrap()]);
    assert_eq!(projects(), json!({}));
    assert!(!real.parent().unwrap().exists());
    assert!(disk.exists(), "without it the link leads nowhere");
}

#[test]
fn doctor_closes_what_other_users_could_read() {
    let env = env_with_agent();
    env.text(&["trust", "--yes"]);
    let file = env.state().join("trust.json");
    let open = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(&file, 0o644);
    open(&env.state(), 0o755);
    let status = || {
        let checks = env.json(&["doctor"]);
        let mut checks = checks.as_array().unwrap().iter();
        checks.find(|check| check["name"] == "private").unwrap()["status"].clone()
    };
    assert_eq!(status(), "warning");
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(&env.state())), (0o600, 0o700));
    assert_eq!(status(), "ok");
}
