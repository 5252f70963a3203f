//! A planner looks at the repository and writes tasks.

use scripted_model::{Answer, Rule};
use serde_json::{Value, json};

use super::Lab;
use crate::support::text;

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
    let Some(lab) = Lab::new(rules) else { return };
    let printed: Value = serde_json::from_str(&text(&lab.place.codex(&[
        "plan",
        "PLAN THE WORK",
        "--json",
    ])))
    .unwrap();
    let planner = printed["id"].as_str().unwrap().parse().unwrap();
    lab.shows(&planner, "PLANNED");
    let tasks: Value = serde_json::from_str(&text(&lab.place.codex(&["tasks", "--json"]))).unwrap();
    assert_eq!(tasks.as_array().unwrap().len(), 1, "{tasks}");
    assert_eq!(tasks[0]["title"], "Mend the greeting");
    assert_eq!(tasks[0]["priority"], "high");
    // The model was given what the analysis found, not only that there was one.
    lab.place.until("the model has the analysis", || {
        lab.told("README.md") > 0 && lab.told("Markdown") > 0
    });
    text(&lab.place.codex(&["stop", planner.as_str()]));
    lab.place.is_gone(&planner);
}
