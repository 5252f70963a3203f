//! What Claude Code's input box shows, hides and makes of a paste.

use scripted_model::last_user_text;
use serde_json::Value;
use shared::model::TakenBy;

use super::Lab;
use crate::support::text;

/// A picture of one pixel.
const PICTURE: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

#[test]
fn a_line_that_is_the_path_of_a_picture_stays_a_line() {
    let Some(lab) = Lab::new(Vec::new()) else {
        return;
    };
    let coder = lab.coder("begin");
    lab.shows(&coder, "Done.");
    let picture = lab.place.path("shot.gif");
    std::fs::write(&picture, PICTURE).unwrap();
    let path = picture.to_str().unwrap();
    for message in [
        path.to_owned(),
        format!("It looks like this:\n  \"{path}\" \nwhich is wrong.\n\n\nMend it."),
    ] {
        lab.idle(&coder);
        text(&lab.place.send(&coder, &message));
        lab.taken(&coder);
        let sent = lab.place.messages(&coder).pop().unwrap();
        lab.place
            .until("the model has it", || lab.told(sent.id.as_str()) == 1);
        let conversation = lab.model.conversations().pop().unwrap();
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
    let Some(lab) = Lab::new(Vec::new()) else {
        return;
    };
    let coder = lab.coder("begin");
    lab.shows(&coder, "Done.");
    lab.press(&coder, &["-l", "my own words"]);
    lab.shows(&coder, "my own words");
    lab.press(&coder, &["-N", "40", "C-j"]);
    lab.place.until("it has scrolled away", || {
        !lab.screen(&coder).contains("my own words")
    });
    let printed = text(&lab.place.send(&coder, "hold back"));
    let sent: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(sent["waitingFor"], "draft", "{printed}");
    assert_eq!(lab.told("my own words"), 0);
    lab.press(&coder, &["C-c"]);
    lab.taken(&coder);
    assert_eq!(lab.told("my own words"), 0);
}

#[test]
fn a_message_that_the_box_shows_only_the_end_of_is_sent() {
    let Some(lab) = Lab::new(Vec::new()) else {
        return;
    };
    let coder = lab.coder("begin");
    lab.shows(&coder, "Done.");
    let target = format!("={coder}:");
    for (columns, rows) in [("80", "14"), ("40", "14")] {
        let resized = lab
            .place
            .tmux(&["resize-window", "-t", &target, "-x", columns, "-y", rows]);
        assert!(resized.status.success(), "{resized:?}");
        lab.place.until("it is drawn anew", || {
            let edge = "─".repeat(columns.parse().unwrap());
            lab.screen(&coder).lines().any(|line| line == edge)
        });
        for words in [40, 100] {
            let message = "five words in a row ".repeat(words / 5);
            lab.idle(&coder);
            text(&lab.place.send(&coder, &message));
            lab.taken(&coder);
            let sent = lab.place.messages(&coder).pop().unwrap();
            assert_eq!(sent.taken_by, Some(TakenBy::Transcript));
            assert_eq!(sent.attempts, 1);
            lab.place
                .until("the model has it", || lab.told(sent.id.as_str()) == 1);
        }
    }
}

/// `←` in an empty box moves a conversation to the background, where it is another session.
#[test]
fn an_agent_keeps_its_conversation_in_its_terminal() {
    let Some(lab) = Lab::new(Vec::new()) else {
        return;
    };
    let coder = lab.coder("begin");
    lab.shows(&coder, "Done.");
    lab.idle(&coder);
    lab.press(&coder, &["Left"]);
    text(&lab.place.send(&coder, "still there?"));
    lab.taken(&coder);
    let sent = lab.place.messages(&coder).pop().unwrap();
    lab.place
        .until("the model has it", || lab.told(sent.id.as_str()) == 1);
}
