//! Text from agents, repositories and files, made harmless for a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Stands for a character that a terminal would obey instead of showing it.
const REPLACEMENT: char = '\u{fffd}';

/// Tells whether a terminal would obey the character, or show it somewhere else.
fn is_harmful(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// Makes one line of any text: line breaks and tabs become spaces, what is harmful a mark.
pub(crate) fn harmless(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\n' | '\r' | '\t' => ' ',
            character if is_harmful(character) => REPLACEMENT,
            character => character,
        })
        .collect()
}

/// The same for a text of several lines, which it keeps.
pub(crate) fn harmless_block(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .map(|character| match character {
            '\n' => '\n',
            '\t' => ' ',
            character if is_harmful(character) => REPLACEMENT,
            character => character,
        })
        .collect()
}

/// Returns the first line that says something, on one line.
pub(crate) fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty());
    harmless(line.unwrap_or_default().trim())
}

/// Returns how many columns a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// Cuts a text to a number of columns, and shows that it was cut.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_gets_through() {
        assert_eq!(
            harmless("a\x1b[31mb\u{9b}c\u{7}"),
            "a\u{fffd}[31mb\u{fffd}c\u{fffd}"
        );
        assert_eq!(harmless("a\nb\tc"), "a b c");
        assert_eq!(harmless("evil\u{202e}txt"), "evil\u{fffd}txt");
        assert_eq!(harmless_block("a\r\nb\rc"), "a\nb\u{fffd}c");
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
    fn the_first_line_that_says_something() {
        assert_eq!(first_line("\n  \n  Fix it \nand more"), "Fix it");
        assert_eq!(first_line(""), "");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_made_harmless(text: String, width in 0_usize..40) {
            let line = harmless(&text);
            proptest::prop_assert!(!line.contains(is_harmful), "{line:?}");
            proptest::prop_assert_eq!(line.chars().count(), text.chars().count());
            let block = harmless_block(&text);
            proptest::prop_assert!(!block.replace('\n', "").contains(is_harmful), "{block:?}");
            proptest::prop_assert!(columns(&cut(&line, width)) <= width);
            proptest::prop_assert!(!first_line(&text).contains(is_harmful));
        }
    }
}
