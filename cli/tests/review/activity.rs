//! What an agent says, runs and changes, seen while it works: `logs`, `logs --follow` and the dashboard.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};
use tests::dashboard::Dashboard;
use tests::{AgentEnv, text};

use crate::delivery::{claude, sent};

fn transcripts(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(transcripts(&path));
        } else if path.extension().is_some_and(|end| end == "jsonl") {
            found.push(path);
        }
    }
    found
}

fn transcript(env: &AgentEnv) -> PathBuf {
    let found = transcripts(env.root());
    let [path] = &found[..] else {
        panic!("{found:?}");
    };
    path.clone()
}

fn write(transcript: &Path, blocks: &Value) {
    let record = json!({"type": "assistant", "timestamp": "2026-01-02T03:04:05.678Z", "message": {"content": blocks}});
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(transcript)
        .unwrap();
    writeln!(file, "{record}").unwrap();
}

fn says(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

#[test]
fn what_an_agent_does_is_followed_into_the_next_transcript() {
    let (env, coder) = claude();
    sent(&env, &coder, "Please look");
    let first = transcript(&env);
    write(&first, &says("I look.\nThen I \u{1b}[2J work."));
    let edit = json!({"file_path": env.instance(&coder).worktree_path.join("a.rs"), "old_string": "a", "new_string": "b"});
    write(
        &first,
        &json!([{"type": "tool_use", "id": "1", "name": "Edit", "input": edit}]),
    );

    let shown = env.text(&["logs", coder.as_str()]);
    for line in [
        "Activity",
        "03:04:05 ● I look.",
        "Then I <U+001B>[2J work.",
        "edits a.rs (+1 −1)",
    ] {
        assert!(shown.contains(line), "{line} is missing:\n{shown}");
    }
    let shown = env.text(&["logs", coder.as_str(), "--lines", "2"]);
    assert!(
        shown.ends_with("Then I <U+001B>[2J work.\n03:04:05   edits a.rs (+1 −1)\n"),
        "{shown}"
    );
    assert!(!shown.contains("I look."), "{shown}");
    let document = env.json(&["logs", coder.as_str()]);
    assert_eq!(document["activity"][1]["kind"], "said", "{document}");

    let mut follow = env
        .codex_command(&["logs", coder.as_str(), "--follow"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (heard, lines) = mpsc::channel();
    let reader = BufReader::new(follow.stdout.take().unwrap());
    std::thread::spawn(move || {
        for line in reader.lines() {
            heard.send(line.unwrap()).unwrap();
        }
    });
    let until = |what: &str| loop {
        let line = lines.recv_timeout(Duration::from_secs(30)).unwrap();
        if line.contains(what) {
            return;
        }
    };
    until("edits a.rs");
    write(
        &first,
        &json!([{"type": "tool_use", "id": "2", "name": "Bash", "input": {"command": "cargo test"}}]),
    );
    until("runs cargo test");
    // After `/clear` the conversation goes on in another file.
    let second = first.with_file_name("00000000-0000-4000-8000-000000000001.jsonl");
    write(&second, &says("I begin anew."));
    until("I begin anew.");
    env.text(&["stop", coder.as_str()]);
    assert!(follow.wait().unwrap().success());
}

#[test]
fn the_dashboard_has_the_activity_in_pages() {
    let (env, coder) = claude();
    sent(&env, &coder, "Please look");
    let path = transcript(&env);
    for number in 0..5 {
        write(&path, &says(&format!("<i>step {number}</i>")));
    }
    let dashboard = Dashboard::start(&env, &[]);
    let address = format!("/api/instances/{coder}/activity");
    let texts = |page: &Value| -> Vec<String> {
        let items = page["items"].as_array().unwrap();
        let texts = items.iter().map(|item| item["text"].as_str().unwrap());
        texts.map(str::to_owned).collect()
    };
    let page = dashboard.get(&format!("{address}?limit=2")).good();
    assert_eq!(texts(&page), ["<i>step 3</i>", "<i>step 4</i>"]);
    let next = |page: &Value| {
        let cursor = page["cursor"].as_str().unwrap();
        dashboard
            .get(&format!("{address}?limit=1&after={cursor}"))
            .good()
    };
    assert_eq!(texts(&next(&page)), [""; 0]);
    write(&path, &says("step 5"));
    write(&path, &says("step 6"));
    let page = next(&page);
    assert_eq!(
        (texts(&page), &page["more"]),
        (vec!["step 5".to_owned()], &json!(true))
    );
    assert_eq!(texts(&next(&page)), ["step 6"]);
    for refused in ["limit=0", "limit=1001", "after=what"] {
        let answer = dashboard.get(&format!("{address}?{refused}"));
        assert_eq!(answer.code(), "INVALID_ARGUMENTS", "{refused}");
    }
    let html = dashboard.get(&format!("/agents/{coder}")).body;
    assert!(html.contains("&lt;i&gt;step 4"), "{html}");
    assert!(html.contains("data-cursor"), "{html}");
}

#[test]
fn without_a_transcript_the_terminal_is_shown_in_as_many_lines_as_asked_for() {
    let mut env = AgentEnv::new("idle", "idle");
    env.set("CODEX_AGENT_COMMAND", "sh -c 'seq 200; exec sleep 600'");
    let launched = env.json(&["code", "Count"]);
    let id = launched["id"].as_str().unwrap();
    env.until("it has counted", || env.text(&["logs", id]).contains("200"));
    let shown = text(&env.codex(&["logs", id, "--lines", "5"]));
    let (_, terminal) = shown.split_once("Terminal\n").unwrap();
    assert_eq!(terminal, "196\n197\n198\n199\n200\n");
}
