//! A session that nobody launched: a person runs `claude` where `claude-codex init` was run.

use std::process::Output;
use std::time::{Duration, Instant};

use scripted_model::{Answer, Rule};
use serde_json::{Value, json};
use shared::model::{InstanceId, Origin, Verdict};

use super::{Lab, bash};
use crate::support::{PATIENCE, Place, text};

/// A person's own tmux, with Claude Code in it.
struct Terminal<'a> {
    place: &'a Place,
    socket: String,
}

impl<'a> Terminal<'a> {
    fn start(lab: &'a Lab) -> Self {
        let terminal = Self {
            place: &lab.place,
            socket: format!("{}-own", lab.place.socket),
        };
        let claude = lab.claude.to_str().unwrap();
        let started = terminal.tmux(&[
            "new-session",
            "-d",
            "-s",
            "mine",
            "-x",
            "120",
            "-y",
            "40",
            claude,
        ]);
        assert!(started.status.success(), "{started:?}");
        terminal
    }

    fn tmux(&self, args: &[&str]) -> Output {
        self.place
            .tmux_with(&[&["-L", &self.socket, "-f", "/dev/null"], args].concat())
    }

    fn screen(&self) -> String {
        let shown = self.tmux(&["capture-pane", "-p", "-t", "=mine:"]);
        String::from_utf8_lossy(&shown.stdout).into_owned()
    }

    fn until(&self, what: &str, mut holds: impl FnMut(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if holds(&screen) {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "waited in vain for {what}:\n{screen}"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn shows(&self, what: &str) {
        self.until(what, |screen| screen.contains(what));
    }

    /// Moves the cursor of a list to the line that has these words.
    fn go_to(&self, words: &str) {
        // One step at a time: keys that come too soon are lost, and beyond its end a list begins again.
        let mut pressed: Option<(String, Instant)> = None;
        self.until(words, |screen| {
            let chosen = chosen(screen);
            if chosen.contains(words) {
                return true;
            }
            let moved = pressed.as_ref().is_none_or(|(before, at)| {
                *before != chosen || at.elapsed() > Duration::from_secs(2)
            });
            if moved {
                std::thread::sleep(Duration::from_millis(200));
                self.press(&["Down"]);
                pressed = Some((chosen, Instant::now()));
            }
            false
        });
    }

    fn press(&self, keys: &[&str]) {
        let done = self.tmux(&[&["send-keys", "-t", "=mine:"], keys].concat());
        assert!(done.status.success(), "{done:?}");
    }
}

/// Returns the line that the cursor of a list is on.
fn chosen(screen: &str) -> String {
    let line = screen.lines().find(|line| line.contains('❯'));
    line.unwrap_or_default().to_owned()
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn a_session_of_a_persons_own_is_reviewed_like_any_other() {
    let rules = vec![
        Rule::when(
            "The review asked of you",
            vec![
                Answer::tool(
                    "mcp__codex-review__request_changes",
                    json!({ "feedback": "FEEDBACK for a person's own session", "findings": [] }),
                ),
                Answer::text("JUDGED"),
            ],
        ),
        Rule::when(
            "BEGIN",
            vec![
                bash("echo hello > work.txt && git add work.txt && git commit -q -m work"),
                Answer::tool(
                    "mcp__codex-coding__request_review",
                    json!({ "description": "look" }),
                ),
                Answer::text("ASKED"),
            ],
        )
        .once(),
    ];
    let Some(lab) = Lab::new(rules) else { return };
    text(&lab.place.codex(&["init"]));
    lab.place.git(&["add", "."]);
    lab.place
        .git(&["commit", "-q", "-m", "register the servers"]);
    lab.place.git(&["switch", "-q", "-c", "my-work"]);
    // Somebody who has used Claude Code here before.
    let known = json!({ "hasCompletedOnboarding": true,
        "projects": { lab.place.path("repo").to_str().unwrap(): { "hasTrustDialogAccepted": true } } });
    std::fs::write(lab.place.path("home/.claude.json"), known.to_string()).unwrap();
    std::fs::create_dir_all(lab.place.path("home/.claude")).unwrap();
    let settings = json!({ "permissions": { "defaultMode": "default", "allow": ["Bash", "mcp__codex-coding__*"] } });
    std::fs::write(
        lab.place.path("home/.claude/settings.json"),
        settings.to_string(),
    )
    .unwrap();

    let terminal = Terminal::start(&lab);
    // All three are ticked already.
    terminal.shows("new MCP servers found");
    terminal.go_to("Enable selected");
    terminal.press(&["Enter"]);
    terminal.shows("Make auto mode your default");
    terminal.go_to("No, keep");
    terminal.press(&["Enter"]);
    terminal.until("its prompt", |screen| {
        screen.contains("Claude Code v") && !screen.contains("auto mode")
    });
    terminal.press(&["-l", "BEGIN"]);
    terminal.shows("BEGIN");
    terminal.press(&["Enter"]);

    let mut found: Option<InstanceId> = None;
    terminal.until("it is adopted", |_| {
        let listed = text(&lab.place.codex(&["list", "--json"]));
        let listed: Value = serde_json::from_str(&listed).unwrap();
        let coder = listed
            .as_array()
            .unwrap()
            .iter()
            .find(|agent| agent["type"] == "coding");
        found = coder.map(|agent| agent["id"].as_str().unwrap().parse().unwrap());
        found.is_some()
    });
    let coder = found.unwrap();
    lab.taken(&coder);
    let instance = lab.place.instance(&coder);
    assert_eq!(instance.origin, Origin::Adopted);
    assert_eq!(instance.branch_name.as_deref(), Some("my-work"));
    let review = lab.place.reviews(&coder).remove(0);
    assert_eq!(review.verdict, Verdict::ChangesRequested);
    let id = lab.place.messages(&coder)[0].id.clone();
    lab.place
        .until("the model has it", || lab.told(id.as_str()) > 0);
    lab.place.is_gone(&review.review_instance_id);
    let listed: Value = serde_json::from_str(&text(&lab.place.codex(&["list", "--json"]))).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1);
}
