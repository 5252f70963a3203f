//! The real Claude Code with a scripted model: from a specification to a merged pull request.
//!
//! Runs where `CODEX_TEST_CLAUDE` names a claude binary; else it says that it was skipped.

use std::path::PathBuf;

use scripted_model::{Answer, Model, Rule, last_user_text, system_text};
use serde_json::{Value, json};
use shared::model::Status;

use crate::lab::{Lab, id_of};
use crate::support::{kill, text};

/// Makes a user with Claude Code, or says why not.
fn lab(rules: Vec<Rule>) -> Option<(Lab, Model)> {
    let Some(claude) = std::env::var_os("CODEX_TEST_CLAUDE").map(PathBuf::from) else {
        eprintln!("SKIPPED: CODEX_TEST_CLAUDE does not name a claude binary");
        return None;
    };
    assert!(claude.is_file(), "no Claude Code at {}", claude.display());
    let model = start(rules);
    let mut lab = Lab::new("", "");
    lab.place.set("CODEX_AGENT_COMMAND", "");
    lab.place.set("CODEX_CLAUDE", claude.to_str().unwrap());
    lab.place.set("ANTHROPIC_BASE_URL", &model.url());
    lab.place.set("ANTHROPIC_AUTH_TOKEN", "dummy-token");
    for name in [
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
        "DISABLE_AUTOUPDATER",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    ] {
        lab.place.set(name, "1");
    }
    let makefile = "test:\n\tsh test.sh\n";
    std::fs::write(lab.place.path("repo/Makefile"), makefile).unwrap();
    lab.place.git(&["add", "."]);
    lab.place.git(&["commit", "-q", "-m", "a way to test"]);
    text(&lab.place.codex(&["trust", "--yes"]));
    Some((lab, model))
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
            let model = Model::start(rules, None, 0).await.unwrap();
            sender.send(model).ok().unwrap();
            std::future::pending::<()>().await;
        });
    });
    receiver.recv().unwrap()
}

fn bash(command: &str) -> Answer {
    Answer::tool("Bash", json!({ "command": command, "description": "d" }))
}

/// A rule for an agent of a run, by what it is told.
fn rule(role: &str, contains: &str, answers: Vec<Answer>) -> Rule {
    Rule {
        system: Some(format!("You are the {role} of a test-driven run")),
        ..Rule::when(contains, answers).once()
    }
}

const HANDOFF: &str =
    "## Handoff\n### What was done\nIt greets.\n### Tests\nmake test: 1 passed\n### Open\nnothing";

fn write(name: &str, content: &str) -> Answer {
    // Only the agent knows where its worktree is; a relative path is taken from there.
    bash(&format!("cat > {name} <<'END'\n{content}\nEND"))
}

fn approval() -> Answer {
    Answer::tool(
        "mcp__codex-review__create_pr",
        json!({ "title": "Greet by name", "description": "Greets by name, or you." }),
    )
}

/// A coder that forgets something, and a reviewer that sees it.
fn story() -> Vec<Rule> {
    vec![
        rule(
            "coder",
            "sent back",
            vec![
                write("greet.sh", "echo \"Hello, ${1:-you}!\""),
                bash("make test"),
                bash("git add greet.sh"),
                bash("git commit -q -m 'a name is asked for'"),
                Answer::text(HANDOFF),
            ],
        ),
        rule(
            "coder",
            "Your task as",
            vec![
                write(
                    "test.sh",
                    "if test \"$(sh greet.sh Ann)\" = 'Hello, Ann!'\nthen echo '1 passed'\nelse echo '1 failed'\nexit 1\nfi",
                ),
                bash("make test"),
                bash("git add test.sh"),
                bash("git commit -q -m 'a test first'"),
                write("greet.sh", "echo \"Hello, $1!\""),
                bash("make test"),
                bash("git add greet.sh"),
                bash("git commit -q -m 'it greets'"),
                Answer::text(HANDOFF),
            ],
        ),
        rule(
            "reviewer",
            "The review asked of you",
            vec![
                bash("make test"),
                Answer::tool(
                    "mcp__codex-review__request_changes",
                    json!({ "feedback": "Without a name it greets nobody.", "findings": [
                        { "file": "greet.sh", "line": 1, "severity": "blocking", "message": "prints `Hello, !`" }] }),
                ),
                Answer::text("I asked for changes."),
            ],
        ),
        rule(
            "reviewer",
            "The review asked of you",
            vec![bash("make test"), approval(), Answer::text("Approved.")],
        ),
    ]
}

#[test]
fn from_a_specification_to_a_merged_pull_request() {
    let Some((lab, model)) = lab(story()) else {
        return;
    };
    let output = lab.place.codex(&["tdd", &lab.spec()]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let id = lab.runs().pop().unwrap();
    assert!(output.status.success(), "{told}\n{}", lab.place.describe());
    for expected in [
        "runs make test",
        "✗ 1 failed",
        "✓ 1 passed",
        "calls request_changes",
        "the reviewer sends it back: Without a name",
        "calls create_pr",
    ] {
        assert!(told.contains(expected), "no {expected:?}:\n{told}");
    }
    let shown = lab.show(&id);
    assert_eq!(shown["status"], "completed");
    assert_eq!(shown["coderResponses"], json!([HANDOFF, HANDOFF]));
    let said = shown["reviewerResponses"][0].as_str().unwrap();
    assert!(
        said.contains("Without a name") && said.contains("prints `Hello, !`"),
        "{said}"
    );

    // The second turn is the same conversation, and the reviewer got spec and handoff.
    let conversations = model.conversations();
    let second = conversations
        .iter()
        .find(|request| last_user_text(request).contains("sent back"))
        .unwrap();
    assert!(
        second["messages"].to_string().contains("a test first"),
        "no memory"
    );
    assert!(last_user_text(second).contains("The program greets by name."));
    let review = conversations
        .iter()
        .find(|request| last_user_text(request).contains("The review asked of you"))
        .unwrap();
    assert!(last_user_text(review).contains("It greets."), "no handoff");
    assert!(system_text(review).contains("round 1"));

    assert_eq!(lab.pull()["state"], "open");
    text(&lab.place.codex(&["pr", "merge", "1"]));
    assert_eq!(lab.place.status(&id), Status::PrMerged);
    let greeting = lab.place.git(&["show", "main:greet.sh"]);
    assert!(greeting.contains("${1:-you}"), "{greeting}");
    lab.nothing_runs();
}

#[test]
fn a_model_that_fails_is_said() {
    let failure = Answer {
        failure: Some(scripted_model::Failure {
            status: 400,
            kind: "invalid_request_error".to_owned(),
            message: "your credit balance is too low".to_owned(),
        }),
        ..Answer::default()
    };
    let mut rule = rule("coder", "Your task as", vec![failure]);
    rule.times = None;
    let Some((lab, _model)) = lab(vec![rule]) else {
        return;
    };
    let result: Value = lab.tdd(&[]);
    let error = result["error"].as_str().unwrap();
    assert!(error.contains("Credit balance is too low"), "{error}");
    assert_eq!(lab.show(&id_of(&result))["status"], "failed");
    lab.nothing_runs();
}

#[test]
fn a_killed_coder_goes_on_in_its_own_conversation() {
    let wait = "for i in 1 2 3 4 5 6 7 8; do sleep 0.5; done";
    let rules = vec![
        rule(
            "coder",
            "were interrupted",
            vec![
                write("greet.sh", "echo \"Hello, $1!\""),
                bash("git add greet.sh"),
                bash("git commit -q -m 'it greets'"),
                Answer::text(HANDOFF),
            ],
        ),
        rule(
            "coder",
            "Your task as",
            vec![bash(wait), Answer::text("never")],
        ),
        rule(
            "reviewer",
            "The review asked of you",
            vec![approval(), Answer::text("Approved.")],
        ),
    ];
    let Some((lab, model)) = lab(rules) else {
        return;
    };
    // What is not a project's command is refused where nobody can be asked.
    let folder = lab.place.path("home/.config/claude-codex");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), "[agent]\nallow = [\"Bash\"]\n").unwrap();
    let (mut child, id) = lab.begin(&[]);
    let stream = lab
        .place
        .path("state/logs")
        .join(id.as_str())
        .join("turn-1.jsonl");
    lab.place.until("the coder is at work", || {
        std::fs::read_to_string(&stream).is_ok_and(|text| text.contains("for i in"))
    });
    kill(u64::from(child.id()));
    child.wait().unwrap();
    lab.place.tmux(&["kill-server"]);
    let result = lab.resume(&id, &[]);
    assert_eq!(result["success"], true, "{result}");
    let conversations = model.conversations();
    let second = conversations
        .iter()
        .find(|request| last_user_text(request).contains("were interrupted"))
        .unwrap();
    assert!(
        second["messages"].to_string().contains("for i in"),
        "no memory"
    );
    lab.pull();
    lab.nothing_runs();
}
