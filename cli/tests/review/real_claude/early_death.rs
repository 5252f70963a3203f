//! Claude Code that dies at its start, or cannot log in: what it says is the error, or is kept.

use scripted_model::{Answer, Rule};
use shared::model::Status;
use tests::error;

use super::ClaudeEnv;

/// Long enough for any machine: a program that dies ends the wait.
const PATIENT: (&str, &str) = ("CODEX_AGENT_START_TIMEOUT_SECONDS", "120");

/// Empties all transcripts below Claude Code's folder, as a full disk would.
fn empty_transcripts(folder: &std::path::Path) -> usize {
    let mut emptied = 0;
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            emptied += empty_transcripts(&path);
        } else if path.extension().is_some_and(|found| found == "jsonl") {
            std::fs::write(&path, "").unwrap();
            emptied += 1;
        }
    }
    emptied
}

#[test]
fn a_resumed_claude_that_has_lost_its_conversation_fails_with_its_own_words() {
    let rules = vec![Rule::when("SAY HELLO", vec![Answer::text("GREETED")]).once()];
    let Some(mut env) = ClaudeEnv::new(rules) else {
        return;
    };
    let coder = env.coder("SAY HELLO");
    env.until_shows(&coder, "GREETED");
    env.until_idle(&coder);
    env.text(&["stop", coder.as_str()]);
    let folder = env.variables().get("CLAUDE_CONFIG_DIR");
    let folder = folder.map_or_else(|| env.home().join(".claude"), Into::into);
    assert!(empty_transcripts(&folder.join("projects")) > 0);
    env.set(PATIENT.0, PATIENT.1);
    let failed = error(&env.codex(&["resume", coder.as_str(), "--json"]));
    assert_eq!(failed["code"], "AGENT_FAILED", "{failed}");
    let message = failed["message"].as_str().unwrap();
    assert!(message.contains("No conversation found"), "{message}");
    assert_eq!(failed["details"]["exitStatus"], 1, "{failed}");
    assert_eq!(env.status(&coder), Status::Failed);
    let logs = env.text(&["logs", coder.as_str()]);
    assert!(logs.contains("No conversation found"), "{logs}");
}

/// Its folder for temporary files cannot be made: it says so, and exits before it is at its prompt.
#[test]
fn a_launched_claude_that_dies_at_once_fails_with_its_own_words_and_leaves_nothing() {
    let Some(mut env) = ClaudeEnv::new(Vec::new()) else {
        return;
    };
    // A first launch makes what stays between launches.
    let first = env.coder("SAY HELLO");
    env.text(&["stop", first.as_str()]);
    let before = traces(&env);
    env.set(PATIENT.0, PATIENT.1);
    let file = env.path("a file");
    std::fs::write(&file, "").unwrap();
    env.set("CLAUDE_CODE_TMPDIR", file.to_string_lossy());
    for words in [
        &["code", "SAY HELLO", "--json"] as &[&str],
        &["plan", "--json"],
    ] {
        let failed = error(&env.codex(words));
        assert_eq!(failed["code"], "AGENT_FAILED", "{failed}");
        let message = failed["message"].as_str().unwrap();
        assert!(
            message.contains("exited with status 1 right after its start"),
            "{message}"
        );
        assert!(message.contains("a file"), "{message}");
        assert_eq!(failed["details"]["exitStatus"], 1, "{failed}");
        assert_eq!(traces(&env), before);
    }
    env.unset("CLAUDE_CODE_TMPDIR");
    env.coder("SAY HELLO");
}

/// Returns agents, worktrees, branches and sessions: what a launch makes.
fn traces(env: &ClaudeEnv) -> [String; 5] {
    let folder = env.root().join(".codex-worktrees");
    let mut worktrees: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flat_map(|entry| std::fs::read_dir(entry.unwrap().path()).unwrap())
        .map(|entry| entry.unwrap().file_name())
        .collect();
    worktrees.sort();
    [
        env.json(&["list", "--all"]).to_string(),
        env.git(&["worktree", "list", "--porcelain"]),
        env.git(&["branch", "--list"]),
        format!("{:?}", env.sessions()),
        format!("{worktrees:?}"),
    ]
}

#[test]
fn what_a_claude_says_that_is_not_logged_in_is_kept() {
    let Some(mut env) = ClaudeEnv::new(Vec::new()) else {
        return;
    };
    for name in ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"] {
        env.unset(name);
    }
    let coder = env.coder("SAY HELLO");
    env.until_shows(&coder, "Not logged in");
    env.text(&["stop", coder.as_str()]);
    let logs = env.text(&["logs", coder.as_str()]);
    assert!(logs.contains("Not logged in"), "{logs}");
}
