//! Texts of messages to agents: feedback, lost reviews, notes; without hidden characters and of bounded size.
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

/// Message to a coder: changes are requested.
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
            review.reviewer_name(),
            review.round,
            reply.max_rounds
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

/// What a coder does about the word of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextStep {
    /// Work that is not published.
    GoOn,
    /// It has to be reviewed before it is published.
    AskForReview { pull: Option<u64> },
    /// Brings the pull request up to date.
    UpdatePull(u64),
}

impl NextStep {
    fn sentence(self) -> String {
        match self {
            Self::GoOn => "Next: fix what is right, commit, and go on with your task.".to_owned(),
            Self::AskForReview { pull: None } => {
                "Next: fix what is right, commit, and call request_review with what you changed. Then end your turn."
                    .to_owned()
            }
            Self::AskForReview { pull: Some(number) } => format!(
                "Next: fix what is right, commit, and call request_review with what you changed; the reviewer's approval brings pull request #{number} up to date. Then end your turn."
            ),
            Self::UpdatePull(number) => format!(
                "Next: fix what is right, commit, then call create_pr: it updates pull request #{number}."
            ),
        }
    }
}

/// Message to a coder: a person requests changes.
pub(super) fn sent_back(
    id: &MessageId,
    feedback: &str,
    findings: &[Finding],
    pull: Option<u64>,
    next: NextStep,
) -> String {
    let what = match pull {
        Some(number) => format!("pull request #{number}"),
        None => "your work".to_owned(),
    };
    let title = format!("The person who runs you has reviewed {what}: changes requested");
    let body = [feedback.trim().to_owned(), comments(findings)]
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(|part| format!("\n\n{part}"));
    let body: String = body.collect();
    format!(
        "{}{}\n\n{}",
        header(id, &title),
        bounded(&body),
        next.sentence()
    )
}

/// A conflict of a pull request with its base branch.
pub(super) struct Conflict<'a> {
    pub(super) number: u64,
    /// What to merge: the base branch, or what was fetched of it.
    pub(super) base: &'a str,
    pub(super) fetch_first: bool,
    /// Empty if the forge does not say.
    pub(super) files: &'a [String],
}

/// Message to a coder: its pull request conflicts, and a person wants it to resolve that.
pub(super) fn conflict(id: &MessageId, conflict: &Conflict<'_>, next: NextStep) -> String {
    let (number, base) = (conflict.number, harmless(conflict.base));
    let title = format!("Pull request #{number} conflicts with {base}, and you are to resolve it");
    let files: Vec<String> = conflict.files.iter().map(|file| harmless(file)).collect();
    let files = if files.is_empty() {
        String::new()
    } else {
        format!("\n\nFiles in conflict:\n- {}", files.join("\n- "))
    };
    let fetch = if conflict.fetch_first {
        "run `git fetch`, then "
    } else {
        ""
    };
    let next = match next {
        NextStep::AskForReview { .. } => format!(
            "Then call request_review with what you did: the reviewer's approval brings pull request #{number} up to date. Then end your turn."
        ),
        NextStep::UpdatePull(_) | NextStep::GoOn => {
            format!("Then call create_pr: it updates pull request #{number}.")
        }
    };
    format!(
        "{}{}\n\nNext: {fetch}merge {base} into your branch (`git merge {base}`; do not rebase), resolve the conflicts so that what both sides want is kept, run the tests, and commit the merge. {next}",
        header(id, &title),
        bounded(&files),
    )
}

/// Message to a coder: a person approves of what it has committed.
pub(super) fn approved(
    id: &MessageId,
    commit: &str,
    note: &str,
    findings: &[Finding],
    pull: Option<u64>,
) -> String {
    let commit: String = commit.chars().take(10).collect();
    let title = format!("The person who runs you has approved your work (commit {commit})");
    let body = [note.trim().to_owned(), comments(findings)]
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(|part| format!("\n\n{part}"));
    let body: String = body.collect();
    let publishes = match pull {
        Some(number) => format!("it updates pull request #{number}"),
        None => "it publishes your work".to_owned(),
    };
    format!(
        "{}{}\n\nNext: call create_pr: {publishes}. The approval is for exactly this commit, so commit nothing more before.",
        header(id, &title),
        bounded(&body)
    )
}

/// Lists the line comments of a person, who does not grade them.
fn comments(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let mut text = "Comments:".to_owned();
    for (index, comment) in findings.iter().enumerate() {
        let line = comment.line.map(|line| format!(":{line}"));
        text += &format!(
            "\n{}. {}{}: {}",
            index + 1,
            drop_hidden_in_line(&comment.file),
            line.unwrap_or_default(),
            comment.message
        );
    }
    text
}

/// Message to a coder: its reviewer was lost.
pub(super) fn review_lost(id: &MessageId, review: &Review, reason: &str) -> String {
    let title = format!(
        "The review by {} was lost: {}",
        review.reviewer_name(),
        harmless(reason)
    );
    format!(
        "{}\n\nIt does not count as a round. Next: call request_review again, then end your turn.",
        header(id, &title)
    )
}

/// Message to a coder whose session continues: its work was approved and published.
pub(super) fn published(id: &MessageId, review: &Review, number: u64, url: &str) -> String {
    let title = format!(
        "Approved by {} and published as pull request #{number}",
        review.reviewer_name()
    );
    format!(
        "{}\n\n{}\n\nYour work is done. There is nothing left to do; end your turn.",
        header(id, &title),
        harmless(url)
    )
}

/// What a person sends to an agent whose pull request is open.
pub(super) fn note_to_published(id: &MessageId, text: &str, number: u64) -> String {
    format!(
        "{}\n\nWhen there is nothing left to do, call create_pr: it brings pull request #{number} up to date.",
        note(id, text)
    )
}

/// What a person sends to an agent: whole, because no resource has the rest of it.
pub(super) fn note(id: &MessageId, text: &str) -> String {
    let text = harmless(text);
    // Claude Code takes a backslash before Enter as a line break, and drops the backslash.
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
