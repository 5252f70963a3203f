//! `exec-agent` between the terminal and the agent: keys pass through, and nothing outlives the agent.

use serde_json::Value;
use tests::{TestEnv, is_alive, until};

use crate::support::env_with_agent;

fn launch(env: &TestEnv, agent: &str) -> String {
    let mut command = env.codex_command(&["code", "Fix it", "--json"]);
    let output = command.env("CODEX_AGENT_COMMAND", agent).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let instance: Value = serde_json::from_slice(&output.stdout).unwrap();
    instance["id"].as_str().unwrap().to_owned()
}

fn pane(env: &TestEnv, id: &str, format: &str) -> String {
    let target = format!("={id}:0.0");
    let shown = env.tmux(&["display-message", "-p", "-t", &target, format]);
    String::from_utf8(shown.stdout).unwrap().trim().to_owned()
}

fn press(env: &TestEnv, id: &str, key: &str) {
    let target = format!("={id}:0.0");
    let pressed = env.tmux(&["send-keys", "-t", &target, key]);
    assert!(pressed.status.success());
}

#[test]
fn what_an_agent_leaves_ends_when_it_exits() {
    let env = env_with_agent();
    let file = env.path("pid");
    let file = file.to_str().unwrap();
    // With neither our mark nor its parent, it can only be told by who adopts it.
    let agent = format!(
        "sh -c 'env -i setsid sh -c \"echo \\$\\$ > {file}; trap : TERM HUP; while :; do sleep 1; done\" & \
         while ! test -s {file}; do sleep 0.05; done; exit 7'"
    );
    let id = launch(&env, &agent);
    until("the agent is seen to have failed", || {
        env.json(&["list", "--all"])[0]["status"] == "failed"
    });
    let note = env.json(&["show", &id])["note"].to_string();
    assert!(note.contains("status 7"), "{note}");
    let pid = std::fs::read_to_string(file).unwrap();
    assert!(!is_alive(pid.trim()));
}

/// A supervisor that was killed adopts nobody: what has left the agent and carries no mark of ours may be a person's as well.
#[test]
fn a_worktree_is_not_removed_below_a_process_that_stands_in_it() {
    let env = env_with_agent();
    let file = env.path("pid");
    let file = file.to_str().unwrap();
    let agent = format!(
        "sh -c '(env -i setsid sh -c \"trap : TERM HUP; echo \\$\\$ > {file}; while :; do sleep 1; done\" &); sleep 600'"
    );
    let id = launch(&env, &agent);
    let pid = || {
        std::fs::read_to_string(file)
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    until("it has left", || !pid().is_empty());
    let pid = pid();
    let worktree = env.json(&["show", &id])["worktreePath"]
        .as_str()
        .unwrap()
        .to_owned();
    let supervisor = pane(&env, &id, "#{pane_pid}");
    let killed = env
        .command("kill")
        .args(["-9", &supervisor])
        .output()
        .unwrap();
    assert!(killed.status.success(), "{killed:?}");
    until("the supervisor is dead", || !is_alive(&supervisor));
    env.text(&["stop", &id]);
    let note = env.json(&["show", &id])["note"].to_string();
    assert!(note.contains(&format!("{pid} (sh)")), "{note}");
    assert!(is_alive(&pid), "it may be a person's shell");
    assert!(std::path::Path::new(&worktree).join(".git").exists());
    // Trying again changes nothing.
    env.text(&["clean"]);
    assert!(std::path::Path::new(&worktree).join(".git").exists());
    let ended = env.command("kill").args(["-9", &pid]).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    until("it has ended", || !is_alive(&pid));
    env.text(&["clean"]);
    assert!(!std::path::Path::new(&worktree).exists());
}

/// One that read before it had the terminal got an error instead of keys: one in five launches of `cat` on a busy machine.
#[test]
fn an_agent_begins_only_when_it_has_the_terminal() {
    let env = env_with_agent();
    let (began, early) = (env.path("began"), env.path("early"));
    let agent = format!("touch {}", began.display());
    // A job in the background has no terminal until it is brought to the foreground.
    let script = format!(
        "set -m; '{}' start-agent {agent} & for i in $(seq 50); do sleep 0.01; test -e {} && touch {}; done; fg; sleep 600",
        env!("CARGO_BIN_EXE_claude-codex"),
        began.display(),
        early.display()
    );
    let started = env.tmux(&["-f", "/dev/null", "new-session", "-d", "sh", "-c", &script]);
    assert!(started.status.success(), "{started:?}");
    until("it begins", || began.exists());
    assert!(!early.exists());
}

#[test]
fn keys_reach_the_agent_as_if_it_were_alone() {
    let env = env_with_agent();
    let id = launch(&env, "sleep 600");
    until("the agent has the terminal", || {
        pane(&env, &id, "#{pane_current_command}") == "sleep"
    });
    // There is no shell that could continue what is stopped.
    press(&env, &id, "C-z");
    press(&env, &id, "C-c");
    until("the agent has ended", || {
        env.json(&["list", "--all"])[0]["status"] == "failed"
    });
    let note = env.json(&["show", &id])["note"].to_string();
    assert!(note.contains("killed by signal 2"), "{note}");
}

#[test]
fn a_hang_up_reaches_an_agent_that_ignores_it() {
    let env = env_with_agent();
    let file = env.path("pid");
    let agent = format!(
        "sh -c 'trap \"\" HUP; echo $$ > {}; while :; do sleep 1; done'",
        file.display()
    );
    launch(&env, &agent);
    until("it runs", || {
        std::fs::read_to_string(&file).is_ok_and(|pid| !pid.is_empty())
    });
    let pid = std::fs::read_to_string(&file).unwrap();
    env.tmux(&["kill-server"]);
    until("it has ended with its terminal", || !is_alive(pid.trim()));
}
