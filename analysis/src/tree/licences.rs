//! Licence files: which they are and who holds the copyright.

use std::collections::HashSet;
use std::path::Path;

use super::working_tree::Tree;
use crate::paths::{folder_of, name_of};

const LICENCES: &[&str] = &["license", "licence", "copying", "copyright", "unlicense"];

/// Largest licence file that is read.
pub(crate) const MAX_LICENCE_SIZE: u64 = 64 << 10;

/// Most licence files that are read.
pub(crate) const MAX_LICENCES: usize = 200;

/// Returns the texts of the repository's own licences.
pub(crate) fn own_licences(root: &Path, tree: &Tree) -> Vec<Vec<u8>> {
    tree.files
        .iter()
        .filter(|file| folder_of(&file.path).is_empty() && is_licence(&file.path))
        .take(MAX_LICENCES)
        .filter_map(|file| file.read(root, MAX_LICENCE_SIZE))
        .map(|text| text.trim_ascii().to_vec())
        .collect()
}

pub(crate) fn is_licence(path: &str) -> bool {
    let name = name_of(path);
    LICENCES.iter().any(|word| {
        name.get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
            && !name
                .as_bytes()
                .get(word.len())
                .is_some_and(u8::is_ascii_alphabetic)
            && ![".c", ".h", ".go", ".js", ".py", ".rs", ".ts"]
                .iter()
                .any(|code| name.ends_with(code))
    })
}

/// Returns who holds the copyright, in lower case and without years.
pub(crate) fn holders(text: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(text)
        .lines()
        .map(str::to_lowercase)
        .filter_map(|line| {
            let line = line.trim_start_matches(|it: char| !it.is_alphanumeric());
            let rest = line.strip_prefix("copyright")?;
            let rest = rest.replace("(c)", " ").replace("all rights reserved", " ");
            // "Copyright notice" and "copyright law" name nobody: a year does.
            if !rest.contains(|it: char| it.is_ascii_digit()) {
                return None;
            }
            let name = rest.split(['<', '(']).next().unwrap_or_default();
            let words: Vec<&str> = name
                .split(|it: char| !it.is_alphabetic())
                .filter(|word| !matches!(*word, "" | "by" | "the" | "present" | "and"))
                .collect();
            (!words.is_empty()).then(|| words.join(" "))
        })
        .collect()
}

/// Returns whether two names are those of the same holder: one has all words of the other.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    let words = |name: &str| -> HashSet<String> {
        name.split_whitespace()
            .filter(|word| !matches!(*word, "inc" | "llc" | "ltd" | "authors" | "contributors"))
            .map(str::to_owned)
            .collect()
    };
    let (one, other) = (words(one), words(other));
    one.is_empty() || other.is_empty() || one.is_subset(&other) || other.is_subset(&one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licence_files_and_holders() {
        for path in [
            "a/LICENSE",
            "COPYING.txt",
            "b/License-MIT",
            "LICENCE.md",
            "lua/COPYRIGHT",
        ] {
            assert!(is_licence(path), "{path}");
        }
        for path in [
            "licenses/x.rs",
            "src/license.rs",
            "licensed.txt",
            "copyright.go",
        ] {
            assert!(!is_licence(path), "{path}");
        }
        let text = "Copyright (c) 2006-2011, Ann Lee <ann@x.com>\n * Copyright 2020 The Foo Authors. All rights reserved.\nthe above copyright notice\nCopyright notice\n";
        assert_eq!(holders(text.as_bytes()), ["ann lee", "foo authors"]);
        assert!(is_same("ann lee", "ann b lee") && is_same("foo authors", "foo inc"));
        assert!(!is_same("ann lee", "bob lee"));
    }
}
