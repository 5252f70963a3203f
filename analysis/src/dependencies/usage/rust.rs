//! Crates in Rust code.

use std::collections::HashSet;

use super::Import;
use super::masking::{Style, code_only};
use crate::report::dependencies::Confidence;

/// The folder of code that build scripts make; who includes from it uses crates unseen.
pub(super) const GENERATED: &str = "OUT_DIR";

/// Returns the names by which code may know a crate.
pub(super) fn names_of(package: &str) -> Vec<(String, Confidence)> {
    let name = package.replace('-', "_");
    let mut names = vec![(name.clone(), Confidence::High)];
    // Some libraries are named without the decoration of their package (rust-ini, md-5).
    for guess in [
        name.strip_prefix("rust_"),
        name.strip_suffix("_rs"),
        name.strip_suffix("_rust"),
    ] {
        names.extend(guess.map(|guess| (guess.to_owned(), Confidence::Low)));
    }
    if name.contains('_') {
        names.push((name.replace('_', ""), Confidence::Low));
    }
    names
}

/// Finds crates in paths (`name::`), `use` and `extern crate`; other mentions are weak.
pub(super) fn imports(text: &str, known: &HashSet<String>) -> Vec<Import> {
    let code = code_only(text, Style::Rust);
    let mut strong: HashSet<&str> = HashSet::new();
    let mut previous = "";
    for (at, word) in words(&code) {
        if known.contains(word) && is_crate(&code, at, word, previous) {
            strong.insert(word);
        }
        previous = word;
    }
    let weak: HashSet<&str> = words(text)
        .map(|(_, word)| word)
        .filter(|word| known.contains(*word) && !strong.contains(word))
        .collect();
    let import = |(name, weak): (&str, bool)| Import {
        name: name.to_owned(),
        weak,
    };
    let strong = strong.into_iter().map(|name| (name, false));
    strong
        .chain(weak.into_iter().map(|name| (name, true)))
        .map(import)
        .collect()
}

fn is_crate(code: &str, at: usize, word: &str, previous: &str) -> bool {
    let before = code[..at].trim_end();
    // `::name` at the start of a path is a crate, `a::name` is not.
    let inner = before.strip_suffix("::").is_some_and(|head| {
        head.ends_with(|last: char| last.is_alphanumeric() || last == '_' || last == '>')
    });
    if inner || before.ends_with('.') {
        return false;
    }
    let after = code[at + word.len()..].trim_start();
    after.starts_with("::")
        || (matches!(previous, "use" | "crate")
            && (after.starts_with([';', ',', '}']) || after.starts_with("as ")))
}

/// Returns the identifiers of a text and where they start.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
        let bytes = text.as_bytes();
        let start = at + bytes.get(at..)?.iter().position(is_word)?;
        let length = bytes[start..]
            .iter()
            .position(|byte| !is_word(byte))
            .unwrap_or(bytes.len() - start);
        at = start + length;
        Some((start, text.get(start..at).unwrap_or_default()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, name: &str) -> Option<bool> {
        let known = HashSet::from([name.to_owned()]);
        imports(text, &known).first().map(|import| import.weak)
    }

    #[test]
    fn crates_are_told_from_words() {
        assert_eq!(found("use serde::Serialize;", "serde"), Some(false));
        assert_eq!(found("use {\n  regex, std::fmt };", "regex"), Some(false));
        assert_eq!(
            found("#[tokio::main] async fn main() {}", "tokio"),
            Some(false)
        );
        assert_eq!(found("extern crate libc as c;", "libc"), Some(false));
        assert_eq!(found("let x = ::anyhow::Error;", "anyhow"), Some(false));
        assert_eq!(found("use self::regex::Regex;", "regex"), Some(true));
        assert_eq!(found("// toml::from_str\n", "toml"), Some(true));
        assert_eq!(
            found("#[serde(with = \"humantime_serde\")]", "humantime_serde"),
            Some(true)
        );
        assert_eq!(found("fn main() {}", "serde"), None);
    }
}
