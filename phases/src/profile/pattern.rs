//! Patterns for paths: `*`, `**`, `?` and `{a,b}`.
//!
//! Written for a process that lives three milliseconds: a library would compile regular expressions first.

/// Tells whether a path with `/` between its parts fits a pattern.
pub(super) fn fits(pattern: &str, path: &str) -> bool {
    alternatives(pattern, |plain| matches(plain.as_bytes(), path.as_bytes()))
}

/// Tries each way to read the first `{a,b}` of a pattern.
fn alternatives(pattern: &str, mut fits: impl FnMut(&str) -> bool) -> bool {
    fn expand(pattern: &str, fits: &mut dyn FnMut(&str) -> bool) -> bool {
        let group = pattern
            .find('{')
            .and_then(|open| Some((open, open + pattern[open..].find('}')?)));
        let Some((open, close)) = group else {
            return fits(pattern);
        };
        pattern[open + 1..close].split(',').any(|choice| {
            let plain = format!("{}{choice}{}", &pattern[..open], &pattern[close + 1..]);
            expand(&plain, fits)
        })
    }
    expand(pattern, &mut fits)
}

fn matches(pattern: &[u8], path: &[u8]) -> bool {
    if let Some(rest) = pattern.strip_prefix(b"**/") {
        // Any number of folders, also none.
        return matches(rest, path)
            || path
                .iter()
                .enumerate()
                .any(|(at, byte)| *byte == b'/' && matches(rest, &path[at + 1..]));
    }
    match pattern.first() {
        None => path.is_empty(),
        Some(b'*') if pattern == b"**" => !path.is_empty(),
        Some(b'*') => {
            let rest = &pattern[1..];
            let end = path
                .iter()
                .position(|byte| *byte == b'/')
                .unwrap_or(path.len());
            (0..=end).any(|at| matches(rest, &path[at..]))
        }
        Some(b'?') => {
            path.first().is_some_and(|byte| *byte != b'/') && matches(&pattern[1..], &path[1..])
        }
        Some(byte) => path.first() == Some(byte) && matches(&pattern[1..], &path[1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns_fit_what_people_expect() {
        for (pattern, path, expected) in [
            ("src/**", "src/a/b.rs", true),
            ("src/**", "src/", false),
            ("src/**", "other/src/b.rs", false),
            ("**/*.rs", "a.rs", true),
            ("**/*.rs", "x/y/a.rs", true),
            ("*.rs", "x/a.rs", false),
            ("**/*.{test,spec}.{ts,js}", "src/a.spec.js", true),
            ("**/*.{test,spec}.{ts,js}", "src/a.spec.py", false),
            ("**/test_*.py", "pkg/test_a.py", true),
            ("**/test_*.py", "pkg/latest_a.py", false),
            ("**/tests/**", "tests/a", true),
            ("**/tests/**", "a/tests/b/c", true),
            ("**/tests/**", "a/testsuite/b", false),
            ("a?c", "abc", true),
            ("a?c", "a/c", false),
            ("**", "x", true),
            ("src/{a", "src/{a", true),
        ] {
            assert_eq!(fits(pattern, path), expected, "{pattern} {path}");
        }
    }
}
