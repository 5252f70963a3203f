//! What a person sees at a terminal, and what Ctrl-C does.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::{PROGRAM, Place, error, until};

#[test]
fn the_steps_of_a_launch_stay_on_the_screen() {
    let place = Place::new();
    let screen = place.screen(&format!("'{PROGRAM}' code 'Fix it'; exec sleep 600"));
    until("the launch is done", || {
        screen.shown().contains("claude-codex attach")
    });
    let shown = screen.shown();
    for step in [
        "✓ Making the worktree (",
        "✓ Starting the session (",
        "work-fix-it-a1 is at work",
    ] {
        assert!(shown.contains(step), "{step} is missing:\n{shown}");
    }
}

#[test]
fn a_watched_list_follows_the_agents_until_ctrl_c() {
    let place = Place::new();
    let screen = place.screen(&format!("'{PROGRAM}' list --watch"));
    until("nobody is there", || {
        screen.shown().contains("No agent is at work")
    });
    place.text(&["code", "First"]);
    place.text(&["code", "Second"]);
    until("both are there", || {
        let shown = screen.shown();
        shown.contains("work-first-a1") && shown.contains("work-second-a1")
    });
    let shown = screen.shown();
    assert_eq!(shown.matches("STATUS").count(), 1, "{shown}");
    assert!(!shown.contains("No agent"), "{shown}");
    place.text(&["stop", "work-first-a1"]);
    until("one has gone", || !screen.shown().contains("work-first-a1"));
    assert!(screen.shown().contains("work-second-a1"));
    screen.press(&["C-c"]);
    until("it has ended", || screen.has_ended());
}

#[test]
fn a_watched_list_has_keys() {
    let place = Place::new();
    place.text(&["code", "First"]);
    place.text(&["code", "Second"]);
    let screen = place.screen(&format!("'{PROGRAM}' list --watch"));
    until("the first is chosen", || {
        screen.shown().contains("▸ work-first-a1")
    });
    screen.press(&["Down"]);
    until("the second is chosen", || {
        screen.shown().contains("▸ work-second-a1")
    });
    screen.press(&["v"]);
    until("it is shown", || screen.shown().contains("Last events"));
    screen.press(&["Enter"]);
    until("its terminal is seen", || {
        screen.shown().contains("hello") && !screen.shown().contains("STATUS")
    });
    screen.press(&["C-b", "d"]);
    until("the board is back", || {
        screen.shown().contains("▸ work-second-a1")
    });
    screen.press(&["s"]);
    until("it asks", || {
        screen.shown().contains("Stop work-second-a1?")
    });
    screen.press(&["n"]);
    until("it does not ask", || {
        !screen.shown().contains("Stop work-second-a1?")
    });
    screen.press(&["s", "y"]);
    until("it is stopped", || {
        place.json(&["show", "work-second-a1"])["status"] == "terminated"
    });
    until("the other is chosen", || {
        screen.shown().contains("▸ work-first-a1")
    });
    screen.press(&["q"]);
    until("it has ended", || screen.has_ended());
}

#[test]
fn attach_shows_the_agent_and_leaves_it_at_work() {
    let place = Place::new();
    place.text(&["code", "Go"]);
    let screen = place.screen(&format!("'{PROGRAM}' attach work-go-a1"));
    until("the agent is seen", || screen.shown().contains("hello"));
    screen.press(&["C-b", "d"]);
    until("it is left", || screen.has_ended());
    assert_eq!(place.sessions().trim(), "work-go-a1");
}

#[test]
fn ctrl_c_undoes_a_launch() {
    let place = Place::new();
    let reached = place.path().join("reached");
    let hook = place.repository().join(".git/hooks/post-checkout");
    let script = format!("#!/bin/sh\ntouch '{}'\nexec sleep 60\n", reached.display());
    std::fs::write(&hook, script).unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let before = place.world();

    let child = place
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
    assert_eq!(place.world(), before);
    assert_eq!(place.json(&["list", "--all"]), json!([]));
    let events = place.json(&["events"]);
    assert_eq!(events[0]["errorCode"], "CANCELLED");
}

#[test]
fn events_and_logs_can_be_followed() {
    let place = Place::new();
    place.text(&["code", "Go"]);
    let events = place.screen(&format!("'{PROGRAM}' events --follow"));
    until("the launch is told", || {
        events.shown().contains("command code ok")
    });
    let follow = place
        .codex_command(&["logs", "work-go-a1", "--follow"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    place.text(&["stop", "work-go-a1"]);
    until("the end is told", || {
        events.shown().contains("command stop ok")
    });
    let output = follow.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
}
