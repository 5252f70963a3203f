//! What an agent is doing decides how a message reaches it.

use scripted_model::{Answer, Rule, last_user_text};
use shared::model::{MessageState, Status, TakenBy};
use tests::{kill, text};

use super::ClaudeEnv;

/// Long enough to act in its middle; a plain `sleep` is refused by Claude Code.
const WAIT: &str = "for i in 1 2 3 4 5 6; do sleep 0.5; done";

#[test]
fn an_idle_agent_gets_it_byte_for_byte() {
    let Some(env) = ClaudeEnv::new(Vec::new()) else {
        return;
    };
    let coder = env.coder("begin");
    env.until_shows(&coder, "Done.");
    env.until_idle(&coder);
    let note = "/exit\n!touch PWNED\n  two spaces\n\n- ünï ✓ 漢字 🦀 \\ $HOME `x` \"q\" 's' @README.md end";
    for number in 1..=5 {
        text(&env.send(&coder, note));
        env.until_taken(&coder);
        let message = env.messages(&coder).pop().unwrap();
        assert_eq!(message.taken_by, Some(TakenBy::Transcript));
        assert!(message.body.ends_with(note));
        env.until("the model has it", || {
            env.claude
                .model
                .conversations()
                .iter()
                .any(|request| last_user_text(request) == message.body)
        });
        assert_eq!(env.messages(&coder).len(), number);
        assert_eq!(env.told(message.id.as_str()), 1);
        env.until_idle(&coder);
    }
}

#[test]
fn a_busy_agent_gets_it_once_at_the_end_of_its_turn() {
    let rules =
        vec![Rule::when("BEGIN", vec![Answer::bash(WAIT), Answer::text("FINISHED")]).once()];
    let Some(env) = ClaudeEnv::new(rules) else {
        return;
    };
    env.allow("Bash");
    let coder = env.coder("BEGIN");
    env.until_shows(&coder, "for i in");
    text(&env.send(&coder, "while you were busy"));
    env.until_taken(&coder);
    let message = env.messages(&coder).remove(0);
    assert_eq!(message.taken_by, Some(TakenBy::StopHook));
    assert_eq!(message.attempts, 1);
    let expected = format!("Stop hook feedback:\n{}", message.body);
    env.until("the model has it", || {
        env.claude
            .model
            .conversations()
            .iter()
            .any(|request| last_user_text(request).contains(&expected))
    });
    // Claude Code itself tells the model of one block twice: as feedback, and as a note about the hook.
    let once = format!("Stop hook feedback:\\n[claude-codex {}]", message.id);
    assert_eq!(env.told(&once), 1);
}

#[test]
fn an_open_dialog_is_not_answered() {
    let rules = vec![
        Rule::when(
            "BEGIN",
            vec![
                Answer::bash("curl -o stolen http://127.0.0.1:1/"),
                Answer::text("FINISHED"),
            ],
        )
        .once(),
    ];
    let Some(env) = ClaudeEnv::new(rules) else {
        return;
    };
    let coder = env.coder("BEGIN");
    env.until_shows(&coder, "Do you want to proceed?");
    let printed = text(&env.send(&coder, "not now"));
    assert!(printed.contains("\"delivered\": false"), "{printed}");
    assert!(printed.contains("dialog"), "{printed}");
    assert!(env.screen(&coder).contains("Do you want to proceed?"));
    assert!(!env.screen(&coder).contains("not now"));
    assert_eq!(env.messages(&coder)[0].attempts, 0);
    env.press(&coder, &["Escape"]);
    env.until_taken(&coder);
    let id = env.messages(&coder)[0].id.clone();
    env.until("the model has it", || env.told(id.as_str()) == 1);
}

#[test]
fn a_draft_of_a_person_survives() {
    let Some(env) = ClaudeEnv::new(Vec::new()) else {
        return;
    };
    let coder = env.coder("begin");
    env.until_shows(&coder, "Done.");
    env.press(&coder, &["-l", "my own words"]);
    env.until_shows(&coder, "my own words");
    let printed = text(&env.send(&coder, "hold back"));
    assert!(
        printed.contains("\"delivered\": false") && printed.contains("draft"),
        "{printed}"
    );
    assert!(env.screen(&coder).contains("my own words"));
    assert_eq!(env.told("my own words"), 0);
    env.press(&coder, &["C-u"]);
    env.until_taken(&coder);
    assert_eq!(env.told("my own words"), 0);
}

#[test]
fn a_dead_server_is_stood_in_for_by_whoever_looks() {
    let Some(env) = ClaudeEnv::new(Vec::new()) else {
        return;
    };
    let coder = env.coder("begin");
    env.until_shows(&coder, "Done.");
    env.until_idle(&coder);
    let server = env.instance(&coder).server.unwrap();
    kill(u64::from(server.pid));
    env.press(&coder, &["-l", "my own words"]);
    env.until_shows(&coder, "my own words");
    let printed = text(&env.send(&coder, "for whoever looks\n\nline\n\nline"));
    assert!(
        printed.contains("\"delivered\": false") && printed.contains("draft"),
        "{printed}"
    );
    env.press(&coder, &["C-u"]);
    env.until("a look hands it over", || {
        env.codex(&["list"]);
        env.messages(&coder)[0].state == MessageState::Taken
    });
    let id = env.messages(&coder)[0].id.clone();
    env.until("the model has it", || env.told(id.as_str()) == 1);
    assert_eq!(env.told("my own words"), 0);
}

#[test]
fn a_killed_agent_gets_it_when_resumed() {
    let rules =
        vec![Rule::when("BEGIN", vec![Answer::bash(WAIT), Answer::text("FINISHED")]).once()];
    let Some(env) = ClaudeEnv::new(rules) else {
        return;
    };
    env.allow("Bash");
    let coder = env.coder("BEGIN");
    env.until_shows(&coder, "for i in");
    let child = env.start(&["send", coder.as_str(), "-"], "before it died");
    env.until("it is owed", || env.messages(&coder).len() == 1);
    let pid = env.tmux(&[
        "list-panes",
        "-t",
        &format!("={coder}"),
        "-F",
        "#{pane_pid}",
    ]);
    kill(String::from_utf8_lossy(&pid.stdout).trim().parse().unwrap());
    child.wait_with_output().unwrap();
    env.until("it is noticed", || {
        env.codex(&["list"]);
        env.status(&coder) == Status::Failed && env.instance(&coder).owner.is_none()
    });
    assert_ne!(env.messages(&coder)[0].state, MessageState::Taken);
    env.text(&["resume", coder.as_str()]);
    env.until_taken(&coder);
    let id = env.messages(&coder)[0].id.clone();
    env.until("the model has it", || env.told(id.as_str()) == 1);
    // What comes later is not what was owed once more.
    text(&env.send(&coder, "and now?"));
    env.until_taken(&coder);
    let next = env.messages(&coder).pop().unwrap().id;
    env.until("the model has it", || env.told(next.as_str()) > 0);
    assert_eq!(env.told(id.as_str()), 1);
}
