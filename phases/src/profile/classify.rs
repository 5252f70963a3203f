//! Classifies files as production code, tests, documentation or configuration: the person's globs, then the names
//! that projects of each language use.

use fast_glob::glob_match;

use super::language::Language;
use super::path_parts::{Name, is_source};
use super::{Profile, config_names, test_names};
use shared::model::FileKind;

const DOCUMENTS: [&str; 8] = [
    "adoc", "asciidoc", "markdown", "md", "mdx", "org", "rst", "tex",
];
const DOCUMENT_NAMES: [&str; 11] = [
    "README",
    "LICENSE",
    "LICENCE",
    "CHANGELOG",
    "CHANGES",
    "AUTHORS",
    "NOTICE",
    "CONTRIBUTING",
    "COPYING",
    "HISTORY",
    "MAINTAINERS",
];
const SETTINGS: [&str; 20] = [
    "cfg",
    "conf",
    "config",
    "editorconfig",
    "env",
    "ini",
    "json",
    "json5",
    "jsonc",
    "lock",
    "neon",
    "plist",
    "properties",
    "tf",
    "toml",
    "xcconfig",
    "xml",
    "yaml",
    "yml",
    "bzl",
];
/// Endings that belong to tests, whatever the language.
const TEST_ENDINGS: [&str; 5] = ["bats", "feature", "robot", "snap", "t"];
/// Folders of production code, with all that lies in them.
const SOURCE_FOLDERS: [&str; 6] = ["src", "app", "lib", "include", "Sources", "priv"];

/// Classifies a path: `in_project` is relative to the project, `in_worktree` to the worktree, because the name of a
/// project's own folder counts (`App.Tests/Helpers.cs`).
pub(super) fn kind(profile: &Profile, in_project: &str, in_worktree: &str) -> FileKind {
    let given = |patterns: &Option<Vec<String>>| {
        patterns
            .iter()
            .flatten()
            .any(|glob| glob_match(glob, in_project))
    };
    for (patterns, kind) in [
        (&profile.config, FileKind::Configuration),
        (&profile.docs, FileKind::Documentation),
        (&profile.test, FileKind::Test),
        (&profile.main, FileKind::Production),
    ] {
        if given(patterns) {
            return kind;
        }
    }
    let name = Name::of(in_worktree, Language::of(profile.name));
    let found = by_name(&name);
    // A list of the person replaces what the profile would take for tests.
    if found == FileKind::Test && profile.test.is_some() {
        return FileKind::Production;
    }
    found
}

fn by_name(name: &Name<'_>) -> FileKind {
    let ending = name.ending.as_str();
    let tests = test_names::is_test(name) || TEST_ENDINGS.contains(&ending);
    if tests && test_names::is_fixture(name) {
        FileKind::Test
    } else if config_names::is_config(name) {
        FileKind::Configuration
    } else if is_document(name) {
        FileKind::Documentation
    } else if tests {
        FileKind::Test
    } else if SETTINGS.contains(&ending) {
        if is_product_data(name) {
            FileKind::Production
        } else {
            FileKind::Configuration
        }
    } else if name.begins_in(&["docs", "doc"]) && ["html", "css"].contains(&ending) {
        FileKind::Documentation
    } else if is_source(ending) || name.is_below(&SOURCE_FOLDERS) || is_program(name) {
        FileKind::Production
    } else if name.begins_in(&["docs", "doc", "man"]) || ending == "txt" {
        FileKind::Documentation
    } else {
        FileKind::Other
    }
}

fn is_document(name: &Name<'_>) -> bool {
    let whole = name.file.split(['.', '-']).next().unwrap_or_default();
    let is_text = ["", "txt"].contains(&name.ending.as_str()) || name.ending == whole;
    DOCUMENTS.contains(&name.ending.as_str()) || (is_text && DOCUMENT_NAMES.contains(&whole))
}

/// Scripts without an ending (`bin/rails`).
fn is_program(name: &Name<'_>) -> bool {
    name.ending.is_empty() && name.begins_in(&["bin", "exe", "scripts", "script"])
}

/// Data among the sources (`src/locales/en.json`). On the JVM the resources configure what is built.
fn is_product_data(name: &Name<'_>) -> bool {
    name.is_below(&SOURCE_FOLDERS)
        && !(name.language == Language::Jvm && name.is_below(&["resources"]))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::glob_match;

    #[test]
    fn globs_match_as_documented() {
        for (glob, path, expected) in [
            ("src/**", "src/a/b.rs", true),
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
            ("**/*{Test,Tests,.Test,.Tests}/**", "x/My.Tests/a.cs", true),
            ("**/.cargo/**", ".cargo/config", true),
            ("**/rust-toolchain*", "rust-toolchain.toml", true),
            ("a?c", "abc", true),
            ("a?c", "a/c", false),
            ("**", "x", true),
        ] {
            assert_eq!(glob_match(glob, path), expected, "{glob} {path}");
        }
    }

    /// Globs come from a repository; matching must not take exponential time.
    #[test]
    fn hostile_globs_end_quickly() {
        let name = "a".repeat(4_000);
        let folders = "a/".repeat(2_000);
        let began = Instant::now();
        assert!(!glob_match("*a*a*a*a*a*b", &name));
        assert!(!glob_match(format!("{}b", "*a".repeat(40)), &name));
        assert!(!glob_match(format!("{}b", "**/a/".repeat(40)), &folders));
        assert!(!glob_match(format!("{}b", "{a,*a}".repeat(6)), &name));
        assert!(
            began.elapsed() < Duration::from_secs(2),
            "{:?}",
            began.elapsed()
        );
    }
}
