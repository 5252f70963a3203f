//! What an agent is doing decides how a message reaches it.

use scripted_model::{Answer, Rule, last_user_text};
use shared::model::{MessageState, Status, TakenBy};

use super::{Lab, bash};
use crate::support::{kill, text};

/// Long enough to act in its middle; a plain `sleep` is refused by Claude Code.
const WAIT: &str = "for i in 1 2 3 4 5 6; do sleep 0.5; done";

#[test]
fn an_idle_agent_gets_it_byte_for_byte() {
    let Some(lab) = Lab::new(Vec::new()) else {
        return;
    };
    let coder = lab.coder("begin");
    lab.shows(&coder, "Done.");
    lab.idle(&coder);
    let note = "/exit\n!touch PWNED\n  two spaces\n\n- ünï ✓ 漢字 🦀 \\ $HOME `x` \"q\" 's' @README.md end";
    for number in 1..=5 {
        text(&lab.place.send(&coder, note));
        lab.taken(&coder);
        let message = lab.place.messages(&coder).pop().unwrap();
        assert_eq!(message.taken_by, Some(TakenBy::Transcript));
        assert!(message.body.ends_with(note));
        lab.place.until("the model has it", || {
            lab.model
                .conversations()
                .iter()
                .any(|request| last_user_text(request) == message.body)
        });
        assert_eq!(lab.place.messages(&coder).len(), number);
        assert_eq!(lab.told(message.id.as_str()), 1);
        lab.idle(&coder);
    }
}

#[test]
fn a_busy_agent_gets_it_once_at_the_end_of_its_turn() {
    let rules = vec![Rule::when("BEGIN", vec![bash(WAIT), Answer::text("FINISHED")]).once()];
    let Some(lab) = Lab::new(rules) else { return };
    lab.allow("Bash");
    let coder = lab.coder("BEGIN");
    lab.shows(&coder, "for i in");
    text(&lab.place.send(&coder, "while you were busy"));
    lab.taken(&coder);
    let message = lab.place.messages(&coder).remove(0);
    assert_eq!(message.taken_by, Some(TakenBy::StopHook));
    assert_eq!(message.attempts, 1);
    let expected = format!("Stop hook feedback:\n{}", message.body);
    lab.place.until("the model has it", || {
        lab.model
            .conversations()
            .iter()
            .any(|request| last_user_text(request).contains(&expected))
    });
    // Claude Code itself tells the model of one block twice: as feedback, and as a note about the hook.
    let once = format!("Stop hook feedback:\\n[claude-codex {}]", message.id);
    assert_eq!(lab.told(&once), 1);
}

#[test]
fn an_open_dialog_is_not_answered() {
    let rules = vec![
        Rule::when(
            "BEGIN",
            vec![
                bash("curl -o stolen http://127.0.0.1:1/"),
                Answer::text("FINISHED"),
            ],
        )
        .once(),
    ];
    let Some(lab) = Lab::new(rules) else { return };
    let coder = lab.coder("BEGIN");
    lab.shows(&coder, "Do you want to proceed?");
    let printed = text(&lab.place.send(&coder, "not now"));
    assert!(printed.contains("\"delivered\": false"), "{printed}");
    assert!(printed.contains("dialog"), "{printed}");
    assert!(lab.screen(&coder).contains("Do you want to proceed?"));
    assert!(!lab.screen(&coder).contains("not now"));
    assert_eq!(lab.place.messages(&coder)[0].attempts, 0);
    lab.press(&coder, &["Escape"]);
    lab.taken(&coder);
    let id = lab.place.messages(&coder)[0].id.clone();
    lab.place
        .until("the model has it", || lab.told(id.as_str()) == 1);
}

#[test]
fn a_draft_of_a_person_survives() {
    let Some(lab) = Lab::new(Vec::new()) else {
        return;
    };
    let coder = lab.coder("begin");
    lab.shows(&coder, "Done.");
    lab.press(&coder, &["-l", "my own words"]);
    lab.shows(&coder, "my own words");
    let printed = text(&lab.place.send(&coder, "hold back"));
    assert!(
        printed.contains("\"delivered\": false") && printed.contains("draft"),
        "{printed}"
    );
    assert!(lab.screen(&coder).contains("my own words"));
    assert_eq!(lab.told("my own words"), 0);
    lab.press(&coder, &["C-u"]);
    lab.taken(&coder);
    assert_eq!(lab.told("my own words"), 0);
}

#[test]
fn a_dead_server_is_stood_in_for_by_whoever_looks() {
    let Some(lab) = Lab::new(Vec::new()) else {
        return;
    };
    let coder = lab.coder("begin");
    lab.shows(&coder, "Done.");
    lab.idle(&coder);
    let server = lab.place.instance(&coder).server.unwrap();
    kill(u64::from(server.pid));
    lab.press(&coder, &["-l", "my own words"]);
    lab.shows(&coder, "my own words");
    let printed = text(&lab.place.send(&coder, "for whoever looks\n\nline\n\nline"));
    assert!(
        printed.contains("\"delivered\": false") && printed.contains("draft"),
        "{printed}"
    );
    lab.press(&coder, &["C-u"]);
    lab.place.until("a look hands it over", || {
        lab.place.codex(&["list"]);
        lab.place.messages(&coder)[0].state == MessageState::Taken
    });
    let id = lab.place.messages(&coder)[0].id.clone();
    lab.place
        .until("the model has it", || lab.told(id.as_str()) == 1);
    assert_eq!(lab.told("my own words"), 0);
}

#[test]
fn a_killed_agent_gets_it_when_resumed() {
    let rules = vec![Rule::when("BEGIN", vec![bash(WAIT), Answer::text("FINISHED")]).once()];
    let Some(lab) = Lab::new(rules) else { return };
    lab.allow("Bash");
    let coder = lab.coder("BEGIN");
    lab.shows(&coder, "for i in");
    let child = lab
        .place
        .start(&["send", coder.as_str(), "-"], "before it died");
    lab.place
        .until("it is owed", || lab.place.messages(&coder).len() == 1);
    let pid = lab.place.tmux(&[
        "list-panes",
        "-t",
        &format!("={coder}"),
        "-F",
        "#{pane_pid}",
    ]);
    kill(String::from_utf8_lossy(&pid.stdout).trim().parse().unwrap());
    child.wait_with_output().unwrap();
    lab.place.until("it is noticed", || {
        lab.place.codex(&["list"]);
        lab.place.status(&coder) == Status::Failed && lab.place.instance(&coder).owner.is_none()
    });
    assert_ne!(lab.place.messages(&coder)[0].state, MessageState::Taken);
    text(&lab.place.codex(&["resume", coder.as_str()]));
    lab.taken(&coder);
    let id = lab.place.messages(&coder)[0].id.clone();
    lab.place
        .until("the model has it", || lab.told(id.as_str()) == 1);
    // What comes later is not what was owed once more.
    text(&lab.place.send(&coder, "and now?"));
    lab.taken(&coder);
    let next = lab.place.messages(&coder).pop().unwrap().id;
    lab.place
        .until("the model has it", || lab.told(next.as_str()) > 0);
    assert_eq!(lab.told(id.as_str()), 1);
}
