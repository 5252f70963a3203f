//! Untrusted text (agents, repositories, files) made harmless for a terminal: escape sequences, bidi and hidden characters.

pub(crate) use shared::model::counted as count;
use shared::model::hidden::{Piece, pieces, reveal, reveal_in_line};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Turns any text into one line: line breaks and tabs become spaces, hidden characters are shown as `<U+202E>`.
pub(crate) fn harmless(text: &str) -> String {
    reveal_in_line(text)
}

/// Like [`harmless`], but keeps line breaks.
pub(crate) fn harmless_block(text: &str) -> String {
    reveal(text).replace('\t', " ")
}

/// Like [`harmless`] for a JSON document: hidden characters become `\\uXXXX` escapes, so the document means the same.
pub(crate) fn harmless_json(document: &str) -> String {
    let mut shown = String::with_capacity(document.len());
    for piece in pieces(document) {
        match piece {
            Piece::Visible(part) => shown.push_str(part),
            // JSON has hidden characters only inside strings.
            Piece::Hidden(character) => {
                let units = character.encode_utf16(&mut [0; 2]).to_vec();
                shown.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
            }
        }
    }
    shown
}

/// Returns the first line that is not blank.
pub(crate) fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty());
    harmless(line.unwrap_or_default().trim())
}

/// Returns the width of a text in terminal columns.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// Cuts a text to a number of columns, with an ellipsis.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > most {
            break;
        }
        kept.push(character);
    }
    if most > 0 {
        kept.push('…');
    }
    kept
}

/// Breaks a text into harmless lines of so many columns, between words where it can; what is beyond `most` lines ends in `…`.
pub(crate) fn wrapped(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines().map(harmless) {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && columns(&line) + 1 + columns(word) > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            for character in word.chars() {
                // A word that is longer than a line.
                if !line.is_empty() && columns(&line) + character.width().unwrap_or(0) > width {
                    lines.push(std::mem::take(&mut line));
                }
                line.push(character);
            }
        }
        if !line.is_empty() {
            lines.push(line);
        }
    }
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = cut(&format!("{} …", cut(last, width.saturating_sub(2))), width);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use shared::model::hidden::first_hidden;

    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_gets_through() {
        assert_eq!(
            harmless("a\x1b[31mb\u{9b}c\u{7}"),
            "a<U+001B>[31mb<U+009B>c<U+0007>"
        );
        assert_eq!(harmless("a\nb\tc"), "a b c");
        assert_eq!(harmless("evil\u{202e}txt"), "evil<U+202E>txt");
        assert_eq!(harmless("a\u{e0041}\u{200b}b"), "a<U+E0041><U+200B>b");
        assert_eq!(harmless_block("a\r\nb\rc"), "a\nb<U+000D>c");
    }

    #[test]
    fn a_json_document_means_the_same() {
        let value = serde_json::json!({ "a": "\u{9b}2J\u{202e}\u{e0041}é日\n", "b": ["\u{7f}"] });
        let shown = harmless_json(&serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(first_hidden(&shown), None, "{shown}");
        assert!(
            shown.contains("\\u009b2J\\u202e\\udb40\\udc41é日\\n"),
            "{shown}"
        );
        let read: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(read, value);
    }

    #[test]
    fn cutting_counts_columns() {
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abc", 0), "");
        assert_eq!(cut("abcd", 3), "ab…");
    }

    #[test]
    fn wrapping_breaks_between_words_where_it_can() {
        assert_eq!(wrapped("one two three", 8, 9), ["one two", "three"]);
        assert_eq!(wrapped("one\n\n two", 8, 9), ["one", "two"]);
        assert_eq!(wrapped("a/long/path b", 4, 9), ["a/lo", "ng/p", "ath", "b"]);
        assert_eq!(wrapped("日本語", 4, 9), ["日本", "語"]);
        assert_eq!(wrapped("one two three four", 9, 2), ["one two", "three …"]);
        assert!(wrapped("", 9, 2).is_empty());
    }

    #[test]
    fn the_first_line_that_says_something() {
        assert_eq!(first_line("\n  \n  Fix it \nand more"), "Fix it");
        assert_eq!(first_line(""), "");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_made_harmless(text: String, width in 0_usize..40) {
            let line = harmless(&text);
            proptest::prop_assert_eq!(first_hidden(&line), None, "{:?}", line);
            proptest::prop_assert!(!line.contains(['\n', '\t']));
            let block = harmless_block(&text);
            proptest::prop_assert_eq!(first_hidden(&block), None, "{:?}", block);
            proptest::prop_assert!(columns(&cut(&line, width)) <= width);
            for line in wrapped(&text, width.max(2), 3) {
                proptest::prop_assert!(columns(&line) <= width.max(2), "{line:?}");
            }
            proptest::prop_assert_eq!(first_hidden(&first_line(&text)), None);
        }
    }
}
