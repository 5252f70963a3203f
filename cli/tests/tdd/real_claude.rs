//! The real Claude Code with a scripted model: from a specification to a merged pull request.
//!
//! Runs where `CODEX_TEST_CLAUDE` names a claude binary; else it says that it was skipped.

use scripted_model::{Answer, Rule, last_user_text, system_text};
use serde_json::{Value, json};
use shared::model::Status;
use tests::{ScriptedClaude, kill};

use crate::tdd_env::{TddEnv, id_of};

/// Makes a user with Claude Code, or says why not.
fn claude_env(rules: Vec<Rule>) -> Option<(TddEnv, ScriptedClaude)> {
    let claude = ScriptedClaude::start(rules)?;
    let mut env = TddEnv::new("", "");
    claude.install(&mut env);
    env.write("Makefile", "test:\n\tsh test.sh\n");
    env.commit_all("a way to test");
    env.text(&["trust", "--yes"]);
    Some((env, claude))
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
    Answer::bash(&format!("cat > {name} <<'END'\n{content}\nEND"))
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
                Answer::bash("make test"),
                Answer::bash("git add greet.sh"),
                Answer::bash("git commit -q -m 'a name is asked for'"),
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
                Answer::bash("make test"),
                Answer::bash("git add test.sh"),
                Answer::bash("git commit -q -m 'a test first'"),
                write("greet.sh", "echo \"Hello, $1!\""),
                Answer::bash("make test"),
                Answer::bash("git add greet.sh"),
                Answer::bash("git commit -q -m 'it greets'"),
                Answer::text(HANDOFF),
            ],
        ),
        rule(
            "reviewer",
            "The review asked of you",
            vec![
                Answer::bash("make test"),
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
            vec![
                Answer::bash("make test"),
                approval(),
                Answer::text("Approved."),
            ],
        ),
    ]
}

#[test]
fn from_a_specification_to_a_merged_pull_request() {
    let Some((env, claude)) = claude_env(story()) else {
        return;
    };
    let output = env.codex(&["tdd", &env.spec()]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let id = env.runs().pop().unwrap();
    assert!(output.status.success(), "{told}\n{}", env.describe());
    for expected in [
        "runs make test",
        "✗ 1 failed",
        "✓ 1 passed",
        "calls request_changes",
        "the reviewer requests changes: Without a name",
        "calls create_pr",
    ] {
        assert!(told.contains(expected), "no {expected:?}:\n{told}");
    }
    let shown = env.show(&id);
    assert_eq!(shown["status"], "completed");
    assert_eq!(shown["coderResponses"], json!([HANDOFF, HANDOFF]));
    let said = shown["reviewerResponses"][0].as_str().unwrap();
    assert!(
        said.contains("Without a name") && said.contains("prints `Hello, !`"),
        "{said}"
    );

    // The second turn is the same conversation, and the reviewer got spec and handoff.
    let conversations = claude.model.conversations();
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

    assert_eq!(env.pull()["state"], "open");
    env.text(&["pr", "merge", "1"]);
    assert_eq!(env.status(&id), Status::PrMerged);
    let greeting = env.git(&["show", "main:greet.sh"]);
    assert!(greeting.contains("${1:-you}"), "{greeting}");
    env.until_nothing_runs();
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
    let Some((env, _claude)) = claude_env(vec![rule]) else {
        return;
    };
    let result: Value = env.tdd(&[]);
    let error = result["error"].as_str().unwrap();
    assert!(error.contains("Credit balance is too low"), "{error}");
    assert_eq!(env.show(&id_of(&result))["status"], "failed");
    env.until_nothing_runs();
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
                Answer::bash("git add greet.sh"),
                Answer::bash("git commit -q -m 'it greets'"),
                Answer::text(HANDOFF),
            ],
        ),
        rule(
            "coder",
            "Your task as",
            vec![Answer::bash(wait), Answer::text("never")],
        ),
        rule(
            "reviewer",
            "The review asked of you",
            vec![approval(), Answer::text("Approved.")],
        ),
    ];
    let Some((env, claude)) = claude_env(rules) else {
        return;
    };
    // What is not a project's command is refused where nobody can be asked.
    let folder = env.path("home/.config/claude-codex");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), "[agent]\nallow = [\"Bash\"]\n").unwrap();
    let (mut child, id) = env.begin(&[]);
    let stream = env
        .path("state/logs")
        .join(id.as_str())
        .join("turn-1.jsonl");
    env.until("the coder is at work", || {
        std::fs::read_to_string(&stream).is_ok_and(|text| text.contains("for i in"))
    });
    kill(u64::from(child.id()));
    child.wait().unwrap();
    env.tmux(&["kill-server"]);
    let result = env.resume(&id, &[]);
    assert_eq!(result["success"], true, "{result}");
    let conversations = claude.model.conversations();
    let second = conversations
        .iter()
        .find(|request| last_user_text(request).contains("were interrupted"))
        .unwrap();
    assert!(
        second["messages"].to_string().contains("for i in"),
        "no memory"
    );
    env.pull();
    env.until_nothing_runs();
}
