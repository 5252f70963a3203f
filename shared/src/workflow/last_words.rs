//! Last words of a turn: the last paragraph that an agent said, made harmless and short enough to be stored.

use crate::model::hidden::drop_hidden;
use crate::model::secrets::redacted;

/// How much of a paragraph is kept.
const MAX_BYTES: usize = 2 << 10;
/// How much of the end of a longer text is looked at.
const MAX_LOOK_BYTES: usize = 16 << 10;

/// Returns the last paragraph of what an agent said, without hidden characters and secrets.
pub fn last_paragraph(text: &str) -> Option<String> {
    let text = &text[floor(text, text.len().saturating_sub(MAX_LOOK_BYTES))..];
    // Secrets are looked for in all of it: one may span paragraphs.
    let text = drop_hidden(text).replace('\r', "");
    let text = redacted(&text);
    let mut paragraph: Vec<&str> = Vec::new();
    for line in text.lines().rev() {
        match (line.trim().is_empty(), paragraph.is_empty()) {
            (true, true) => {}
            (true, false) => break,
            (false, _) => paragraph.push(line.trim_end()),
        }
    }
    paragraph.reverse();
    let mut paragraph = paragraph.join("\n");
    if paragraph.len() > MAX_BYTES {
        paragraph.truncate(floor(&paragraph, MAX_BYTES - '…'.len_utf8()));
        paragraph.push('…');
    }
    (!paragraph.is_empty()).then_some(paragraph)
}

/// Returns the last place at or before an index where a character begins.
fn floor(text: &str, index: usize) -> usize {
    (0..=index)
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_paragraph_is_kept_short_and_harmless() {
        assert_eq!(last_paragraph(" \n\n"), None);
        assert_eq!(
            last_paragraph("Done.\n\nTwo ways:\n- a\n- b\n \n").as_deref(),
            Some("Two ways:\n- a\n- b")
        );
        assert_eq!(
            last_paragraph("Which\u{202e} one\u{1b}?").as_deref(),
            Some("Which one?")
        );
        let secret = format!("The token is ghp_{}.", "a".repeat(36));
        let said = last_paragraph(&secret).unwrap();
        assert!(!said.contains("aaaa"), "{said}");
        let long = last_paragraph(&"日".repeat(20_000)).unwrap();
        assert!(long.len() <= MAX_BYTES && long.ends_with('…'));
    }
}
