//! Tests of counting usage: partial lines, repeated records, garbage, files that were cut or replaced.

use std::io::Write;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn answer(id: &str, input: u64, output: u64) -> Value {
    json!({
        "type": "assistant", "isSidechain": false, "requestId": format!("req_{id}"), "timestamp": "2026-11-18T12:00:00.000Z",
        "message": { "id": id, "model": "claude-opus-5-5", "role": "assistant", "content": [{ "type": "text", "text": "…" }],
            "usage": { "input_tokens": input, "output_tokens": output,
                "cache_creation_input_tokens": 30, "cache_read_input_tokens": 4,
                "cache_creation": { "ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 10 },
                "server_tool_use": null, "service_tier": "standard" } },
    })
}

fn text(records: &[Value]) -> String {
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

struct File {
    folder: tempfile::TempDir,
    cursor: UsageCursor,
    total: Tokens,
    context: Option<u64>,
}

impl File {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            cursor: UsageCursor::default(),
            total: Tokens::default(),
            context: None,
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("session.jsonl")
    }

    fn add(&self, text: &str) {
        let mut options = std::fs::File::options();
        let mut file = options.append(true).create(true).open(self.path()).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    /// Counts as the store does, with a cursor that has been stored.
    fn count(&mut self) -> bool {
        let Some(read) = read_usage(&self.path(), &self.cursor).unwrap() else {
            return false;
        };
        if read.anew {
            self.total = Tokens::default();
        }
        for usage in &read.added {
            self.total += usage.tokens;
        }
        self.context = read.context.map(|(size, _)| size.tokens).or(self.context);
        let stored = serde_json::to_string(&read.cursor).unwrap();
        self.cursor = serde_json::from_str(&stored).unwrap();
        true
    }
}

#[test]
fn an_answer_counts_once_however_many_records_it_has() {
    let mut file = File::new();
    assert!(!file.count(), "there is no transcript yet");
    let result = json!({ "type": "user", "message": { "content": [{ "type": "tool_result", "content": "\"usage\"" }] } });
    file.add(&text(&[answer("msg_1", 100, 1), result]));
    assert!(file.count());
    assert_eq!(file.total.output, 1);
    assert!(!file.count(), "nothing is new");
    // The last record of an answer has its final count, and may be read later.
    file.add(&text(&[answer("msg_1", 100, 250), answer("msg_2", 7, 3)]));
    file.count();
    assert_eq!(
        file.total,
        Tokens {
            input: 107,
            output: 253,
            cache_write_5m: 40,
            cache_write_1h: 20,
            cache_read: 8
        }
    );
    assert_eq!(file.context, Some(7 + 30 + 4 + 3));
}

#[test]
fn subagents_cost_but_are_not_in_the_context_and_copies_do_neither() {
    let mut file = File::new();
    let mut sidechain = answer("msg_2", 1000, 1);
    sidechain["isSidechain"] = json!(true);
    let mut copy = answer("msg_3", 5000, 1);
    copy["forkedFrom"] = json!({ "sessionId": "x", "messageUuid": "y" });
    let mut own_words = answer("msg_4", 9, 9);
    own_words["message"]["model"] = json!("<synthetic>");
    file.add(&text(&[
        answer("msg_1", 100, 1),
        sidechain,
        copy,
        own_words,
    ]));
    file.count();
    assert_eq!(file.total.input, 1100);
    assert_eq!(file.context, Some(135));

    let folder = file.folder.path().join("session/subagents");
    std::fs::create_dir_all(folder.join("workflow")).unwrap();
    for name in [
        "agent-a.jsonl",
        "agent-a.meta.json",
        "workflow/agent-b.jsonl",
    ] {
        std::fs::write(folder.join(name), "").unwrap();
    }
    let mut found = session_files(&file.path()).subagents;
    found.sort();
    assert_eq!(
        found,
        [
            folder.join("agent-a.jsonl"),
            folder.join("workflow/agent-b.jsonl")
        ]
    );
}

#[test]
fn a_file_that_was_cut_or_replaced_is_counted_anew() {
    let mut file = File::new();
    file.add(&text(&[answer("msg_1", 100, 1), answer("msg_2", 10, 1)]));
    file.count();
    // Claude Code takes back the end of an answer that failed.
    std::fs::write(file.path(), text(&[answer("msg_1", 100, 1)])).unwrap();
    file.count();
    assert_eq!(file.total.input, 100);
    std::fs::remove_file(file.path()).unwrap();
    assert!(!file.count(), "figures outlive the transcript");
    assert_eq!(file.total.input, 100);
}

#[test]
fn what_is_hostile_is_bounded() {
    let file = File::new();
    let mut huge = answer("msg_1", u64::MAX, u64::MAX);
    huge["message"]["model"] = json!(format!("\u{1b}[2J{}", "x".repeat(5000)));
    let many = (0..500).map(|number| {
        let mut record = answer(&format!("msg_x{number}"), 1, 1);
        record["message"]["model"] = json!(format!("model-{number}"));
        record
    });
    file.add(&text(
        &std::iter::once(huge).chain(many).collect::<Vec<_>>(),
    ));
    let read = read_usage(&file.path(), &file.cursor).unwrap().unwrap();
    assert_eq!(read.added.len(), MAX_MODELS);
    assert_eq!(read.added[0].tokens.input, MAX_TOKENS);
    assert_eq!(read.added[0].model.chars().count(), MAX_NAME_CHARS);
    assert!(!read.added[0].model.contains('\u{1b}'));
    assert!(serde_json::to_string(&read.cursor).unwrap().len() < 4_000);
}

proptest! {
    /// However writes and reads fall together, the sum is that of the whole file.
    #[test]
    fn any_pieces_give_the_same_sum(cuts in proptest::collection::vec(0..3000_usize, 0..12), garbage in ".{0,40}") {
        let records = text(&[answer("msg_1", 1, 1), answer("msg_1", 1, 5), answer("msg_2", 10, 2), answer("msg_3", 100, 3)]);
        let whole = format!("{garbage}\n{records}{{\"usage\":1}}\n{{\"type\":\"assistant\",\"message\":{{\"usage\":{{}}}}}}\n");
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(whole.len())).collect();
        cuts.extend([0, whole.len()]);
        cuts.sort_unstable();
        let mut file = File::new();
        let path = file.path();
        for piece in cuts.windows(2) {
            let mut options = std::fs::File::options();
            let mut open = options.append(true).create(true).open(&path).unwrap();
            open.write_all(&whole.as_bytes()[piece[0]..piece[1]]).unwrap();
            file.count();
        }
        prop_assert_eq!((file.total.input, file.total.output), (111, 10));
    }

    #[test]
    fn any_line_is_read(line: Vec<u8>) {
        let mut count = Count { recent: VecDeque::new(), added: Vec::new(), context: None };
        count.take(&line);
        count.take(&[b"\"usage\"", line.as_slice()].concat());
    }
}
