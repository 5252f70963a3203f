//! A planner looks at the repository and writes tasks.

use scripted_model::{Answer, Rule};
use serde_json::{Value, json};

use super::ClaudeEnv;

#[test]
fn a_planner_analyses_the_repository_and_creates_a_task() {
    let rules = vec![
        Rule::when(
            "PLAN THE WORK",
            vec![
                Answer::tool(
                    "mcp__codex-planning__analyze_repository",
                    json!({ "scope": "codebase", "depth": "medium" }),
                ),
                Answer::tool(
                    "mcp__codex-planning__create_task",
                    json!({ "taskTitle": "Mend the greeting", "taskDescription": "In README.md.",
                        "priority": "high", "estimatedHours": 1.5 }),
                ),
                Answer::text("PLANNED"),
            ],
        )
        .once(),
    ];
    let Some(env) = ClaudeEnv::new(rules) else {
        return;
    };
    let printed: Value =
        serde_json::from_str(&env.text(&["plan", "PLAN THE WORK", "--json"])).unwrap();
    let planner = printed["id"].as_str().unwrap().parse().unwrap();
    env.until_shows(&planner, "PLANNED");
    let tasks: Value = serde_json::from_str(&env.text(&["tasks", "--json"])).unwrap();
    assert_eq!(tasks.as_array().unwrap().len(), 1, "{tasks}");
    assert_eq!(tasks[0]["title"], "Mend the greeting");
    assert_eq!(tasks[0]["priority"], "high");
    // The model was given what the analysis found, not only that there was one.
    env.until("the model has the analysis", || {
        env.told("README.md") > 0 && env.told("Markdown") > 0
    });
    env.text(&["stop", planner.as_str()]);
    env.until_gone(&planner);
}

/// Claude Code itself decides about git commands that only look, by their arguments too.
#[test]
fn a_planner_looks_with_git_and_neither_writes_nor_runs_anything_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let made = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let command = |command: String| {
        Answer::tool("Bash", json!({ "command": command, "description": "look" }))
    };
    // What would be asked is refused at once, so that the script goes on.
    let rules = vec![
        Rule::when(
            "LOOK AROUND",
            vec![
                command("git log --format=subject:%s -1".to_owned()),
                command("git grep -n \"\" README.md".to_owned()),
                command(format!(
                    "git grep --open-files-in-pager=\"touch {}\" \"\"",
                    made("ran")
                )),
                command(format!("git diff --output={} HEAD", made("by-diff"))),
                command(format!("git log --output={} -1", made("by-log"))),
                command(format!("git show --output={} HEAD", made("by-show"))),
                Answer::text("LOOKED"),
            ],
        )
        .once(),
    ];
    let Some(mut env) = ClaudeEnv::new(rules) else {
        return;
    };
    env.set("CODEX_AGENT_PLANNING_PERMISSIONS", "dontAsk");
    let printed: Value =
        serde_json::from_str(&env.text(&["plan", "LOOK AROUND", "--json"])).unwrap();
    let planner = printed["id"].as_str().unwrap().parse().unwrap();
    env.until_shows(&planner, "LOOKED");
    assert!(env.told("subject:") > 1, "git log was refused");
    assert!(env.told("README.md:1:") > 0, "git grep was refused");
    let found: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert!(found.is_empty(), "{found:?}");
    env.text(&["stop", planner.as_str()]);
    env.until_gone(&planner);
}
