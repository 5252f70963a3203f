//! What agents are told: the texts of messages, made harmless and of bounded size.
//!
//! Every message begins with a fixed line that names it: a leading `!` or `/` would be a command to
//! Claude Code, and the name is how its arrival is proven.

use std::borrow::Cow;

use crate::model::hidden::{drop_hidden, drop_hidden_in_line};
use crate::model::{Finding, MessageId, Review, Severity};

/// More than this of a text goes into the resource `codex://feedback` instead of the terminal.
const MAX_CHARS: usize = 16_000;

/// How the names of files end that Claude Code takes for pictures.
const PICTURES: [&str; 5] = [".png", ".jpg", ".jpeg", ".gif", ".webp"];

/// Returns a text without hidden characters, and without lines that are the path of a picture and nothing else: in a paste
/// Claude Code replaces them by the picture, unasked, and the text would not be the message any more.
fn harmless(text: &str) -> String {
    let lines = drop_hidden(text);
    let lines = lines.split('\n').map(|line| {
        let path = line.trim();
        if is_picture(path) {
            Cow::from(line.replacen(path, &format!("`{path}`"), 1))
        } else {
            Cow::from(line)
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn is_picture(path: &str) -> bool {
    let path = path.trim_matches(['"', '\'']).to_ascii_lowercase();
    let is_absolute = path.starts_with(['/', '~', '\\']) || path.chars().nth(1) == Some(':');
    is_absolute && PICTURES.iter().any(|end| path.ends_with(end))
}

fn bounded(text: &str) -> String {
    let text = harmless(text);
    match text.char_indices().nth(MAX_CHARS) {
        None => text,
        Some((end, _)) => format!(
            "{}\n\n(Cut here. The resource codex://feedback has all of it.)",
            &text[..end]
        ),
    }
}

/// The line that every message begins with.
pub(super) fn header(id: &MessageId, title: &str) -> String {
    format!("[claude-codex {id}] {}", drop_hidden_in_line(title))
}

/// How a coder answers to feedback.
pub(super) struct Reply {
    pub(super) max_rounds: u32,
    /// With the handoff at the end of its next turn instead of a call of a tool.
    pub(super) by_handoff: bool,
}

/// What a coder is told when changes are requested.
pub(super) fn feedback(
    id: &MessageId,
    review: &Review,
    reply: &Reply,
    feedback: &str,
    findings: &[Finding],
    commits: Option<&str>,
) -> String {
    let mut text = header(
        id,
        &format!(
            "Review by {}, round {} of {}: changes requested",
            review.review_instance_id, review.round, reply.max_rounds
        ),
    );
    let mut body = format!("\n\n{}", feedback.trim());
    if !findings.is_empty() {
        body += "\n\nFindings:\n";
        body += &list(findings);
    }
    if let Some(commits) = commits {
        body += &format!("\n\n{commits}");
    }
    text += &bounded(&body);
    text += if reply.by_handoff {
        "\n\nNext: fix what is right, each with a test that fails without the fix, commit, and end your turn with the handoff."
    } else if review.round < reply.max_rounds {
        "\n\nNext: fix what is right, commit, and call request_review with what you changed and where you disagree. Then end your turn."
    } else {
        "\n\nThis was the last review round. Fix what is right, commit, then call create_pr and say in its description what is still open; or end your turn, and a person decides."
    };
    text
}

/// What a coder is told when its reviewer came to nothing.
pub(super) fn review_lost(id: &MessageId, review: &Review, reason: &str) -> String {
    let title = format!(
        "The review by {} was lost: {}",
        review.review_instance_id,
        harmless(reason)
    );
    format!(
        "{}\n\nIt does not count as a round. Next: call request_review again, then end your turn.",
        header(id, &title)
    )
}

/// What a coder is told whose work was approved and published, and whose session goes on.
pub(super) fn published(id: &MessageId, review: &Review, number: u64, url: &str) -> String {
    let title = format!(
        "Approved by {} and published as pull request #{number}",
        review.review_instance_id
    );
    format!(
        "{}\n\n{}\n\nYour work is done. There is nothing left to do; end your turn.",
        header(id, &title),
        harmless(url)
    )
}

/// What a person sends to an agent: whole, because no resource has the rest of it.
pub(super) fn note(id: &MessageId, text: &str) -> String {
    let text = harmless(text);
    // Enter after a backslash is no Enter to Claude Code: it goes to the next line, and eats the backslash.
    let end = if text.ends_with('\\') { " " } else { "" };
    format!(
        "{}\n\n{text}{end}",
        header(id, "A message from the person who runs you")
    )
}

/// Findings as a list, the ones that matter most first.
pub(super) fn list(findings: &[Finding]) -> String {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| match finding.severity {
        Severity::Blocking => 0,
        Severity::Major => 1,
        Severity::Minor => 2,
    });
    let lines = sorted.iter().enumerate().map(|(index, finding)| {
        let place = match finding.line {
            Some(line) => format!("{}:{line}", finding.file),
            None => finding.file.clone(),
        };
        format!(
            "{}. [{}] {place}: {}",
            index + 1,
            finding.severity,
            finding.message.trim()
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::hidden::first_hidden;

    #[test]
    fn a_line_that_is_the_path_of_a_picture_is_quoted() {
        for (line, expected) in [
            ("/tmp/a b.png", "`/tmp/a b.png`"),
            ("  \"/tmp/A.PNG\" ", "  `\"/tmp/A.PNG\"` "),
            ("~/x.jpeg", "`~/x.jpeg`"),
            ("C:\\x.webp", "`C:\\x.webp`"),
            ("see /tmp/a.png", "see /tmp/a.png"),
            ("/tmp/a.png: wrong", "/tmp/a.png: wrong"),
            ("a.gif", "a.gif"),
            ("é", "é"),
            ("", ""),
        ] {
            let text = format!("before\n{line}\nafter");
            assert_eq!(harmless(&text), format!("before\n{expected}\nafter"));
        }
    }

    #[test]
    fn nothing_that_acts_survives_and_everything_visible_does() {
        let id = MessageId::random();
        for text in [
            "!rm -rf /",
            "/exit",
            "\u{1b}[201~\r!touch x",
            "a\0b\u{7f}c\u{9b}31m",
            "\u{202e}evil",
            "line\u{2028}break",
            "#(touch x) $(touch x) `touch x`; 日本語 👩‍👩‍👧",
        ] {
            let told = note(&id, text);
            assert!(told.starts_with(&format!("[claude-codex {id}]")));
            assert_eq!(first_hidden(&told), None);
            let visible = |text: &str| harmless(text).replace(char::is_whitespace, "");
            assert!(
                visible(&told).ends_with(&visible(text)),
                "{text:?} in {told:?}"
            );
        }
    }

    #[test]
    fn what_a_person_does_not_see_is_not_typed() {
        let id = MessageId::random();
        // "hi" in tag characters, a zero-width space, a selector that carries data.
        let hidden = "\u{e0068}\u{e0069}\u{200b}\u{e0101}";
        assert!(note(&id, &format!("a{hidden}b")).ends_with("\n\nab"));
        assert!(header(&id, &format!("a{hidden}b")).ends_with("] ab"));
        let finding = Finding {
            file: format!("src/{hidden}main.rs"),
            line: None,
            severity: Severity::Minor,
            message: format!("Wrong{hidden}."),
        };
        let told = bounded(&list(&[finding]));
        assert_eq!(told, "1. [minor] src/main.rs: Wrong.");
        // What belongs to a text stays in it.
        let plain = "👩\u{200d}👩\u{200d}👧 می\u{200c}خواهم";
        assert!(note(&id, plain).ends_with(plain));
    }

    #[test]
    fn long_feedback_is_cut_and_says_where_the_rest_is() {
        let told = bounded(&"é".repeat(100_000));
        assert!(told.chars().count() < MAX_CHARS + 300);
        assert!(told.contains("codex://feedback"));
    }

    /// Text with much in it that a terminal, or Claude Code, would act on.
    fn hostile() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            any::<String>(),
            "[\\x00-\\x1f\\x7f-\\x9f]{1,4}",
            prop::sample::select(vec![
                "\u{1b}[201~",
                "\r",
                "\r\n",
                "\n!touch x\n",
                "\n/exit\n",
                "\u{202e}",
                "\u{2066}",
                "\u{2028}",
                "\u{feff}",
            ])
            .prop_map(str::to_owned),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    #[test]
    fn enter_is_enter_also_after_a_backslash() {
        let id = MessageId::random();
        assert!(note(&id, "a path\\").ends_with("a path\\ "));
        assert!(note(&id, "a path").ends_with("a path"));
    }

    #[test]
    fn nothing_that_acts_gets_through_however_it_is_changed() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/corpus/message");
        corpus_fuzz::fuzz(std::path::Path::new(corpus), |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let id = MessageId::random();
            let told = note(&id, &text);
            assert!(told.starts_with(&format!("[claude-codex {id}] ")));
            assert_eq!(first_hidden(&told), None, "{told:?}");
            assert!(told.chars().count() <= MAX_CHARS + 400);
        });
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_message_begins_with_its_own_line(title in hostile(), text in hostile()) {
            let id = MessageId::random();
            let first = header(&id, &title);
            let start = format!("[claude-codex {id}] ");
            prop_assert!(first.starts_with(&start));
            prop_assert!(!first.contains('\n'));
            let told = note(&id, &text);
            prop_assert!(told.starts_with(&start));
            prop_assert_eq!(first_hidden(&told), None);
        }

        #[test]
        fn a_long_text_is_cut(text in hostile(), times in 1_usize..400) {
            let cut = bounded(&text.repeat(times));
            prop_assert!(cut.chars().count() <= MAX_CHARS + 100);
        }
    }
}
