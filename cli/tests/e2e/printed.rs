//! Snapshots of printed text: tables, details and help, without colour, at the width of a pipe.
//!
//! `INSTA_UPDATE=always cargo test -p claude-codex printed` accepts changes; read them.

use std::path::Path;

use insta::{Settings, assert_snapshot};
use regex::Regex;
use rusqlite::Connection;
use serde_json::json;
use shared::model::{ModelUsage, NewPullRequest, Priority, TaskId, Tokens};
use shared::store::{NewTask, NewUsage};
use tests::TestEnv;

use crate::support::{env_with_agent, env_without_repository};

const AGENT: &str = "work-fix-the-login-page-a1";
const ENDED: &str = "work-42-a1";

/// A time so long ago that its age in days has the same number of digits for centuries.
const LONG_AGO: &str = "1990-01-01T12:34:56.789Z";

/// Text that differs between runs and machines, and what the snapshot has in its place.
///
/// Where text is aligned, both have the same width.
const FILTERS: [(&str, &str); 11] = [
    (r"\d{5} d\b", "12345 d"),
    (r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d", "2026-07-28 12:34:56"),
    (r"since 20\d\d-\d\d-\d\d", "since 2026-07-28"),
    (r"\d+ ms\b", "5 ms"),
    (r"\b[0-9a-f]{40}\b", "[COMMIT]"),
    (r"git \d+\.\S+", "git [VERSION]"),
    (r"tmux(?: \d\S*|, a development build)", "tmux [VERSION]"),
    (r"claude-codex \d+\.\d+\.\d+", "claude-codex [VERSION]"),
    (r"codex-test-\w{6}", "codex-test-123456"),
    (r"(?m)^(ok +mcp-\w+ +).*/(mcp-\w+)$", "$1[BIN]/$2"),
    // A machine with little space gets a warning instead.
    (
        r"(?m)^(?:ok|warning|error) +(state|worktrees) .*\n(?: +fix: Free.*\n)?",
        "$1: [SPACE]\n",
    ),
];

fn normal(env: &TestEnv, text: &str) -> String {
    let mut text = text.replace(env.root().to_str().unwrap(), "[ROOT]");
    for (pattern, replacement) in FILTERS {
        let pattern = Regex::new(pattern).unwrap();
        text = pattern.replace_all(&text, replacement).into_owned();
    }
    text
}

/// Compares a text with the snapshot of this name.
fn compare(name: &str, text: &str) {
    let mut settings = Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| assert_snapshot!(name, text));
}

fn compare_printed(env: &TestEnv, name: &str, words: &[&str]) {
    compare(name, &normal(env, &env.text(words)));
}

/// A running agent, an ended one and a pull request, all of them from long ago.
fn env_with_past() -> TestEnv {
    let env = env_with_agent();
    env.text(&["code", "Fix the login page"]);
    env.text(&["code", "--issue", "42", "Add a logout button"]);
    env.text(&["stop", ENDED]);
    let worktree = env.json(&["show", AGENT])["worktreePath"].clone();
    let worktree = worktree.as_str().unwrap();
    env.git_in(
        Path::new(worktree),
        &["commit", "-q", "--allow-empty", "-m", "Fix it"],
    );
    let repository = env.repository().to_str().unwrap();
    let branch = format!("codex/{AGENT}");
    let commit = env.git(&["rev-parse", &branch]);
    let new = NewPullRequest {
        title: "Accept correct passwords".to_owned(),
        body: "The comparison was the wrong way round.\n\nTests cover both ways.".to_owned(),
        head_branch: branch,
        base_branch: "main".to_owned(),
        draft: false,
    };
    let opened = env.store().write_now(|w| {
        w.insert_pull_request(repository, &new, &commit, &AGENT.parse().unwrap(), 0)
    });
    opened.unwrap();
    let database = Connection::open(env.database()).unwrap();
    for change in [
        "UPDATE instances SET created_at = ?1, last_activity = ?1",
        "UPDATE instances SET completed_at = ?1 WHERE completed_at IS NOT NULL",
        "UPDATE instances SET created_at = '1990-01-01T11:00:00.000Z' WHERE status = 'terminated'",
        "UPDATE pull_requests SET created_at = ?1, updated_at = ?1",
    ] {
        let change = change.replace("?1", &format!("'{LONG_AGO}'"));
        database.execute(&change, []).unwrap();
    }
    env
}

#[test]
fn agents_and_pull_requests() {
    let env = env_with_past();
    for (name, words) in [
        ("list", &["list"] as &[&str]),
        ("list-all", &["list", "--all"]),
        ("show", &["show", AGENT]),
        ("show-ended", &["show", ENDED]),
        ("pr-list", &["pr", "list"]),
        ("pr-show", &["pr", "show", "1"]),
        ("events", &["events"]),
        ("doctor", &["doctor"]),
    ] {
        compare_printed(&env, name, words);
    }
}

/// A transcript of an agent, and what was used in it.
fn used(agent: &str, model: &str) -> NewUsage {
    NewUsage {
        path: format!("/transcripts/{agent}.jsonl"),
        instance: agent.parse().unwrap(),
        before: None,
        cursor: "{}".to_owned(),
        anew: false,
        added: vec![ModelUsage {
            model: model.to_owned(),
            long_prompt: false,
            tokens: Tokens {
                input: 1_000_000,
                output: 100_000,
                ..Tokens::default()
            },
        }],
        context: None,
    }
}

/// What is not known is no cost of zero: of an agent without a price there are the tokens, of one that used nothing nothing.
#[test]
fn what_agents_cost() {
    let env = env_with_past();
    env.text(&["code", "Add a page"]);
    let added = env.store().write_now(|w| {
        w.add_usage(&used(AGENT, "claude-opus-5"))?;
        w.add_usage(&used(ENDED, "some-other-model"))
    });
    assert!(added.unwrap());
    let newest = "UPDATE instances SET created_at = '1990-01-01T13:00:00.000Z' WHERE id = 'work-add-a-page-a1'";
    let database = Connection::open(env.database()).unwrap();
    database.execute(newest, []).unwrap();
    compare_printed(&env, "list-all-costs", &["list", "--all"]);
    compare_printed(&env, "show-cost", &["show", AGENT]);
    let document = env.json(&["list", "--all"]);
    let costs = document.as_array().unwrap().iter();
    let costs: Vec<_> = costs.map(|row| row["usage"]["costUsd"].clone()).collect();
    assert_eq!(costs, [json!(null), json!(7.5), json!(null)]);
}

#[test]
fn nothing_yet() {
    let env = env_with_agent();
    let words: [&[&str]; 6] = [
        &["list"],
        &["list", "--all"],
        &["tasks"],
        &["pr", "list"],
        &["events"],
        &["clean"],
    ];
    let printed =
        words.map(|words| format!("$ claude-codex {}\n{}", words.join(" "), env.text(words)));
    compare("nothing-yet", &normal(&env, &printed.join("\n")));
}

#[test]
fn planned_tasks() {
    let env = env_with_agent();
    let repository = env.repository();
    let task = |title: &str, priority, hours, depends_on: Vec<TaskId>| NewTask {
        repository: repository.to_str().unwrap().to_owned(),
        title: title.to_owned(),
        description: "Do it".to_owned(),
        priority,
        estimated_hours: hours,
        depends_on,
        created_by: None,
    };
    let insert = |new: NewTask| env.store().write_now(|w| w.insert_task(&new)).unwrap().id;
    let first = insert(task(
        "Split the monolith",
        Priority::High,
        Some(1.5),
        vec![],
    ));
    let second = insert(task(
        "Move the login page",
        Priority::Medium,
        Some(8.0),
        vec![first.clone()],
    ));
    let third = insert(task("Write it down", Priority::Low, None, vec![]));
    let mut printed = normal(&env, &env.text(&["tasks"]));
    for (index, id) in [first, second, third].iter().enumerate() {
        printed = printed.replace(id.as_str(), &format!("task-0000000{}", index + 1));
    }
    compare("tasks", &printed);
}

#[test]
fn settings() {
    compare_printed(&env_with_agent(), "config", &["config"]);
}

#[test]
fn help() {
    let env = env_without_repository();
    let help = env.text(&["--help"]);
    compare("help", &normal(&env, &help));
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| line.starts_with("  "));
    let commands: Vec<_> = commands
        .filter_map(|line| line.strip_prefix("  ")?.split_once(' '))
        .map(|(name, _)| name)
        .filter(|name| !name.is_empty() && *name != "help")
        .collect();
    assert!(commands.len() > 20, "{commands:?}");
    for command in commands {
        let printed = env.text(&[command, "--help"]);
        compare(&format!("help-{command}"), &normal(&env, &printed));
    }
}
