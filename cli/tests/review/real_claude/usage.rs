//! What real agents use: counted from their transcripts, shown everywhere, and kept when the transcripts are gone.

use scripted_model::{Answer, Block, Rule};
use serde_json::{Value, json};
use shared::model::{InstanceId, Status};
use tests::dashboard::Dashboard;

use super::ClaudeEnv;

/// Every answer of the scripted model takes 100 tokens in and 10 out.
fn rules() -> Vec<Rule> {
    let work = Answer {
        // One answer of two blocks, which the transcript has as two records with the same usage.
        blocks: vec![
            Block::Text("I begin.".to_owned()),
            Block::Tool {
                name: "Bash".to_owned(),
                input: json!({ "command": "echo hello > work.txt && git add . && git commit -q -m work", "description": "d" }),
            },
        ],
        ..Answer::default()
    };
    let review = Answer::tool(
        "mcp__codex-coding__request_review",
        json!({ "description": "look" }),
    );
    let approve = Answer::tool(
        "mcp__codex-review__create_pr",
        json!({ "title": "Work", "description": "Checked." }),
    );
    vec![
        Rule::when(
            "The review asked of you",
            vec![approve, Answer::text("APPROVED")],
        )
        .once(),
        Rule::when("BEGIN", vec![work, review, Answer::text("ASKED")]).once(),
    ]
}

fn tokens(usage: &Value) -> (u64, u64) {
    let count = |kind: &str| usage["tokens"][kind].as_u64().unwrap_or_default();
    (count("input"), count("output"))
}

#[test]
fn what_agents_use_is_counted_once_and_outlives_their_transcripts() {
    let Some(env) = ClaudeEnv::new(rules()) else {
        return;
    };
    let folder = env.path("home/.config/claude-codex");
    std::fs::create_dir_all(&folder).unwrap();
    let settings = "[agent]\nallow = [\"Bash\"]\nprices = [\"claude 10000 20000\"]\n";
    std::fs::write(folder.join("config.toml"), settings).unwrap();
    let coder = env.coder("BEGIN");
    env.until("it is published", || {
        env.status(&coder) == Status::PrCreated
    });
    let used = |id: &InstanceId| env.json(&["show", id.as_str()])["usage"].clone();
    env.until("all that the coder has used is counted", || {
        tokens(&used(&coder)) == (300, 30)
    });
    let usage = used(&coder);
    assert_eq!(usage["costUsd"], 3.6, "{usage}");
    assert_eq!(usage["context"]["tokens"], 110, "{usage}");
    let reviewer = env.reviews(&coder)[0].review_instance_id.clone().unwrap();
    env.until_gone(&reviewer);
    let of_reviewer = tokens(&used(&reviewer));
    assert!(of_reviewer.0 >= 100, "{of_reviewer:?}");

    // A pull request costs what its coder and its reviewers have used.
    let pull = &env.json(&["pr", "show", "1"])["usage"];
    let both = (300 + of_reviewer.0, 30 + of_reviewer.1);
    assert_eq!(tokens(pull), both);
    let shown = env.text(&["show", coder.as_str()]);
    assert!(shown.contains("tokens     300 in, 30 out"), "{shown}");
    assert!(shown.contains("cost       $3.60 (estimate)"), "{shown}");
    let listed = env.text(&["list", "--all"]);
    assert!(
        listed.contains("COST") && listed.contains("$3.60"),
        "{listed}"
    );

    let dashboard = Dashboard::start(&env, &[]);
    let page = dashboard.get(&format!("/agents/{coder}")).body;
    assert!(page.contains("$3.60"), "{page}");
    let metrics = dashboard.get("/metrics").body;
    let cost: f64 = metrics
        .lines()
        .filter(|line| line.starts_with("codex_cost_usd_total{"))
        .map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap())
        .sum();
    let pulled = pull["costUsd"].as_f64().unwrap();
    assert!((cost - pulled).abs() < 1e-9, "{metrics}");
    assert!(metrics.contains("kind=\"output\"} "), "{metrics}");

    // Asked again, nothing counts twice; and the figures outlive the transcripts.
    std::fs::remove_dir_all(env.path("home/.claude/projects")).unwrap();
    assert_eq!(tokens(&used(&coder)), (300, 30));
    assert_eq!(tokens(&env.json(&["pr", "show", "1"])["usage"]), both);
}
