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
use std::time::Duration;

use serde_json::Value;
use uuid::Uuid;

use super::screen::message_parts;

/// How far a message has got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MessagePresence {
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

/// Returns how long ago a transcript was written to; none if there is none.
pub fn written_ago(transcript: &Path) -> Option<Duration> {
    let written = transcript.metadata().ok()?.modified().ok()?;
    // A time in the future is from before the clock was set back.
    Some(written.elapsed().unwrap_or_default())
}

/// Returns the transcripts that were written last beside one: `/clear` begins another, and what was handed over before is in the old one.
pub(super) fn transcripts_beside(transcript: &Path) -> Vec<PathBuf> {
    /// A message that is looked for was handed over a moment ago.
    const MAX_BESIDE: usize = 4;
    let mut others = all_transcripts_beside(transcript);
    others.truncate(MAX_BESIDE);
    others
}

/// Returns all transcripts beside one, the newest first.
pub fn all_transcripts_beside(transcript: &Path) -> Vec<PathBuf> {
    let entries = transcript
        .parent()
        .and_then(|folder| std::fs::read_dir(folder).ok());
    let mut others: Vec<_> = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl") && path != transcript)
        .filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path)))
        .collect();
    others.sort_by(|one, other| other.cmp(one));
    others.into_iter().map(|(_, path)| path).collect()
}

/// Returns the text by which a message is found: its first line, which names it.
///
/// The name alone is not enough: people and hooks speak of messages by it. What is not ASCII, Claude Code may write in another way.
pub fn named_by(message: &str) -> &str {
    let (first, _) = message_parts(message);
    let ascii = first.find(|character: char| !character.is_ascii());
    first[..ascii.unwrap_or(first.len())].trim_end()
}

/// What a person's `!` and a slash command print are records of the user, too.
fn is_printed(text: &str) -> bool {
    ["<bash-", "<local-command-"]
        .iter()
        .any(|start| text.starts_with(start))
}

/// Tells what one record says about the message; `None` if nothing.
pub(super) fn judge(record: &Value, needle: &str) -> Option<MessagePresence> {
    let said = |value: &Value| {
        value
            .as_str()
            .is_some_and(|text| text.contains(needle) && !is_printed(text))
    };
    // A prompt to a subagent is not in the agent's own conversation.
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
            (said(content) || in_blocks).then_some(MessagePresence::Taken)
        }
        "attachment" => {
            let attachment = &record["attachment"];
            let text = match attachment["type"].as_str()? {
                "queued_command" => &attachment["prompt"],
                "hook_additional_context" => &attachment["content"],
                _ => return None,
            };
            let in_list = text.as_array().is_some_and(|texts| texts.iter().any(said));
            (said(text) || in_list).then_some(MessagePresence::Taken)
        }
        "queue-operation" if said(&record["content"]) => match record["operation"].as_str()? {
            "enqueue" => Some(MessagePresence::Queued),
            // Taken back by a person, or dropped. When it was absorbed, its attachment follows.
            "popAll" => Some(MessagePresence::No),
            _ => None,
        },
        _ => None,
    }
}

/// Counts how often one record brings a message into the conversation.
pub(super) fn times_in(record: &Value, message: &str) -> usize {
    if judge(record, message) != Some(MessagePresence::Taken) || record["isCompactSummary"] == true
    {
        return 0;
    }
    let header = format!("[claude-codex {message}]");
    let begins = |line: &&str| line.starts_with(&header);
    let in_text = |text: &str| text.lines().filter(begins).count();
    texts(record).into_iter().map(in_text).sum()
}

/// Returns every text that a record says to the model.
fn texts(record: &Value) -> Vec<&str> {
    let attachment = &record["attachment"];
    let said = [
        &record["message"]["content"],
        &attachment["prompt"],
        &attachment["content"],
    ];
    said.into_iter()
        .flat_map(|value| match value {
            Value::String(text) => vec![text.as_str()],
            Value::Array(parts) => parts
                .iter()
                .filter_map(|part| part.as_str().or_else(|| part["text"].as_str()))
                .collect(),
            _ => Vec::new(),
        })
        .collect()
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

        fn look(&self, needle: &str) -> MessagePresence {
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
        assert_eq!(transcript.look("[m1]"), MessagePresence::No);
        transcript.add(&format!("{ENQUEUE}\n"));
        assert_eq!(transcript.look("[m1] \"hi\""), MessagePresence::Queued);
        transcript.add("{\"type\":\"queue-operation\",\"operation\":\"dequeue\"}\n");
        assert_eq!(transcript.look("[m1]"), MessagePresence::Queued);
        transcript.add("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"[m1] \\\"hi\\\"\\nthere\"}");
        assert_eq!(
            transcript.look("[m1]"),
            MessagePresence::Queued,
            "half a line is no proof"
        );
        transcript.add("}\n");
        assert_eq!(transcript.look("[m1]"), MessagePresence::Taken);
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
            assert_eq!(transcript.look("[m1]"), MessagePresence::Taken, "{line}");
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
            r#"{"type":"user","message":{"content":"<bash-stdout>[m1]</bash-stdout><bash-stderr></bash-stderr>"}}"#,
            r#"{"type":"user","message":{"content":"<local-command-stdout>[m1]</local-command-stdout>"}}"#,
            r#"{"type":"api-request-blob","message":{"role":"user","content":[{"type":"text","text":"[m1]"}]}}"#,
            r#"{"type":"queue-operation","operation":"remove","content":"[m1]","reason":"absorbed_mid_turn"}"#,
            r#"{"type":"attachment","attachment":{"type":"hook_success","stdout":"[m1]"}}"#,
            "not json [m1]",
        ] {
            transcript.add(&format!("{line}\n"));
            assert_eq!(transcript.look("[m1]"), MessagePresence::No, "{line}");
        }
    }

    #[test]
    fn a_message_is_named_by_its_first_line() {
        for (message, name) in [
            (
                "[claude-codex m-1] Title\n\ntext",
                "[claude-codex m-1] Title",
            ),
            (
                "[claude-codex m-1] Lost: caf\u{e9}\ntext",
                "[claude-codex m-1] Lost: caf",
            ),
            ("[claude-codex m-1] \u{e9}", "[claude-codex m-1]"),
        ] {
            assert_eq!(named_by(message), name);
        }
    }

    #[test]
    fn a_message_that_a_person_took_back_is_not_queued() {
        let transcript = Transcript::new();
        transcript.add(&format!("{ENQUEUE}\n"));
        transcript.add("{\"type\":\"queue-operation\",\"operation\":\"popAll\",\"content\":\"[m1] \\\"hi\\\"\\nthere\"}\n");
        assert_eq!(transcript.look("[m1]"), MessagePresence::No);
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
