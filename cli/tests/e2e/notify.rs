//! Notifications outside the page: a command, a webhook, tmux and the bell, each event once.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tests::{TestEnv, until};

use crate::support::{env_with_agent, run_in_terminal};

/// Writes the person's own settings.
fn settings(env: &TestEnv, text: &str) {
    let folder = env.home().join(".config/claude-codex");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), text).unwrap();
}

/// Launches an agent that fails when its file `fail` is there.
fn launched(env: &TestEnv) -> (String, std::path::PathBuf) {
    let fail = env.path("fail");
    let wait = format!(
        "sh -c 'while [ ! -e {} ]; do sleep 0.1; done; exit 3'",
        fail.display()
    );
    let mut command = env.codex_command(&["code", "Fail", "--json"]);
    let output = command.env("CODEX_AGENT_COMMAND", wait).output().unwrap();
    let launched: Value = serde_json::from_slice(&output.stdout).unwrap();
    (launched["id"].as_str().unwrap().to_owned(), fail)
}

/// Launches an agent and waits until it is known to have failed.
fn failed(env: &TestEnv) -> String {
    let (id, fail) = launched(env);
    std::fs::write(fail, "").unwrap();
    until("it has failed", || {
        env.json(&["show", &id])["status"] == "failed"
    });
    id
}

fn lines(path: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Starts a server that keeps what is posted to it, and returns its address.
fn webhook(seen: Arc<Mutex<Vec<Value>>>) -> String {
    loopback_http::start_on_thread(move || async move {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        tokio::spawn(loopback_http::serve(listener, move |mut connection| {
            let seen = Arc::clone(&seen);
            async move {
                while let Some(request) = connection.next_request().await? {
                    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
                    let told =
                        json!({ "method": request.method, "path": request.path, "body": body });
                    seen.lock().unwrap().push(told);
                    connection.json(200, &json!({})).await?;
                }
                Ok(())
            }
        }));
        Ok(format!("http://{address}/hooks/codex"))
    })
    .unwrap()
}

#[test]
fn a_failure_is_told_once_to_the_command_and_the_webhook() {
    let env = env_with_agent();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let url = webhook(Arc::clone(&seen));
    let told = env.path("told");
    let record = env.program(
        "record",
        &format!("#!/bin/sh\ncat >> '{}'; echo >> '{0}'\n", told.display()),
    );
    settings(
        &env,
        &format!(
            "[notify]\ncommand = [\"{}\", \"an argument\"]\nwebhook = \"{url}\"\n",
            record.display()
        ),
    );
    let id = failed(&env);
    until("both were told", || {
        !lines(&told).is_empty() && !seen.lock().unwrap().is_empty()
    });
    // Whoever looks again tells nobody again, not even all at once.
    let again: Vec<_> = (0..3).map(|_| env.start(&["notify"], "")).collect();
    for child in again {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    let (by_command, by_webhook) = (lines(&told), seen.lock().unwrap().clone());
    assert_eq!((by_command.len(), by_webhook.len()), (1, 1));
    assert_eq!(by_webhook[0]["method"], "POST");
    assert_eq!(by_webhook[0]["path"], "/hooks/codex");
    for event in [&by_command[0], &by_webhook[0]["body"]] {
        assert_eq!(event["instance"], id.as_str(), "{event}");
        assert_eq!(event["attention"]["kind"], "failed", "{event}");
        let text = event["text"].as_str().unwrap();
        assert!(text.contains("resume it"), "{text}");
    }
}

/// Nobody looks: no command, no page, no other agent.
#[test]
fn the_death_of_a_lone_agent_is_told() {
    let env = env_with_agent();
    let told = env.path("told");
    let record = env.program(
        "record",
        &format!("#!/bin/sh\ncat >> '{}'; echo >> '{0}'\n", told.display()),
    );
    settings(
        &env,
        &format!("[notify]\ncommand = [\"{}\"]\n", record.display()),
    );
    let (id, fail) = launched(&env);
    std::fs::write(fail, "").unwrap();
    until("the person is told", || !lines(&told).is_empty());
    let event = &lines(&told)[0];
    assert_eq!(event["instance"], id.as_str(), "{event}");
    assert_eq!(event["attention"]["kind"], "failed", "{event}");
    assert_eq!(event["attention"]["why"], "the agent exited with status 3");
}

#[test]
fn a_repository_cannot_have_a_program_run_and_a_failing_one_is_logged() {
    let env = env_with_agent();
    let told = env.path("told");
    let touch = format!("[notify]\ncommand = [\"touch\", \"{}\"]\n", told.display());
    env.write(".claude-codex/config.toml", &touch);
    env.text(&["trust", "--yes"]);
    let id = failed(&env);
    env.text(&["notify"]);
    assert!(!told.exists(), "a repository's own settings do not count");
    settings(
        &env,
        "[notify]\ncommand = [\"false\"]\nwebhook = \"http://example.com/\"\n",
    );
    env.text(&["notify"]);
    let log = std::fs::read_to_string(env.state().join(format!("logs/{id}.log"))).unwrap();
    assert!(log.contains("notify.command: `false` ended with"), "{log}");
    assert!(
        log.contains("notify.webhook: it is not a URL that"),
        "{log}"
    );
}

#[test]
fn attached_terminals_show_a_line() {
    let env = env_with_agent();
    settings(&env, "[notify]\ntmux = true\n");
    let (id, fail) = launched(&env);
    let other = env.json(&["code", "Live on"]);
    let other = other["id"].as_str().unwrap();
    let attached = run_in_terminal(&env, &format!("attach {other}"));
    until("it is attached", || {
        let clients = env.tmux(&["list-clients", "-F", "x"]);
        !clients.stdout.is_empty()
    });
    std::fs::write(fail, "").unwrap();
    until("it has failed", || {
        env.json(&["show", &id])["status"] == "failed"
    });
    until("the line is shown", || {
        let log = env.tmux(&["show-messages"]);
        let log = String::from_utf8_lossy(&log.stdout).into_owned();
        log.contains(&format!("{id}: It failed")) || attached.screen().contains("It failed")
    });
}

#[test]
fn a_watched_list_rings_for_what_is_new() {
    let env = env_with_agent();
    let (id, fail) = launched(&env);
    let recorded = env.path("typescript");
    let terminal = run_in_terminal(&env, "list --watch");
    let copy = format!("cat > '{}'", recorded.display());
    let piped = env.tmux_on(terminal.socket(), &["pipe-pane", &copy]);
    assert!(piped.status.success());
    terminal.until_shows(&id);
    let written =
        || String::from_utf8_lossy(&std::fs::read(&recorded).unwrap_or_default()).into_owned();
    std::fs::write(fail, "").unwrap();
    until("it has failed", || {
        env.json(&["show", &id])["status"] == "failed"
    });
    let ring = format!("\x07\x1b]9;{id}: failed");
    until("it rings", || written().contains(&ring));
    terminal.press(&["q"]);
    until("it has ended", || terminal.has_ended());
    assert_eq!(written().matches(&ring).count(), 1);
}
