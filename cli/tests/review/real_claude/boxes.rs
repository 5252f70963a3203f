//! What Claude Code's input box shows, hides and makes of a paste.

use scripted_model::last_user_text;
use serde_json::Value;
use shared::model::TakenBy;
use tests::text;

use super::ClaudeEnv;

/// A picture of one pixel.
const PICTURE: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

#[test]
fn a_line_that_is_the_path_of_a_picture_stays_a_line() {
    let Some(env) = ClaudeEnv::new(Vec::new()) else {
        return;
    };
    let coder = env.coder("begin");
    env.until_shows(&coder, "Done.");
    let picture = env.path("shot.gif");
    std::fs::write(&picture, PICTURE).unwrap();
    let path = picture.to_str().unwrap();
    for message in [
        path.to_owned(),
        format!("It looks like this:\n  \"{path}\" \nwhich is wrong.\n\n\nMend it."),
    ] {
        env.until_idle(&coder);
        text(&env.send(&coder, &message));
        env.until_taken(&coder);
        let sent = env.messages(&coder).pop().unwrap();
        env.until("the model has it", || env.told(sent.id.as_str()) == 1);
        let conversation = env.claude.model.conversations().pop().unwrap();
        let told = last_user_text(&conversation);
        for line in message.lines() {
            assert!(told.contains(line.trim()), "{told}");
        }
        let messages = conversation["messages"].to_string();
        assert!(!messages.contains(r#""type":"image""#), "{messages}");
    }
}

#[test]
fn a_draft_that_has_scrolled_out_of_the_box_survives() {
    let Some(env) = ClaudeEnv::new(Vec::new()) else {
        return;
    };
    let coder = env.coder("begin");
    env.until_shows(&coder, "Done.");
    env.press(&coder, &["-l", "my own words"]);
    env.until_shows(&coder, "my own words");
    env.press(&coder, &["-N", "40", "C-j"]);
    env.until("it has scrolled away", || {
        !env.screen(&coder).contains("my own words")
    });
    let printed = text(&env.send(&coder, "hold back"));
    let sent: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(sent["waitingFor"], "draft", "{printed}");
    assert_eq!(env.told("my own words"), 0);
    env.press(&coder, &["C-c"]);
    env.until_taken(&coder);
    assert_eq!(env.told("my own words"), 0);
}

#[test]
fn a_message_that_the_box_shows_only_the_end_of_is_sent() {
    let Some(env) = ClaudeEnv::new(Vec::new()) else {
        return;
    };
    let coder = env.coder("begin");
    env.until_shows(&coder, "Done.");
    let target = format!("={coder}:");
    for (columns, rows) in [("80", "14"), ("40", "14")] {
        let resized = env.tmux(&["resize-window", "-t", &target, "-x", columns, "-y", rows]);
        assert!(resized.status.success(), "{resized:?}");
        env.until("it is drawn anew", || {
            let edge = "─".repeat(columns.parse().unwrap());
            env.screen(&coder).lines().any(|line| line == edge)
        });
        for words in [40, 100] {
            let message = "five words in a row ".repeat(words / 5);
            env.until_idle(&coder);
            text(&env.send(&coder, &message));
            env.until_taken(&coder);
            let sent = env.messages(&coder).pop().unwrap();
            assert_eq!(sent.taken_by, Some(TakenBy::Transcript));
            assert_eq!(sent.attempts, 1);
            env.until("the model has it", || env.told(sent.id.as_str()) == 1);
        }
    }
}

/// `←` in an empty box moves a conversation to the background, where it is another session.
#[test]
fn an_agent_keeps_its_conversation_in_its_terminal() {
    let Some(env) = ClaudeEnv::new(Vec::new()) else {
        return;
    };
    let coder = env.coder("begin");
    env.until_shows(&coder, "Done.");
    env.until_idle(&coder);
    env.press(&coder, &["Left"]);
    text(&env.send(&coder, "still there?"));
    env.until_taken(&coder);
    let sent = env.messages(&coder).pop().unwrap();
    env.until("the model has it", || env.told(sent.id.as_str()) == 1);
}
