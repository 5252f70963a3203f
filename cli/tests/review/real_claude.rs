//! The real Claude Code with a scripted model: what scripted agents can't prove.
//!
//! Runs where `CODEX_TEST_CLAUDE` names a claude binary; else each test says that it was skipped.

use std::path::PathBuf;

use scripted_model::{Answer, Model, Rule, last_user_text};
use serde_json::{Value, json};
use shared::model::{InstanceId, MessageState, Status, TakenBy, Verdict};

use crate::support::{Place, kill, text};

/// Long enough to act in its middle; a plain `sleep` is refused by Claude Code.
const WAIT: &str = "for i in 1 2 3 4 5 6; do sleep 0.5; done";

struct Lab {
    place: Place,
    model: Model,
}

impl Lab {
    /// Makes a user with Claude Code, or says why not.
    fn new(rules: Vec<Rule>) -> Option<Self> {
        let Some(claude) = std::env::var_os("CODEX_TEST_CLAUDE").map(PathBuf::from) else {
            eprintln!("SKIPPED: CODEX_TEST_CLAUDE does not name a claude binary");
            return None;
        };
        assert!(claude.is_file(), "no Claude Code at {}", claude.display());
        let model = start(rules);
        let mut place = Place::new("idle", "idle");
        place.set("CODEX_AGENT_COMMAND", "");
        place.set("CODEX_CLAUDE", claude.to_str().unwrap());
        place.set("ANTHROPIC_BASE_URL", &model.url());
        place.set("ANTHROPIC_AUTH_TOKEN", "dummy-token");
        for name in [
            "DISABLE_TELEMETRY",
            "DISABLE_ERROR_REPORTING",
            "DISABLE_AUTOUPDATER",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        ] {
            place.set(name, "1");
        }
        Some(Self { place, model })
    }

    fn allow(&self, rule: &str) {
        let folder = self.place.path("home/.config/claude-codex");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(
            folder.join("config.toml"),
            format!("[agent]\nallow = [\"{rule}\"]\n"),
        )
        .unwrap();
    }

    fn coder(&self, prompt: &str) -> InstanceId {
        let printed = text(&self.place.codex(&["code", prompt, "--json"]));
        let printed: Value = serde_json::from_str(&printed).unwrap();
        let id: InstanceId = printed["id"].as_str().unwrap().parse().unwrap();
        self.place
            .until("it is up", || self.place.status(&id) == Status::Running);
        id
    }

    fn screen(&self, id: &InstanceId) -> String {
        let output = self
            .place
            .tmux(&["capture-pane", "-p", "-t", &format!("={id}:")]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn shows(&self, id: &InstanceId, what: &str) {
        self.place.until(what, || self.screen(id).contains(what));
    }

    /// Waits until Claude Code itself says that it is at its prompt.
    fn idle(&self, id: &InstanceId) {
        self.place.until("it is idle", || {
            let listed = text(&self.place.codex(&["list", "--json"]));
            let listed: Value = serde_json::from_str(&listed).unwrap();
            let agents = listed.as_array().unwrap();
            let agent = agents.iter().find(|agent| agent["id"] == id.as_str());
            agent.is_some_and(|agent| agent["activity"]["state"] == "idle")
        });
    }

    fn press(&self, id: &InstanceId, keys: &[&str]) {
        let target = format!("={id}:");
        let args = [&["send-keys", "-t", &target], keys].concat();
        assert!(self.place.tmux(&args).status.success());
    }

    /// How often a text stands in the newest request of a conversation that has it at all.
    fn told(&self, what: &str) -> usize {
        let conversations = self.model.conversations();
        let last = conversations
            .iter()
            .rfind(|request| request.to_string().contains(what));
        last.map_or(0, |request| {
            request["messages"].to_string().matches(what).count()
        })
    }

    fn taken(&self, id: &InstanceId) {
        self.place.until("it is taken", || {
            let messages = self.place.messages(id);
            !messages.is_empty()
                && messages
                    .iter()
                    .all(|message| message.state == MessageState::Taken)
        });
    }
}

/// Runs the model on a thread of its own.
fn start(rules: Vec<Rule>) -> Model {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            sender
                .send(Model::start(rules, None, 0).await.unwrap())
                .ok()
                .unwrap();
            std::future::pending::<()>().await;
        });
    });
    receiver.recv().unwrap()
}

fn bash(command: &str) -> Answer {
    Answer::tool("Bash", json!({ "command": command, "description": "d" }))
}

#[test]
fn a_whole_round_and_feedback_to_an_idle_agent() {
    let feedback = "FEEDBACK: /exit !ls #x @README.md\n- ünï ✓ 漢字 🦀 \\ $HOME `x` \"q\" 's'";
    let rules = vec![
        Rule::when(
            "The review asked of you",
            vec![
                Answer::tool(
                    "mcp__codex-review__request_changes",
                    json!({ "feedback": feedback, "findings": [] }),
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
    lab.allow("Bash");
    let coder = lab.coder("BEGIN");
    lab.taken(&coder);
    let message = lab.place.messages(&coder).remove(0);
    assert!(message.body.contains(feedback), "{}", message.body);
    lab.place
        .until("the model has it", || lab.told(message.id.as_str()) > 0);
    assert_eq!(lab.told(message.id.as_str()), 1);
    match message.taken_by {
        Some(TakenBy::Transcript) => {
            let requests = lab.model.conversations();
            let exact = requests
                .iter()
                .any(|request| last_user_text(request) == message.body);
            assert!(exact, "not byte for byte");
        }
        other => assert_eq!(other, Some(TakenBy::StopHook)),
    }
    let review = lab.place.reviews(&coder).remove(0);
    assert_eq!(review.verdict, Verdict::ChangesRequested);
    lab.place.is_gone(&review.review_instance_id);
    assert_eq!(lab.place.status(&coder), Status::Running);
}

#[test]
fn an_idle_agent_gets_it_byte_for_byte() {
    let Some(lab) = Lab::new(Vec::new()) else {
        return;
    };
    let coder = lab.coder("begin");
    lab.shows(&coder, "Done.");
    lab.idle(&coder);
    let note = "/exit\n!touch PWNED\n  two spaces\n\n- ünï ✓ 漢字 🦀 \\ $HOME `x` \"q\" 's' @README.md end";
    for number in 1..=5 {
        text(&lab.place.send(&coder, note));
        lab.taken(&coder);
        let message = lab.place.messages(&coder).pop().unwrap();
        assert_eq!(message.taken_by, Some(TakenBy::Transcript));
        assert!(message.body.ends_with(note));
        lab.place.until("the model has it", || {
            lab.model
                .conversations()
                .iter()
                .any(|request| last_user_text(request) == message.body)
        });
        assert_eq!(lab.place.messages(&coder).len(), number);
        assert_eq!(lab.told(message.id.as_str()), 1);
        lab.idle(&coder);
    }
}

#[test]
fn a_busy_agent_gets_it_once_at_the_end_of_its_turn() {
    let rules = vec![Rule::when("BEGIN", vec![bash(WAIT), Answer::text("FINISHED")]).once()];
    let Some(lab) = Lab::new(rules) else { return };
    lab.allow("Bash");
    let coder = lab.coder("BEGIN");
    lab.shows(&coder, "for i in");
    text(&lab.place.send(&coder, "while you were busy"));
    lab.taken(&coder);
    let message = lab.place.messages(&coder).remove(0);
    assert_eq!(message.taken_by, Some(TakenBy::StopHook));
    assert_eq!(message.attempts, 1);
    let expected = format!("Stop hook feedback:\n{}", message.body);
    lab.place.until("the model has it", || {
        lab.model
            .conversations()
            .iter()
            .any(|request| last_user_text(request).contains(&expected))
    });
    // Claude Code itself tells the model of one block twice: as feedback, and as a note about the hook.
    let once = format!("Stop hook feedback:\\n[claude-codex {}]", message.id);
    assert_eq!(lab.told(&once), 1);
}

#[test]
fn an_open_dialog_is_not_answered() {
    let rules = vec![
        Rule::when(
            "BEGIN",
            vec![
                bash("curl -o stolen http://127.0.0.1:1/"),
                Answer::text("FINISHED"),
            ],
        )
        .once(),
    ];
    let Some(lab) = Lab::new(rules) else { return };
    let coder = lab.coder("BEGIN");
    lab.shows(&coder, "Do you want to proceed?");
    let printed = text(&lab.place.send(&coder, "not now"));
    assert!(printed.contains("\"delivered\": false"), "{printed}");
    assert!(printed.contains("dialog"), "{printed}");
    assert!(lab.screen(&coder).contains("Do you want to proceed?"));
    assert!(!lab.screen(&coder).contains("not now"));
    assert_eq!(lab.place.messages(&coder)[0].attempts, 0);
    lab.press(&coder, &["Escape"]);
    lab.taken(&coder);
    let id = lab.place.messages(&coder)[0].id.clone();
    lab.place
        .until("the model has it", || lab.told(id.as_str()) == 1);
}

#[test]
fn a_draft_of_a_person_survives() {
    let Some(lab) = Lab::new(Vec::new()) else {
        return;
    };
    let coder = lab.coder("begin");
    lab.shows(&coder, "Done.");
    lab.press(&coder, &["-l", "my own words"]);
    lab.shows(&coder, "my own words");
    let printed = text(&lab.place.send(&coder, "hold back"));
    assert!(
        printed.contains("\"delivered\": false") && printed.contains("draft"),
        "{printed}"
    );
    assert!(lab.screen(&coder).contains("my own words"));
    assert_eq!(lab.told("my own words"), 0);
    lab.press(&coder, &["C-u"]);
    lab.taken(&coder);
    assert_eq!(lab.told("my own words"), 0);
}

#[test]
fn a_killed_agent_gets_it_when_resumed() {
    let rules = vec![Rule::when("BEGIN", vec![bash(WAIT), Answer::text("FINISHED")]).once()];
    let Some(lab) = Lab::new(rules) else { return };
    lab.allow("Bash");
    let coder = lab.coder("BEGIN");
    lab.shows(&coder, "for i in");
    let child = lab
        .place
        .start(&["send", coder.as_str(), "-"], "before it died");
    lab.place
        .until("it is owed", || lab.place.messages(&coder).len() == 1);
    let pid = lab.place.tmux(&[
        "list-panes",
        "-t",
        &format!("={coder}"),
        "-F",
        "#{pane_pid}",
    ]);
    kill(String::from_utf8_lossy(&pid.stdout).trim().parse().unwrap());
    child.wait_with_output().unwrap();
    lab.place.until("it is noticed", || {
        lab.place.codex(&["list"]);
        lab.place.status(&coder) == Status::Failed && lab.place.instance(&coder).owner.is_none()
    });
    assert_ne!(lab.place.messages(&coder)[0].state, MessageState::Taken);
    text(&lab.place.codex(&["resume", coder.as_str()]));
    lab.taken(&coder);
    let id = lab.place.messages(&coder)[0].id.clone();
    lab.place
        .until("the model has it", || lab.told(id.as_str()) == 1);
    // What comes later is not what was owed once more.
    text(&lab.place.send(&coder, "and now?"));
    lab.taken(&coder);
    let next = lab.place.messages(&coder).pop().unwrap().id;
    lab.place
        .until("the model has it", || lab.told(next.as_str()) > 0);
    assert_eq!(lab.told(id.as_str()), 1);
}
