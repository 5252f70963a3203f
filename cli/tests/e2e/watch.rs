//! `list --watch` in a terminal of 80 columns and 24 lines: many agents, long texts, another size, and its keys.

use std::path::Path;

use shared::model::{InstanceKind, Origin, StatusEvent};
use shared::store::NewInstance;

use tests::{Terminal, TestEnv, error, sample_instance, until, until_or};

use crate::PROGRAM;
use crate::support::env_with_agent;

const AGENTS: usize = 30;

/// Adds agents that have ended, with more to say than a line has room for.
fn add_ended(env: &TestEnv) {
    let repository = env.repository().to_str().unwrap().to_owned();
    for number in 1..=AGENTS {
        let id = format!("plan-the-work-{number:02}-a1");
        let new = NewInstance {
            kind: InstanceKind::Planning,
            origin: Origin::Launched,
            repository: repository.clone(),
            worktree_path: format!("/nowhere/{id}").into(),
            branch_name: Some(format!("codex/{id}-{}", "long".repeat(20))),
            prompt: "日本語 and more than fits into a line. ".repeat(20),
            ..sample_instance(&id)
        };
        let added = env.store().write_now(|w| {
            w.insert_instance(&new, None)?;
            w.transition(&new.id, StatusEvent::Connected)?;
            w.transition(&new.id, StatusEvent::PlanDone)?;
            w.set_put_away(&new.id)
        });
        added.unwrap();
    }
}

fn watch<'e>(env: &'e TestEnv, more: &str) -> Terminal<'e> {
    let command =
        format!("echo before; '{PROGRAM}' list --watch {more}; echo after; exec sleep 600");
    Terminal::sized(env, 80, 24, &[&command])
}

fn resize(env: &TestEnv, terminal: &Terminal<'_>, columns: &str, lines: &str) {
    let size = ["resize-window", "-x", columns, "-y", lines];
    let resized = env.tmux_on(terminal.socket(), &size);
    assert!(resized.status.success(), "{resized:?}");
}

/// Checks that the title is the first line, the footer the last, and the selected agent between them.
fn assert_whole(terminal: &Terminal<'_>, lines: usize, selected: &str) {
    let whole = || {
        let shown = terminal.screen();
        let rows: Vec<&str> = shown.lines().collect();
        rows.len() == lines
            && rows[0].starts_with("  ID")
            && rows[lines - 1].starts_with("↑↓ select")
            && rows[lines - 1].ends_with("? help  q quit")
            && rows[lines - 2].starts_with("agent ")
            && rows[1..lines - 2]
                .iter()
                .all(|row| row.contains("plan-the-work-"))
            && shown.matches("▸").count() == 1
            && shown.contains(&format!("▸ {selected}"))
    };
    until_or(
        &format!("{selected} is selected on {lines} lines"),
        whole,
        || terminal.screen(),
    );
}

#[test]
fn many_agents_fit_into_24_lines_and_into_another_size() {
    let env = env_with_agent();
    add_ended(&env);
    let terminal = watch(&env, "--all");
    assert_whole(&terminal, 24, "plan-the-work-01-a1");
    terminal.press(&["End"]);
    assert_whole(&terminal, 24, "plan-the-work-30-a1");
    for _ in 0..25 {
        terminal.press(&["k"]);
    }
    assert_whole(&terminal, 24, "plan-the-work-05-a1");
    for (columns, lines) in [(60, 12), (60, 6), (130, 30), (80, 24)] {
        resize(&env, &terminal, &columns.to_string(), &lines.to_string());
        assert_whole(&terminal, lines, "plan-the-work-05-a1");
    }
    terminal.press(&["?"]);
    terminal.until_shows("merge its pull request");
    terminal.press(&["Escape"]);
    assert_whole(&terminal, 24, "plan-the-work-05-a1");
    terminal.press(&["M"]);
    terminal.until_shows("plan-the-work-05-a1 has no pull request");
    terminal.press(&["w"]);
    terminal.until_shows("Nobody waits for you");
    terminal.press(&["q"]);
    // What was there before is there again.
    terminal.until_shows("after");
    let shown = terminal.screen();
    assert!(
        shown.contains("before") && !shown.contains("plan-the-work"),
        "{shown}"
    );
}

#[test]
fn a_watched_agent_is_peeked_at_answered_and_read() {
    let mut env = env_with_agent();
    // It repeats what is typed into it.
    env.set("CODEX_AGENT_COMMAND", "sh -c 'seq 100; exec cat'");
    env.text(&["code", "First"]);
    let terminal = watch(&env, "");
    terminal.until_shows("▸ work-first-a1");
    terminal.press(&["p"]);
    terminal.until_shows("Terminal of work-first-a1");
    terminal.until_shows("To work-first-a1 (Enter sends, Esc cancels):");
    assert!(
        terminal.screen().contains("\n100\n"),
        "{}",
        terminal.screen()
    );
    terminal.press(&["Not this", "C-u", "Take é care q", "Enter"]);
    until("it has the message", || {
        let messages = env.json(&["show", "work-first-a1"])["messages"].clone();
        messages.to_string().contains("Take é care q")
    });
    terminal.until_shows("▸ work-first-a1");
    terminal.press(&["m", "Never sent", "Escape"]);
    until("nothing is written any more", || {
        terminal.screen().contains("agent 1 of 1")
    });
    let worktree = env.json(&["show", "work-first-a1"])["worktreePath"].clone();
    let worktree = Path::new(worktree.as_str().unwrap());
    std::fs::write(
        worktree.join("new.txt"),
        format!("\u{1b}[2J{}\n", "wide ".repeat(60)),
    )
    .unwrap();
    env.git_in(worktree, &["add", "new.txt"]);
    terminal.press(&["d"]);
    terminal.until_shows("Changes of work-first-a1");
    terminal.until_shows("+<U+001B>[2Jwide wide");
    terminal.press(&["q"]);
    terminal.until_shows("▸ work-first-a1");
    terminal.press(&["l"]);
    terminal.until_shows("100");
    terminal.press(&["q"]);
    terminal.until_shows("▸ work-first-a1");
    terminal.press(&["s", "y"]);
    until("it is stopped", || {
        env.json(&["show", "work-first-a1"])["status"] == "terminated"
    });
    terminal.until_shows("unsaved work k");
    let messages = env.json(&["show", "work-first-a1"])["messages"].to_string();
    assert!(
        !messages.contains("Never sent") && !messages.contains("Not this"),
        "{messages}"
    );
}

/// Returns what a terminal shows as one line.
fn in_one_line(terminal: &Terminal<'_>) -> String {
    let shown = terminal.screen();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn until_says(terminal: &Terminal<'_>, sentence: &str) {
    let says = || in_one_line(terminal).contains(sentence);
    until_or(sentence, says, || terminal.screen());
}

/// Launches a coder, commits a file in its worktree, and publishes it.
fn publish(env: &TestEnv, name: &str, text: &str) {
    let launched = env.json(&["code", name]);
    let id = launched["id"].as_str().unwrap();
    let worktree = Path::new(launched["worktreePath"].as_str().unwrap());
    std::fs::write(worktree.join("file.txt"), text).unwrap();
    env.git_in(worktree, &["add", "file.txt"]);
    env.git_in(worktree, &["commit", "-q", "-m", name]);
    let connected = env
        .store()
        .write_now(|w| w.transition(&id.parse().unwrap(), StatusEvent::Connected));
    connected.unwrap();
    env.json(&["pr", "create", id, "--title", name]);
}

#[test]
fn published_work_is_merged_and_a_refusal_is_said_whole() {
    let env = env_with_agent();
    publish(&env, "One", "one\n");
    publish(&env, "Two", "two\n");
    let terminal = watch(&env, "--all");
    terminal.until_shows("▸ work-one-a1");
    terminal.press(&["M"]);
    until_says(
        &terminal,
        "Merge pull request #1 of work-one-a1? Press y, or any other key to cancel",
    );
    terminal.press(&["n"]);
    terminal.until_shows("? help  q quit");
    assert_eq!(env.json(&["pr", "show", "1"])["state"], "open");
    terminal.press(&["M", "y"]);
    terminal.until_shows("#1 is merged into main");
    assert_eq!(env.json(&["pr", "show", "1"])["state"], "merged");

    let refused = error(&env.codex(&["pr", "merge", "2", "--json"]));
    assert_eq!(refused["code"], "MERGE_CONFLICT", "{refused}");
    terminal.press(&["j", "M", "y"]);
    for part in ["message", "hint"] {
        until_says(&terminal, refused[part].as_str().unwrap());
    }
    let shown = terminal.screen();
    let rows: Vec<&str> = shown.lines().collect();
    assert_eq!(rows.len(), 24, "{shown}");
    assert!(rows[23].ends_with("? help  q quit"), "{shown}");
    assert!(shown.contains("▸ work-two-a1"), "{shown}");
}

#[test]
fn who_waits_is_found_resumed_and_written_to() {
    let mut env = env_with_agent();
    let living = env.variables()["CODEX_AGENT_COMMAND"].clone();
    env.text(&["code", "First"]);
    env.set("CODEX_AGENT_COMMAND", dies_when_told(&env));
    env.text(&["code", "Second"]);
    env.set("CODEX_AGENT_COMMAND", living);
    let terminal = watch(&env, "");
    terminal.until_shows("▸ work-first-a1");
    std::fs::write(env.path("die"), "").unwrap();
    terminal.until_shows("work-second-a1 waits for you");
    terminal.press(&["w"]);
    terminal.until_shows("▸ work-second-a1");
    terminal.until_shows("1 waits for you");
    terminal.press(&["r"]);
    until_says(&terminal, "work-second-a1 has started");
    assert_eq!(env.json(&["show", "work-second-a1"])["status"], "started");
    terminal.press(&["k", "w"]);
    terminal.until_shows("Nobody waits for you");

    terminal.press(&["j", "m", "Take care", "Enter"]);
    // Nothing was asked of the other.
    let messages = |id: &str| env.json(&["show", id])["messages"].clone();
    until("it has the message", || {
        messages("work-second-a1").to_string().contains("Take care")
    });
    terminal.until_shows("Stored; it waits for the agent to be ready");
    assert_eq!(messages("work-first-a1"), serde_json::json!([]));
    // What is running is not resumed, and the way on is readable.
    let refused = error(&env.codex(&["resume", "work-second-a1", "--json"]));
    terminal.press(&["r"]);
    for part in ["message", "hint"] {
        until_says(&terminal, refused[part].as_str().unwrap());
    }
}

/// An agent that dies as soon as the file `die` is there.
fn dies_when_told(env: &TestEnv) -> String {
    format!("sh -c '{}'", waits_to_die(env))
}

fn waits_to_die(env: &TestEnv) -> String {
    let file = env.path("die");
    format!(
        "while ! test -e {}; do sleep 0.05; done; exit 3",
        file.display()
    )
}

/// What an ended agent left is shown where a living one's terminal is, and nothing leaves the board.
#[test]
fn an_ended_agent_shows_its_last_screen_and_says_what_resumes_it() {
    let mut env = env_with_agent();
    env.set(
        "CODEX_AGENT_COMMAND",
        format!("sh -c 'echo FATAL: no API key; {}'", waits_to_die(&env)),
    );
    env.text(&["code", "First"]);
    std::fs::write(env.path("die"), "").unwrap();
    until("it has failed", || {
        env.json(&["show", "work-first-a1"])["status"] == "failed"
    });
    let terminal = watch(&env, "");
    terminal.until_shows("▸ work-first-a1");
    for key in ["l", "p"] {
        terminal.press(&[key]);
        terminal.until_shows("Last screen (the agent exited with status 3)");
        terminal.until_shows("\nFATAL: no API key");
        terminal.press(&["q"]);
        terminal.until_shows("▸ work-first-a1");
    }
    terminal.press(&["Enter"]);
    until_says(
        &terminal,
        "work-first-a1 has ended: r resumes it, l shows what it left",
    );
    terminal.press(&["q"]);
    terminal.until_shows("after");
    let shown = terminal.screen();
    assert!(!shown.contains("find session"), "{shown}");
}

#[test]
fn work_that_git_does_not_know_is_shown_and_said_how_to_save_or_discard() {
    let env = env_with_agent();
    let launched = env.json(&["code", "First"]);
    let worktree = Path::new(launched["worktreePath"].as_str().unwrap());
    std::fs::write(worktree.join("new.txt"), "a draft\n").unwrap();
    env.text(&["stop", "work-first-a1"]);
    let todo = env.json(&["show", "work-first-a1"])["attention"]["sentence"].clone();
    let todo = todo.as_str().unwrap();
    for part in [
        format!("commit it in {}", worktree.display()),
        "`claude-codex clean --discard work-first-a1`".to_owned(),
    ] {
        assert!(todo.contains(&part), "{todo}");
    }
    let terminal = watch(&env, "");
    terminal.until_shows("▸ work-first-a1");
    terminal.press(&["d"]);
    terminal.until_shows("Changes of work-first-a1");
    terminal.until_shows("+a draft");
    assert!(terminal.screen().contains("+++ b/new.txt"));
    terminal.press(&["q"]);
    // What is named works.
    env.text(&["clean", "--discard", "work-first-a1", "--yes"]);
    assert!(!worktree.exists());
}
