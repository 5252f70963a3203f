//! What a person sees at a terminal, and what Ctrl-C does.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tests::{error, until, write_program};

use crate::support::{env_with_agent, run_in_terminal, traces};

#[test]
fn the_steps_of_a_launch_stay_on_the_screen() {
    let env = env_with_agent();
    let terminal = run_in_terminal(&env, "code 'Fix it'; exec sleep 600");
    terminal.until_shows("claude-codex attach");
    let shown = terminal.screen();
    for step in [
        "✓ Making the worktree (",
        "✓ Starting the session (",
        "work-fix-it-a1 has started",
    ] {
        assert!(shown.contains(step), "{step} is missing:\n{shown}");
    }
}

#[test]
fn a_watched_list_follows_the_agents_until_ctrl_c() {
    let env = env_with_agent();
    let terminal = run_in_terminal(&env, "list --watch");
    terminal.until_shows("No agents are running");
    env.text(&["code", "First"]);
    env.text(&["code", "Second"]);
    until("both are there", || {
        let shown = terminal.screen();
        shown.contains("work-first-a1") && shown.contains("work-second-a1")
    });
    let shown = terminal.screen();
    assert_eq!(shown.matches("STATUS").count(), 1, "{shown}");
    assert!(!shown.contains("No agent"), "{shown}");
    env.text(&["stop", "work-first-a1"]);
    until("one has gone", || {
        !terminal.screen().contains("work-first-a1")
    });
    assert!(terminal.screen().contains("work-second-a1"));
    terminal.press(&["C-c"]);
    until("it has ended", || terminal.has_ended());
}

#[test]
fn a_watched_list_has_keys() {
    let env = env_with_agent();
    env.text(&["code", "First"]);
    env.text(&["code", "Second"]);
    let terminal = run_in_terminal(&env, "list --watch");
    terminal.until_shows("▸ work-first-a1");
    terminal.press(&["Down"]);
    terminal.until_shows("▸ work-second-a1");
    terminal.press(&["v"]);
    terminal.until_shows("Agent work-second-a1");
    terminal.press(&["End"]);
    terminal.until_shows("command code ok");
    terminal.press(&["q"]);
    terminal.until_shows("▸ work-second-a1");
    terminal.press(&["Enter"]);
    until("its terminal is seen", || {
        terminal.screen().contains("hello") && !terminal.screen().contains("STATUS")
    });
    terminal.press(&["C-b", "d"]);
    terminal.until_shows("▸ work-second-a1");
    terminal.press(&["s"]);
    terminal.until_shows("Stop work-second-a1?");
    terminal.press(&["n"]);
    until("it does not ask", || {
        !terminal.screen().contains("Stop work-second-a1?")
    });
    terminal.press(&["s", "y"]);
    until("it is stopped", || {
        env.json(&["show", "work-second-a1"])["status"] == "terminated"
    });
    terminal.until_shows("▸ work-first-a1");
    terminal.press(&["q"]);
    until("it has ended", || terminal.has_ended());
}

#[test]
fn attach_shows_the_agent_and_leaves_it_at_work() {
    let env = env_with_agent();
    env.text(&["code", "Go"]);
    let terminal = run_in_terminal(&env, "attach work-go-a1");
    terminal.until_shows("hello");
    terminal.press(&["C-b", "d"]);
    until("it is left", || terminal.has_ended());
    assert_eq!(env.sessions(), ["work-go-a1"]);
}

#[test]
fn ctrl_c_undoes_a_launch() {
    let env = env_with_agent();
    let reached = env.path("reached");
    let hook = env.repository().join(".git/hooks/post-checkout");
    let script = format!("#!/bin/sh\ntouch '{}'\nexec sleep 60\n", reached.display());
    write_program(&hook, &script);
    let before = traces(&env);

    let child = env
        .codex_command(&["code", "Go", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the checkout has begun", || reached.exists());
    let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(error(&output)["code"], "CANCELLED");

    std::fs::remove_file(&reached).unwrap();
    assert_eq!(traces(&env), before);
    assert_eq!(env.json(&["list", "--all"]), json!([]));
    let events = env.json(&["events"]);
    assert_eq!(events[0]["errorCode"], "CANCELLED");
}

#[test]
fn events_and_logs_can_be_followed() {
    let env = env_with_agent();
    env.text(&["code", "Go"]);
    let events = run_in_terminal(&env, "events --follow");
    events.until_shows("command code ok");
    let follow = env
        .codex_command(&["logs", "work-go-a1", "--follow"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    env.text(&["stop", "work-go-a1"]);
    events.until_shows("command stop ok");
    let output = follow.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
}
