//! Texts that try to be more than text, typed into the program that would obey some of them.

use shared::model::{MessageState, Status};

use super::Lab;
use crate::hostile::{corpus, visible};
use crate::support::text;

/// The longest take half a minute to type, and say no more than the long ones that stay.
const LONGEST: usize = 20_000;

/// What a reader sees. Claude Code itself takes out what has no width, and composes letters with their accents.
fn seen_of(text: &str) -> String {
    let mut seen = visible(text).replace("e\u{301}", "é");
    seen.retain(|character| !matches!(character, '\u{200b}'..='\u{200d}'));
    seen
}

#[test]
fn a_hostile_text_is_read_and_nothing_else() {
    let Some(lab) = Lab::new(Vec::new()) else {
        return;
    };
    let coder = lab.coder("begin");
    lab.shows(&coder, "Done.");
    lab.idle(&coder);
    let corpus: Vec<String> = corpus()
        .into_iter()
        .filter(|message| message.len() <= LONGEST)
        .collect();
    assert!(corpus.len() >= 40);
    for message in &corpus {
        text(&lab.place.send(&coder, message));
        lab.taken(&coder);
    }
    let messages = lab.place.messages(&coder);
    assert_eq!(messages.len(), corpus.len());
    lab.place.until("the model has the last", || {
        lab.told(messages[corpus.len() - 1].id.as_str()) == 1
    });
    let conversation = lab.model.conversations().pop().unwrap();
    let told: Vec<String> = conversation["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| {
            scripted_model::last_user_text(&serde_json::json!({ "messages": [message] }))
        })
        .collect();
    for (message, sent) in messages.iter().zip(&corpus) {
        assert_eq!(message.state, MessageState::Taken, "{sent:?}");
        let seen: Vec<_> = told
            .iter()
            .filter(|text| text.contains(&format!("[claude-codex {}]", message.id)))
            .collect();
        assert_eq!(seen.len(), 1, "{sent:?}");
        assert!(
            seen_of(seen[0]).contains(&seen_of(sent)),
            "{sent:?} became {:?}",
            seen[0]
        );
    }
    let worktree = lab.place.instance(&coder).worktree_path;
    for folder in [worktree, lab.place.path("repo"), lab.place.path("home")] {
        assert!(
            !folder.join("PWNED").exists(),
            "executed in {}",
            folder.display()
        );
    }
    assert_eq!(lab.place.status(&coder), Status::Running);
}
