//! Finds the `#[cfg(test)]` items inside Rust files.

use std::ops::Range;

use memchr::memmem;

use super::grammar::Grammar;
use super::masking::code_only;

/// How attributes begin that hold for tests alone: `#[cfg(test)]`, `#[cfg(all(test, unix))]`.
const ATTRIBUTES: [&[u8]; 2] = [b"#[cfg(test)", b"#[cfg(all(test"];

/// Returns whether a file whose name ends in `_test` has tests of its own, and not only such that go with its code.
pub(crate) fn is_test_file(path: &str, bytes: &[u8], grammar: &Grammar) -> bool {
    if !(path.ends_with("_test.rs") || path.ends_with("_tests.rs")) {
        return false;
    }
    let inside = test_ranges(bytes, grammar);
    let code = code_only(bytes, grammar);
    [
        &b"#[test]"[..],
        b"::test]",
        b"::test(",
        b"#[rstest",
        b"#![cfg(test)]",
    ]
    .iter()
    .any(|mark| {
        memmem::find_iter(&code, mark).any(|at| !inside.iter().any(|range| range.contains(&at)))
    })
}

/// Returns the byte ranges of `#[cfg(test)]` items, attribute included.
pub(crate) fn test_ranges(bytes: &[u8], grammar: &Grammar) -> Vec<Range<usize>> {
    // Masking takes a copy, which most files don't need.
    if ATTRIBUTES
        .iter()
        .all(|attribute| memmem::find(bytes, attribute).is_none())
    {
        return Vec::new();
    }
    ranges_in_code(&code_only(bytes, grammar))
}

/// Does the same for code whose comments and strings are masked, so that every brace counts.
pub(crate) fn ranges_in_code(code: &[u8]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = 0;
    while let Some(offset) = memmem::find(&code[from..], b"#[cfg(") {
        let start = from + offset;
        let line = memchr::memrchr(b'\n', &code[..start]).map_or(0, |at| at + 1);
        from = start + b"#[cfg(".len();
        let holds = ATTRIBUTES.iter().any(|attribute| {
            let rest = code[start..].strip_prefix(*attribute);
            rest.is_some_and(|rest| matches!(rest.first(), Some(b']' | b',' | b' ' | b')')))
        });
        if !holds || !code[line..start].iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        // Braces that never close would be searched again from each attribute.
        let Some(end) = item_end(code, start + 1) else {
            break;
        };
        ranges.push(line..end);
        from = end;
    }
    ranges
}

/// Finds the end of the item that starts at `from`: its closing brace or semicolon with the rest of that line.
fn item_end(code: &[u8], from: usize) -> Option<usize> {
    let (mut braces, mut brackets) = (0usize, 0usize);
    for (at, byte) in code.iter().enumerate().skip(from) {
        match byte {
            b'{' => braces += 1,
            b'(' | b'[' => brackets += 1,
            b')' | b']' => brackets = brackets.checked_sub(1)?,
            b'}' => braces = braces.checked_sub(1)?,
            _ => {}
        }
        if braces == 0 && brackets == 0 && matches!(byte, b'}' | b';') {
            // `use a::{b};` goes on to its semicolon.
            if code.get(at + 1) == Some(&b';') {
                continue;
            }
            let rest = memchr::memchr(b'\n', &code[at..]);
            return Some(rest.map_or(code.len(), |offset| at + offset + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::language::named;
    use super::*;

    #[test]
    fn finds_items_and_passes_over_braces_in_strings() {
        let text = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    // }\n    const A: &str = \"}\\\"}\";\n    fn c() { '}'; r#\"}\"\"#; }\n}\n\nfn b() {}\n#[cfg(test)]\nmod far;\n#[cfg(all(test, unix))]\nuse a::{b, c};\n#[cfg(any(test, unix))]\nuse d;\n";
        let ranges = test_ranges(text.as_bytes(), named("Rust").unwrap().grammar());
        let far = &text[ranges[1].clone()];
        let both = &text[ranges[2].clone()];
        assert_eq!(far, "#[cfg(test)]\nmod far;\n");
        assert_eq!(both, "#[cfg(all(test, unix))]\nuse a::{b, c};\n");
        assert_eq!(ranges.len(), 3);
        let inside = &text[ranges[0].clone()];
        assert!(
            inside.starts_with("#[cfg(test)]") && inside.ends_with("; }\n}\n"),
            "{inside}"
        );
    }
}
