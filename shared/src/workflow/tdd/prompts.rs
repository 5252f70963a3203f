//! Prompts of a coder's turns in a TDD run.

use crate::model::hidden::drop_hidden;
use crate::model::review::MAX_FEEDBACK_CHARS;
use crate::model::text::check_block;

/// The turn after a review that sent the work back.
pub(super) fn sent_back(spec: &str, iteration: u32, of: u32, messages: &[String]) -> String {
    format!(
        "{}\n\n---\n\nThat is the specification. This is round {iteration} of {of}: the work was reviewed and sent back.\n\n{}",
        spec.trim_end(),
        messages.join("\n\n")
    )
}

/// The turn after a handoff that could not be reviewed.
pub(super) fn not_reviewable(prompt: &str, why: &str) -> String {
    format!(
        "{}\n\n---\n\nYour work of this round can't be reviewed yet: {}\nPut that right, commit, and end your turn with the handoff.",
        prompt.trim_end(),
        drop_hidden(why)
    )
}

/// The turn after one that was broken off.
pub(super) fn taken_up(prompt: &str) -> String {
    const NOTE: &str = "You have begun this before and were interrupted. Look at what is there (`git log`, `git status`), then go on.";
    if prompt.ends_with(NOTE) {
        return prompt.to_owned();
    }
    format!("{}\n\n---\n\n{NOTE}", prompt.trim_end())
}

/// Makes any last message one that can be stored and shown, or nothing if it says nothing.
pub(super) fn storable(message: &str) -> Option<String> {
    let text: String = drop_hidden(message)
        .trim()
        .chars()
        .take(MAX_FEEDBACK_CHARS)
        .collect();
    check_block(&text, MAX_FEEDBACK_CHARS).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_made_storable() {
        assert_eq!(storable(" \n"), None);
        assert_eq!(storable("a\u{1b}[2J\0b\n"), Some("a[2Jb".to_owned()));
        let long = storable(&"é".repeat(MAX_FEEDBACK_CHARS + 9)).unwrap();
        assert_eq!(long.chars().count(), MAX_FEEDBACK_CHARS);
    }

    #[test]
    fn a_note_is_added_once() {
        let once = taken_up("Build it");
        assert_eq!(taken_up(&once), once);
        assert!(
            sent_back("Build it", 2, 3, &["Fix it".to_owned()]).ends_with("sent back.\n\nFix it")
        );
    }
}
