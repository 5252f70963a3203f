//! Finds the `#[cfg(test)]` items inside Rust files.

use std::ops::Range;

use memchr::memmem;

use super::grammar::{Grammar, Token};

const ATTRIBUTE: &[u8] = b"#[cfg(test)]";

/// Returns the byte ranges of `#[cfg(test)]` items that have a body, attribute included.
pub(crate) fn test_ranges(bytes: &[u8], grammar: &Grammar) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = 0;
    while let Some(offset) = memmem::find(&bytes[from..], ATTRIBUTE) {
        let start = from + offset;
        let line = bytes[..start]
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        from = start + ATTRIBUTE.len();
        if !bytes[line..start].iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if let Some(end) = item_end(bytes, from, grammar) {
            ranges.push(line..end);
            from = end;
        }
    }
    ranges
}

/// Finds the end of the item that starts at `from`: its closing brace with the rest of that line.
fn item_end(bytes: &[u8], from: usize, grammar: &Grammar) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'{' => depth += 1,
            b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    let rest = memchr::memchr(b'\n', &bytes[at..]);
                    return Some(rest.map_or(bytes.len(), |offset| at + offset + 1));
                }
            }
            b';' if depth == 0 => return None,
            b'/' | b'"' | b'\'' => {
                at += skipped(bytes, at, grammar);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns the length of the comment or string at `at`, or 1.
fn skipped(bytes: &[u8], at: usize, grammar: &Grammar) -> usize {
    let rest = &bytes[at..];
    let length = match grammar.token(bytes, at) {
        Token::LineComment => memchr::memchr(b'\n', rest),
        Token::Block { start, end } => {
            memmem::find(&rest[start.len()..], end).map(|offset| start.len() + offset + end.len())
        }
        Token::Quote(_) => closing_quote(rest),
        Token::RustRaw { hashes } => {
            let mut close = vec![b'"'];
            close.resize(1 + hashes, b'#');
            memmem::find(&rest[1..], &close).map(|offset| 1 + offset + close.len())
        }
        Token::Skip(length) => Some(length),
        Token::CppRaw { .. } | Token::Nothing => Some(1),
    };
    length.unwrap_or(rest.len()).max(1)
}

fn closing_quote(rest: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        let offset = memchr::memchr2(b'"', b'\\', rest.get(at..)?)?;
        at += offset;
        if rest[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::super::language::named;
    use super::*;

    #[test]
    fn finds_modules_and_passes_over_braces_in_strings() {
        let text = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    // }\n    const A: &str = \"}\\\"}\";\n    fn c() { '}'; r#\"}\"\"#; }\n}\n\nfn b() {}\n#[cfg(test)]\nmod far;\n";
        let ranges = test_ranges(text.as_bytes(), named("Rust").unwrap().grammar());
        assert_eq!(ranges.len(), 1);
        let inside = &text[ranges[0].clone()];
        assert!(
            inside.starts_with("#[cfg(test)]") && inside.ends_with("; }\n}\n"),
            "{inside}"
        );
    }
}
