//! Ids given by a person: unique beginnings, several at once, and completion in a shell.

use std::path::Path;

use serde_json::json;
use shared::model::Priority;
use shared::store::NewTask;
use tests::{Terminal, TestEnv, error, until};

use crate::PROGRAM;
use crate::support::env_with_agent;

fn add_task(env: &TestEnv, title: &str) -> String {
    let repository = env.git(&["rev-parse", "--show-toplevel"]);
    let new = NewTask {
        repository: repository.trim().to_owned(),
        title: title.to_owned(),
        description: "Do it".to_owned(),
        priority: Priority::Low,
        estimated_hours: None,
        depends_on: Vec::new(),
        created_by: None,
    };
    let task = env.store().write_now(|w| w.insert_task(&new)).unwrap();
    task.id.to_string()
}

#[test]
fn a_unique_beginning_of_an_id_is_enough() {
    let env = env_with_agent();
    env.text(&["code", "Fix it"]);
    env.text(&["code", "Fix it"]);
    env.text(&["code", "Other"]);
    assert_eq!(env.json(&["show", "work-o"])["id"], "work-other-a1");
    until("the terminal says hello", || {
        env.text(&["logs", "work-o"]).contains("hello")
    });
    assert!(env.text(&["events", "work-o"]).contains("work-other-a1"));
    assert_eq!(
        env.json(&["show", "work-fix-it-a2"])["id"],
        "work-fix-it-a2"
    );

    let output = env.codex(&["stop", "work-fix", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let refused = error(&output);
    assert_eq!(refused["code"], "AMBIGUOUS_ID");
    assert_eq!(
        refused["details"]["matches"],
        json!(["work-fix-it-a1", "work-fix-it-a2"])
    );
    assert_eq!(env.sessions().len(), 3);

    let unknown = error(&env.codex(&["show", "work-othre-a1", "--json"]));
    assert_eq!(unknown["code"], "INSTANCE_NOT_FOUND");
    let hint = unknown["hint"].as_str().unwrap();
    assert!(hint.contains("Did you mean work-other-a1?"), "{hint}");

    let task = add_task(&env, "Planned");
    let digits = task.strip_prefix("task-").unwrap();
    let launched = env.json(&["code", "--task", &digits[..4]]);
    assert_eq!(launched["taskId"], json!(task));
}

#[test]
fn several_agents_are_stopped_resumed_and_cleaned_in_one_command() {
    let env = env_with_agent();
    let worktree = |id: &str| {
        let shown = env.json(&["show", id]);
        Path::new(shown["worktreePath"].as_str().unwrap()).to_owned()
    };
    for name in ["One", "Two", "Three"] {
        env.text(&["code", name]);
    }
    for name in ["one", "two", "three"] {
        let id = format!("work-{name}-a1");
        std::fs::write(worktree(&id).join("draft"), "precious").unwrap();
    }
    // An id that is wrong ends the command before anything is done.
    let output = env.codex(&["stop", "work-one", "work-nobody"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(env.sessions().len(), 3);

    let stopped = env.json(&["stop", "work-one", "work-two", "work-one-a1"]);
    let stopped: Vec<_> = stopped.as_array().unwrap().iter().collect();
    assert_eq!(stopped.len(), 2);
    assert_eq!(stopped[0]["status"], "terminated");
    assert!(stopped[1]["kept"].as_str().unwrap().contains("work-two"));

    // One of two fails: the other is done all the same, and the exit code says so.
    let output = env.codex(&["resume", "work-one", "work-three", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let results: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(results[0]["status"], "started");
    assert_eq!(results[1]["id"], "work-three-a1");
    assert_eq!(results[1]["error"]["code"], "ILLEGAL_STATE");

    env.text(&["stop", "work-three", "work-one"]);
    std::fs::remove_file(worktree("work-one-a1").join("draft")).unwrap();
    let refused = error(&env.codex(&["clean", "work-nobody", "--json"]));
    assert_eq!(refused["code"], "INSTANCE_NOT_FOUND");
    let cleaned = env.json(&["clean", "work-one", "work-two"]);
    assert_eq!(cleaned.as_array().unwrap().len(), 2);
    assert_eq!(cleaned[0]["kept"], false);
    assert_eq!(cleaned[1]["kept"], true);
    assert!(worktree("work-three-a1").exists());

    // `--all`: those that have left a worktree; what was stopped with nothing to lose stays stopped.
    let resumed = env.json(&["resume", "--all"]);
    let ids: Vec<_> = resumed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert_eq!(ids, ["work-two-a1", "work-three-a1"]);
    let refused = error(&env.codex(&["clean", "work-two", "--json"]));
    assert_eq!(refused["code"], "ILLEGAL_STATE");
    assert!(
        refused["hint"]
            .as_str()
            .unwrap()
            .contains("claude-codex stop work-two-a1")
    );
}

#[test]
fn bash_completes_commands_ids_and_tasks() {
    let mut env = env_with_agent();
    env.text(&["code", "Fix it"]);
    let task = add_task(&env, "Planned");
    let folder = Path::new(PROGRAM).parent().unwrap();
    let path = format!("{}:{}", folder.display(), env.variables()["PATH"]);
    env.set("PATH", path);
    let script = format!("{}\nPS1='ready> '\n", env.text(&["completions", "bash"]));
    std::fs::write(env.path("script"), script).unwrap();
    let start = format!(
        "exec bash --init-file '{}' -i",
        env.path("script").display()
    );
    let terminal = Terminal::open(&env, &[&start]);
    terminal.until_shows("ready>");
    terminal.press(&["claude-codex sho", "Tab"]);
    terminal.until_shows("claude-codex show");
    terminal.press(&["wor", "Tab"]);
    terminal.until_shows("claude-codex show work-fix-it-a1");
    terminal.press(&["C-u", "claude-codex code --task ", "Tab"]);
    terminal.until_shows(&format!("claude-codex code --task {task}"));
    // An agent whose work is published has ended, and still takes a message.
    let publish =
        "UPDATE instances SET status = 'pr_created', pr_number = 1, pr_url = 'codex://pull/a/1'";
    let database = rusqlite::Connection::open(env.database()).unwrap();
    database.execute(publish, []).unwrap();
    terminal.press(&["C-u", "claude-codex send wor", "Tab"]);
    terminal.until_shows("claude-codex send work-fix-it-a1");
    // Without a database nothing is offered, and none is made.
    terminal.press(&[
        "C-u",
        "CODEX_STATE_DIR=/nowhere claude-codex stop ",
        "Tab",
        "C-u",
        "echo do''ne",
        "Enter",
    ]);
    until("the shell answers", || terminal.screen().contains("\ndone"));
    assert!(!Path::new("/nowhere").exists());
}

#[test]
fn what_a_person_has_cleaned_up_after_is_not_resumed_with_all() {
    let env = env_with_agent();
    let failed = |prompt: &str| {
        let mut command = env.codex_command(&["code", prompt, "--json"]);
        let output = command
            .env("CODEX_AGENT_COMMAND", "sh -c 'sleep 1; exit 3'")
            .output()
            .unwrap();
        let launched: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let id = launched["id"].as_str().unwrap().to_owned();
        until("it has failed", || {
            env.json(&["show", &id])["status"] == "failed"
        });
        (id, launched["worktreePath"].as_str().unwrap().to_owned())
    };
    let ((done_with, worktree), (open, _)) = (failed("Done with"), failed("Still open"));
    let (kept, draft) = failed("Kept");
    std::fs::create_dir_all(&draft).unwrap();
    std::fs::write(Path::new(&draft).join("draft"), "precious").unwrap();
    env.text(&["clean", &done_with, &kept]);
    assert!(!Path::new(&worktree).exists());
    let resumed = env.json(&["resume", "--all"]);
    let ids: Vec<_> = resumed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert_eq!(ids, [&open]);
    // By its id it is.
    assert_eq!(env.json(&["resume", &done_with])["status"], "started");
}
