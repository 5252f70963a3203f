//! Blanks comments and texts out of source code, so that patterns match code alone.
//!
//! Not a parser: it knows how each language starts and ends comments and texts, no more. The
//! result has the length and the lines of the source.

/// How a language writes comments and texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Style {
    /// `//`, `/* */`, `"…"`, `'…'` and backticks over several lines: JavaScript, Go, Java, Groovy.
    C,
    /// As C, with nested comments, raw texts and lifetimes.
    Rust,
    /// `#`, and texts in one or three quotes.
    Python,
}

/// Blanks comments and keeps texts.
pub(in super::super) fn without_comments(source: &str, style: Style) -> String {
    masked(source, style, false)
}

/// Blanks comments and texts.
pub(in super::super) fn code_only(source: &str, style: Style) -> String {
    masked(source, style, true)
}

fn masked(source: &str, style: Style, texts: bool) -> String {
    let bytes = source.as_bytes();
    let mut result = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let (end, blank) = match style {
            Style::C => c_piece(bytes, at),
            Style::Rust => rust_piece(bytes, at),
            Style::Python => python_piece(bytes, at),
        };
        let piece = &bytes[at..end];
        let blank = match blank {
            Piece::Code => false,
            Piece::Comment => true,
            Piece::Text => texts,
        };
        if blank {
            result.extend(
                piece
                    .iter()
                    .map(|&byte| if byte == b'\n' { b'\n' } else { b' ' }),
            );
        } else {
            result.extend_from_slice(piece);
        }
        at = end;
    }
    // Pieces begin and end at ASCII characters, so no character was cut.
    String::from_utf8(result).unwrap_or_default()
}

enum Piece {
    Code,
    Comment,
    Text,
}

/// Returns where the piece that starts here ends, and what it is.
fn c_piece(bytes: &[u8], at: usize) -> (usize, Piece) {
    match (bytes[at], bytes.get(at + 1)) {
        (b'/', Some(b'/')) => (line_end(bytes, at), Piece::Comment),
        (b'/', Some(b'*')) => (after(bytes, at + 2, b"*/"), Piece::Comment),
        (b'"', _) if bytes[at..].starts_with(b"\"\"\"") => {
            (after(bytes, at + 3, b"\"\"\""), Piece::Text)
        }
        (quote @ (b'"' | b'\''), _) => (text_end(bytes, at + 1, quote, false), Piece::Text),
        (b'`', _) => (text_end(bytes, at + 1, b'`', true), Piece::Text),
        _ => (code_end(bytes, at, b"/\"'`"), Piece::Code),
    }
}

fn rust_piece(bytes: &[u8], at: usize) -> (usize, Piece) {
    match (bytes[at], bytes.get(at + 1)) {
        (b'/', Some(b'/')) => (line_end(bytes, at), Piece::Comment),
        (b'/', Some(b'*')) => (nested_end(bytes, at), Piece::Comment),
        (b'"', _) => (text_end(bytes, at + 1, b'"', true), Piece::Text),
        (b'r', Some(b'"' | b'#')) => raw_piece(bytes, at),
        (b'\'', _) => char_piece(bytes, at),
        _ => (code_end(bytes, at, b"/\"'r"), Piece::Code),
    }
}

fn python_piece(bytes: &[u8], at: usize) -> (usize, Piece) {
    match bytes[at] {
        b'#' => (line_end(bytes, at), Piece::Comment),
        quote @ (b'"' | b'\'') => {
            let triple = [quote; 3];
            if bytes[at..].starts_with(&triple) {
                (after(bytes, at + 3, &triple), Piece::Text)
            } else {
                (text_end(bytes, at + 1, quote, false), Piece::Text)
            }
        }
        _ => (code_end(bytes, at, b"#\"'"), Piece::Code),
    }
}

/// A raw text `r"…"`, `r#"…"#`; anything else that starts with r is code.
fn raw_piece(bytes: &[u8], at: usize) -> (usize, Piece) {
    let hashes = bytes[at + 1..]
        .iter()
        .take_while(|&&byte| byte == b'#')
        .count();
    let in_word = at > 0
        && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_')
        && bytes[at - 1] != b'b';
    if in_word || bytes.get(at + 1 + hashes) != Some(&b'"') {
        return (at + 1, Piece::Code);
    }
    let mut closing = vec![b'"'];
    closing.resize(hashes + 1, b'#');
    (after(bytes, at + 2 + hashes, &closing), Piece::Text)
}

/// A character `'x'`, or else a lifetime.
fn char_piece(bytes: &[u8], at: usize) -> (usize, Piece) {
    if bytes.get(at + 1) == Some(&b'\\') {
        return (text_end(bytes, at + 1, b'\'', false), Piece::Text);
    }
    // The longest character has four bytes.
    let close = bytes
        .iter()
        .skip(at + 2)
        .take(4)
        .position(|&byte| byte == b'\'');
    match close {
        Some(distance) if distance == 0 || !bytes[at + 1].is_ascii() => {
            (at + 3 + distance, Piece::Text)
        }
        _ => (at + 1, Piece::Code),
    }
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |found| at + found)
}

fn after(bytes: &[u8], from: usize, closing: &[u8]) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    memchr::memmem::find(rest, closing).map_or(bytes.len(), |found| from + found + closing.len())
}

fn text_end(bytes: &[u8], from: usize, quote: u8, over_lines: bool) -> usize {
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            // An unclosed text ends with its line: it was an apostrophe, or code we don't understand.
            b'\n' if !over_lines => return at,
            byte if byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

fn nested_end(bytes: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = at;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'/', Some(b'*')) => {
                depth += 1;
                at += 2;
            }
            (b'*', Some(b'/')) => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns where code ends that starts here: at the next character that may open something.
fn code_end(bytes: &[u8], at: usize, openers: &[u8]) -> usize {
    let next = bytes[at + 1..]
        .iter()
        .position(|byte| openers.contains(byte));
    next.map_or(bytes.len(), |found| at + 1 + found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_texts_go_and_lines_stay() {
        let rust =
            "use a; // b\n/* c /* d */ e */ let x: &'static str = \"f::g\"; 'h'; r#\"i\"#;\nj";
        let code = code_only(rust, Style::Rust);
        assert_eq!(code.len(), rust.len());
        assert_eq!(code.lines().count(), 3);
        for gone in ["b", "d", "f::g", "'h'", "\"i\""] {
            assert!(!code.contains(gone), "{gone} in {code}");
        }
        assert!(code.contains("use a;") && code.contains("'static str") && code.ends_with('j'));
    }

    #[test]
    fn texts_may_be_kept() {
        let source = "import x from \"y\"; // from 'z'\nconst t = `// no ${comment}`;";
        let kept = without_comments(source, Style::C);
        assert!(kept.contains("\"y\"") && !kept.contains('z') && kept.contains("// no"));
    }

    #[test]
    fn python_documentation_is_text() {
        let source = "\"\"\"\nimport fake\n\"\"\"\nimport real  # import other\n";
        let code = code_only(source, Style::Python);
        assert!(code.contains("import real") && !code.contains("fake") && !code.contains("other"));
    }
}
