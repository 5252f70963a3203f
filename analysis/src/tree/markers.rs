//! Finds TODO, FIXME, HACK and XXX markers in comments.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use memchr::{memchr, memchr_iter, memrchr};

use super::grammar::Grammar;
use super::lexer::{self, Listener};
use crate::paths::printable;
use crate::report::codebase::MarkerKind;
use crate::text::shortened;

const WORDS: [(&str, MarkerKind); 4] = [
    ("TODO", MarkerKind::Todo),
    ("FIXME", MarkerKind::Fixme),
    ("HACK", MarkerKind::Hack),
    ("XXX", MarkerKind::Xxx),
];

/// Longest text kept of a marker's line.
const MAX_TEXT_LENGTH: usize = 160;

/// Most markers kept of one file, so that a file full of them can't fill the memory.
const MAX_PER_FILE: usize = 200;

static SEARCH: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::new(WORDS.map(|(word, _)| word)).ok());

/// A marker in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundMarker {
    pub(crate) kind: MarkerKind,
    /// Counted from 1.
    pub(crate) line: u64,
    pub(crate) text: String,
}

struct Comments(Vec<(usize, usize)>);

impl MarkerKind {
    /// Returns the word as written in the code.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Fixme => "FIXME",
            Self::Hack => "HACK",
            Self::Xxx => "XXX",
            Self::Todo => "TODO",
        }
    }
}

impl Listener for Comments {
    fn comment(&mut self, start: usize, end: usize) {
        self.0.push((start, end));
    }
}

/// Finds the markers in the comments of a text.
pub(crate) fn find(bytes: &[u8], grammar: &Grammar) -> Vec<FoundMarker> {
    let Some(search) = SEARCH.as_ref() else {
        return Vec::new();
    };
    // Prose speaks about such words more often than it uses them.
    if grammar.prose {
        return Vec::new();
    }
    let hits: Vec<(usize, usize, MarkerKind)> = search
        .find_iter(bytes)
        .filter(|hit| stands_alone(bytes, hit.start(), hit.end()))
        .map(|hit| (hit.start(), hit.end(), WORDS[hit.pattern().as_usize()].1))
        .collect();
    if hits.is_empty() {
        return Vec::new();
    }
    let mut comments = Comments(Vec::new());
    lexer::scan(bytes, grammar, &mut comments);
    let mut found: Vec<FoundMarker> = Vec::new();
    let (mut line, mut counted, mut judged) = (1, 0, 0);
    for (start, end, kind) in hits {
        let after = comments.0.partition_point(|comment| comment.0 <= start);
        let inside = after > 0 && comments.0[after - 1].1 >= end;
        if !inside || found.len() == MAX_PER_FILE {
            continue;
        }
        line += memchr_iter(b'\n', &bytes[counted..start]).count() as u64;
        counted = start;
        if judged == line {
            continue;
        }
        judged = line;
        let line_start = memrchr(b'\n', &bytes[..start])
            .map_or(0, |at| at + 1)
            .max(comments.0[after - 1].0);
        let line_end = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |offset| start + offset);
        // A line with several of these words speaks about them.
        let is_mention = search
            .find_iter(&bytes[line_start..line_end])
            .any(|other| WORDS[other.pattern().as_usize()].1 != kind);
        if is_mention
            || (kind == MarkerKind::Xxx && !is_marker(&bytes[line_start..], start - line_start))
        {
            continue;
        }
        let from = if start - line_start < 40 {
            line_start
        } else {
            start
        };
        found.push(FoundMarker {
            kind,
            line,
            text: shortened(
                printable(bytes[from..line_end].trim_ascii()).trim(),
                MAX_TEXT_LENGTH,
            ),
        });
    }
    found
}

/// Tells a mark from letters that stand for others, such as a time zone: a mark begins the line, or what it says follows.
fn is_marker(line: &[u8], at: usize) -> bool {
    let is_first = !line[..at].iter().any(u8::is_ascii_alphanumeric);
    match line.get(at + "XXX".len()) {
        Some(b':' | b'(') => true,
        Some(b'-' | b'.') => false,
        _ => is_first,
    }
}

/// Tells a mark from a part of a word and from a mention: `TODO(x)` and `TODO:` count, `TODOS`, `MY_TODO` and a
/// word in quotes or in a list of such words don't.
fn stands_alone(bytes: &[u8], start: usize, end: usize) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'-';
    let before = start.checked_sub(1).and_then(|at| bytes.get(at));
    let is_quote = |byte: &u8| matches!(byte, b'`' | b'"' | b'\'');
    let is_mention = |byte: &u8| is_quote(byte) || matches!(byte, b',' | b'/' | b'|');
    !before.is_some_and(|byte| is_word(byte) || is_quote(byte))
        && !bytes.get(end).is_some_and(is_mention)
        && !bytes
            .get(end)
            .is_some_and(|byte| is_word(byte) && *byte != b'-')
}

#[cfg(test)]
mod tests {
    use super::super::language::named;
    use super::*;

    #[test]
    fn only_words_in_comments_count() {
        let text = "let TODO = 1; // TODO(ann): fix\nlet s = \"FIXME\";\n/* a\n * HACK around\n */\n// TODOS XXXX\n// FIXME, HACK and XXX before TODO\n// `HACK`\n// support XXX format\n// XXX-XX-1\n// XXX odd\n// now XXX: late\n";
        let found = find(text.as_bytes(), named("Rust").unwrap().grammar());
        let seen: Vec<_> = found
            .iter()
            .map(|marker| (marker.kind, marker.line, marker.text.as_str()))
            .collect();
        assert_eq!(
            seen,
            [
                (MarkerKind::Todo, 1, "// TODO(ann): fix"),
                (MarkerKind::Hack, 4, "* HACK around"),
                (MarkerKind::Xxx, 11, "// XXX odd"),
                (MarkerKind::Xxx, 12, "// now XXX: late"),
            ]
        );
    }
}
