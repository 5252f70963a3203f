//! Texts that try to be more than text, typed into the program that would obey some of them.

use shared::model::{MessageState, Status};
use tests::text;

use super::ClaudeEnv;
use crate::hostile::{corpus, visible};

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
    let Some(env) = ClaudeEnv::new(Vec::new()) else {
        return;
    };
    let coder = env.coder("begin");
    env.until_shows(&coder, "Done.");
    env.until_idle(&coder);
    let corpus: Vec<String> = corpus()
        .into_iter()
        .filter(|message| message.len() <= LONGEST)
        .collect();
    assert!(corpus.len() >= 40);
    for message in &corpus {
        text(&env.send(&coder, message));
        env.until_taken(&coder);
    }
    let messages = env.messages(&coder);
    assert_eq!(messages.len(), corpus.len());
    env.until("the model has the last", || {
        env.told(messages[corpus.len() - 1].id.as_str()) == 1
    });
    let conversation = env.claude.model.conversations().pop().unwrap();
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
    let worktree = env.instance(&coder).worktree_path;
    for folder in [worktree, env.path("repo"), env.path("home")] {
        assert!(
            !folder.join("PWNED").exists(),
            "executed in {}",
            folder.display()
        );
    }
    assert_eq!(env.status(&coder), Status::Running);
}
