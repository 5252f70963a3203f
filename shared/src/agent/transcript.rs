//! Proof that a message reached a conversation, from the transcript that Claude Code writes.
//!
//! `<config>/projects/<slug>/<session>.jsonl`, one record a line, undocumented (seen in 2.1.325):
//! - `user` with the text as `message.content`: in the conversation. A Stop hook's block is one too
//!   (`Stop hook feedback:\n…`, `isMeta`); tool results are `user` records with `tool_result` blocks.
//! - `attachment` of type `queued_command`: typed while busy, handed over with a tool result.
//! - `attachment` of type `hook_additional_context`: what a hook added.
//! - `queue-operation`: `enqueue` (typed while busy), `dequeue` (no text; the `user` record follows),
//!   `remove` with the reason `absorbed_mid_turn` (the attachment follows), `popAll` (a person took it back
//!   into the input box). An enqueued message dies with the process, though `UserPromptSubmit` has fired.

use std::path::{Path, PathBuf};

use serde_json::Value;
use uuid::Uuid;

/// How far a message has got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Found {
    /// In the conversation: the model has it, or gets it with the next request.
    Taken,
    /// Typed while the agent was busy; not yet in the conversation, and lost if the process dies.
    Queued,
    #[default]
    No,
}

/// Claude Code cuts the folded path of a project here and adds a hash.
const MAX_SLUG: usize = 200;

/// Returns where the transcript is, or will be for a session that has not begun.
pub fn path(config: &Path, cwd: &Path, session: Uuid) -> PathBuf {
    let projects = config.join("projects");
    let file = format!("{session}.jsonl");
    let slug: String = cwd
        .to_string_lossy()
        .chars()
        .map(|character| {
            if character.is_ascii_alphanumeric() {
                character
            } else {
                '-'
            }
        })
        .collect();
    let expected = projects.join(&slug).join(&file);
    if slug.len() <= MAX_SLUG && expected.is_file() {
        return expected;
    }
    // A very long path, or a session that was begun under another name of the directory.
    let elsewhere = std::fs::read_dir(&projects)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(|entry| entry.path().join(&file))
        .find(|path| path.is_file());
    elsewhere.unwrap_or(expected)
}

/// Tells what one record says about the message; `None` if nothing.
pub(super) fn judge(record: &Value, needle: &str) -> Option<Found> {
    let said = |value: &Value| value.as_str().is_some_and(|text| text.contains(needle));
    // What a subagent is told is not what the agent is told.
    if record["isSidechain"] == true {
        return None;
    }
    match record["type"].as_str()? {
        "user" => {
            let content = &record["message"]["content"];
            let in_blocks = content.as_array().is_some_and(|blocks| {
                blocks
                    .iter()
                    .any(|block| block["type"] == "text" && said(&block["text"]))
            });
            (said(content) || in_blocks).then_some(Found::Taken)
        }
        "attachment" => {
            let attachment = &record["attachment"];
            let text = match attachment["type"].as_str()? {
                "queued_command" => &attachment["prompt"],
                "hook_additional_context" => &attachment["content"],
                _ => return None,
            };
            let in_list = text.as_array().is_some_and(|texts| texts.iter().any(said));
            (said(text) || in_list).then_some(Found::Taken)
        }
        "queue-operation" if said(&record["content"]) => match record["operation"].as_str()? {
            "enqueue" => Some(Found::Queued),
            // Taken back by a person, or dropped. When it was absorbed, its attachment follows.
            "popAll" => Some(Found::No),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::TranscriptReader;
    use std::fs::File;
    use std::io::Write;

    struct Transcript {
        config: tempfile::TempDir,
        session: Uuid,
        cwd: PathBuf,
    }

    impl Transcript {
        fn new() -> Self {
            Self {
                config: tempfile::tempdir().unwrap(),
                session: Uuid::new_v4(),
                cwd: PathBuf::from("/home/a b/w.t"),
            }
        }

        fn add(&self, line: &str) {
            let directory = self.config.path().join("projects/-home-a-b-w-t");
            std::fs::create_dir_all(&directory).unwrap();
            let path = directory.join(format!("{}.jsonl", self.session));
            let mut file = File::options()
                .append(true)
                .create(true)
                .open(path)
                .unwrap();
            file.write_all(line.as_bytes()).unwrap();
        }

        fn look(&self, needle: &str) -> Found {
            TranscriptReader::default()
                .find_now(&path(self.config.path(), &self.cwd, self.session), needle)
                .unwrap()
        }
    }

    const ENQUEUE: &str =
        r#"{"type":"queue-operation","operation":"enqueue","content":"[m1] \"hi\"\nthere"}"#;

    #[test]
    fn a_message_is_queued_until_its_record_stands() {
        let transcript = Transcript::new();
        assert_eq!(transcript.look("[m1]"), Found::No);
        transcript.add(&format!("{ENQUEUE}\n"));
        assert_eq!(transcript.look("[m1] \"hi\""), Found::Queued);
        transcript.add("{\"type\":\"queue-operation\",\"operation\":\"dequeue\"}\n");
        assert_eq!(transcript.look("[m1]"), Found::Queued);
        transcript.add("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"[m1] \\\"hi\\\"\\nthere\"}");
        assert_eq!(
            transcript.look("[m1]"),
            Found::Queued,
            "half a line is no proof"
        );
        transcript.add("}\n");
        assert_eq!(transcript.look("[m1]"), Found::Taken);
    }

    #[test]
    fn every_way_into_the_conversation_counts() {
        for line in [
            r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":"[m1] x"}}"#,
            r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":[{"type":"text"},"[m1]"]}}"#,
            r#"{"type":"attachment","attachment":{"type":"hook_additional_context","content":["[m1] x"]}}"#,
            r#"{"type":"user","isMeta":true,"message":{"content":"Stop hook feedback:\n[m1] x"}}"#,
            r#"{"type":"user","message":{"content":[{"type":"text","text":"[m1] x"}]}}"#,
        ] {
            let transcript = Transcript::new();
            transcript.add(&format!("{line}\n"));
            assert_eq!(transcript.look("[m1]"), Found::Taken, "{line}");
        }
    }

    #[test]
    fn what_others_say_about_the_message_is_no_proof() {
        let transcript = Transcript::new();
        for line in [
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"[m1]"}]}}"#,
            r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"[m1]"}]}}"#,
            r#"{"type":"user","message":{"content":[{"type":"tool_result","text":"[m1]"}]}}"#,
            r#"{"type":"user","isSidechain":true,"message":{"content":"[m1]"}}"#,
            r#"{"type":"last-prompt","lastPrompt":"[m1]"}"#,
            r#"{"type":"api-request-blob","message":{"role":"user","content":[{"type":"text","text":"[m1]"}]}}"#,
            r#"{"type":"queue-operation","operation":"remove","content":"[m1]","reason":"absorbed_mid_turn"}"#,
            r#"{"type":"attachment","attachment":{"type":"hook_success","stdout":"[m1]"}}"#,
            "not json [m1]",
        ] {
            transcript.add(&format!("{line}\n"));
            assert_eq!(transcript.look("[m1]"), Found::No, "{line}");
        }
    }

    #[test]
    fn a_message_that_a_person_took_back_is_not_queued() {
        let transcript = Transcript::new();
        transcript.add(&format!("{ENQUEUE}\n"));
        transcript.add("{\"type\":\"queue-operation\",\"operation\":\"popAll\",\"content\":\"[m1] \\\"hi\\\"\\nthere\"}\n");
        assert_eq!(transcript.look("[m1]"), Found::No);
    }

    #[test]
    fn a_transcript_under_another_folder_is_found_by_its_session() {
        let transcript = Transcript::new();
        transcript.add("{\"type\":\"user\",\"message\":{\"content\":\"[m1]\"}}\n");
        let found = path(
            transcript.config.path(),
            Path::new("/other"),
            transcript.session,
        );
        let expected = path(
            transcript.config.path(),
            &transcript.cwd,
            transcript.session,
        );
        assert_eq!(found, expected);
        assert!(found.is_file());
    }
}
