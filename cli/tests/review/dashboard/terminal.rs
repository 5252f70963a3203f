//! Live terminals: what a real one shows, who types into it, and what waits meanwhile.

use std::time::Duration;

use serde_json::{Value, json};
use shared::model::{InstanceId, MessageState};
use tests::AgentEnv;
use tests::dashboard::Dashboard;

/// Returns the rows of a screen that has them all.
fn text(event: &Value) -> String {
    let rows = event["rows"].as_array().unwrap().iter();
    rows.map(|row| row["html"].as_str().unwrap())
        .collect::<Vec<_>>()
        .join("\n")
}

fn pipe(env: &AgentEnv, id: &InstanceId) -> String {
    let target = format!("={id}:0.0");
    let output = env.tmux(&["display-message", "-p", "-t", &target, "#{pane_pipe}"]);
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn control(dashboard: &Dashboard, id: &InstanceId, name: &str) -> String {
    let path = format!("/api/instances/{id}/control");
    let taken = dashboard.post(&path, &json!({ "name": name })).good();
    assert_eq!(taken["controller"]["name"], name);
    taken["lease"].as_str().unwrap().to_owned()
}

#[test]
fn a_screen_comes_whole_and_then_in_changed_rows_and_nobody_watches_for_nobody() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    let dashboard = Dashboard::start(&env, &[]);
    assert_eq!(pipe(&env, &coder), "0");
    let path = format!("/api/instances/{coder}/terminal");
    let mut first = dashboard.stream(&path);
    let (name, whole) = first.next().unwrap();
    assert_eq!((name.as_str(), &whole["whole"]), ("screen", &json!(true)));
    assert_eq!(whole["rows"].as_array().unwrap().len(), 50);
    assert_eq!(
        (whole["columns"].as_u64(), whole["alive"].as_bool()),
        (Some(200), Some(true))
    );
    env.until("tmux tells", || pipe(&env, &coder) == "1");
    let mut second = dashboard.stream(&path);
    assert_eq!(second.next().unwrap().1["whole"], true);

    // Hostile text and wide characters.
    let lease = control(&dashboard, &coder, "me");
    let keys = format!("/api/instances/{coder}/keys");
    let typed = json!({ "text": "<script>日本</script>" });
    let answer = dashboard.post_with(&keys, &typed, &[("x-codex-lease", &lease)]);
    assert_eq!(answer.status, 204, "{answer:?}");
    // The program shows what it was given when it gets Enter.
    let enter = dashboard.post_with(
        &keys,
        &json!({ "key": "Enter" }),
        &[("x-codex-lease", &lease)],
    );
    assert_eq!(enter.status, 204, "{enter:?}");
    for stream in [&mut first, &mut second] {
        let (event, took) = stream.until("what was typed", |_, data| {
            text(data).contains("&lt;script&gt;")
        });
        assert_eq!(event["whole"], false, "{event}");
        assert!(event["rows"].as_array().unwrap().len() < 10, "{event}");
        assert!(!text(&event).contains("<script"), "{event}");
        assert!(text(&event).contains('本'), "{event}");
        assert_eq!(event["controller"]["name"], "me");
        assert!(took < Duration::from_secs(5), "{took:?}");
    }
    drop(first);
    drop(second);
    env.until("nobody is told any more", || {
        // The dashboard notices that nobody reads when it has something to say.
        env.tmux(&["send-keys", "-t", &format!("={coder}:0.0"), "x", "Enter"]);
        pipe(&env, &coder) == "0"
    });
    env.until("the pipe is gone", || {
        let folder = std::fs::read_dir(env.path("state/terminals"));
        folder.map_or(0, Iterator::count) == 0
    });
}

#[test]
fn one_person_types_at_a_time_and_messages_wait_for_them() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    let dashboard = Dashboard::start(&env, &[]);
    let path = |what: &str| format!("/api/instances/{coder}/{what}");
    let nobody = dashboard.post(&path("keys"), &json!({ "text": "x" }));
    assert_eq!(
        (nobody.status, nobody.code().as_str()),
        (409, "CONTROL_TAKEN")
    );

    let lease = control(&dashboard, &coder, "Ann");
    let mine = [("x-codex-lease", lease.as_str())];
    let other = dashboard.post(&path("control"), &json!({ "name": "Bob" }));
    assert_eq!(
        (other.status, other.code().as_str()),
        (409, "CONTROL_TAKEN")
    );
    assert!(other.json()["message"].as_str().unwrap().contains("Ann"));
    let renewed = dashboard.post_with(&path("control"), &json!({ "name": "Ann" }), &mine);
    assert_eq!(renewed.good()["lease"], lease.as_str());
    for wrong in [
        json!({ "text": "a\u{1b}[201~" }),
        json!({ "text": "two\nlines" }),
        json!({ "text": "" }),
        json!({ "key": "F13" }),
        json!({ "text": "x", "key": "Enter" }),
        json!({}),
    ] {
        let refused = dashboard.post_with(&path("keys"), &wrong, &mine);
        assert_eq!(refused.status, 400, "{wrong}: {refused:?}");
    }

    let sent = dashboard
        .post(&path("messages"), &json!({ "text": "Meanwhile, do this." }))
        .good();
    assert_eq!(sent["delivered"], false, "{sent}");
    assert_eq!(sent["waitingFor"], "person_typing");
    assert!(env.received(&coder).is_empty());
    let agent = dashboard.get(&path("")[..path("").len() - 1]).good();
    assert_eq!(agent["messages"][0]["state"], "owed", "{agent}");
    assert_eq!(agent["control"]["controller"]["name"], "Ann");

    // What is typed arrives, and only that.
    for keys in [json!({ "text": "by hand" }), json!({ "key": "Enter" })] {
        let answer = dashboard.post_with(&path("keys"), &keys, &mine);
        assert_eq!(answer.status, 204, "{answer:?}");
    }
    env.until("the line arrives", || env.received(&coder) == ["by hand"]);

    let strange = dashboard.delete(&path("control"), &[("x-codex-lease", "wrong")]);
    assert_eq!(strange.status, 204);
    assert_eq!(env.messages(&coder)[0].state, MessageState::Owed);
    assert_eq!(dashboard.delete(&path("control"), &mine).status, 204);
    env.until("the message arrives after all", || {
        env.messages(&coder)[0].state == MessageState::Taken
    });
    assert_eq!(env.received(&coder).len(), 2);
    let late = dashboard.post_with(&path("keys"), &json!({ "text": "x" }), &mine);
    assert_eq!(late.code(), "CONTROL_TAKEN");

    // Somebody else may take it over, and who had it is told.
    let lease = control(&dashboard, &coder, "Bob");
    let taken = dashboard.post(&path("control"), &json!({ "name": "Cy", "takeOver": true }));
    assert_ne!(taken.good()["lease"], lease.as_str());
    let lost = dashboard.post_with(&path("control"), &json!({}), &[("x-codex-lease", &lease)]);
    assert_eq!(lost.code(), "CONTROL_TAKEN");
}

#[test]
fn scrollback_and_the_end_of_a_terminal_are_shown() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    let dashboard = Dashboard::start(&env, &[]);
    let mut stream = dashboard.stream(&format!("/api/instances/{coder}/terminal"));
    assert_eq!(stream.next().unwrap().0, "screen");
    let screen = format!("/api/instances/{coder}/screen");
    let shown = dashboard.get(&format!("{screen}?history=100")).good();
    let rows = shown["rows"].as_array().unwrap().len() as u64;
    assert_eq!(rows, 50 + shown["scrolled"].as_u64().unwrap());
    assert_eq!(
        dashboard.get(&format!("{screen}?history=99999999")).status,
        400
    );
    let stopped = dashboard
        .delete(&format!("/api/instances/{coder}"), &[])
        .good();
    assert_eq!(stopped["card"]["status"], "terminated");
    let (gone, _) = stream.until("the end", |name, _| name == "gone");
    assert_eq!(gone["code"], "TMUX_SESSION_NOT_FOUND");
    assert!(stream.next().is_none());
    let missing = dashboard.get(&screen);
    assert_eq!(
        (missing.status, missing.code().as_str()),
        (404, "TMUX_SESSION_NOT_FOUND")
    );
}
