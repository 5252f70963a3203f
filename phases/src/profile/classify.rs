//! Classifies files as production code, tests, documentation or configuration, by globs and names.

use fast_glob::glob_match;

use super::Profile;
use shared::model::FileKind;

/// Extensions of source files: production code unless a glob makes them tests.
const SOURCES: [&str; 65] = [
    "astro", "c", "cc", "cjs", "clj", "cljs", "cpp", "cs", "css", "cts", "cxx", "dart", "erl",
    "ex", "exs", "fs", "fsx", "go", "graphql", "groovy", "h", "hh", "hpp", "hrl", "hs", "html",
    "ipynb", "java", "jl", "js", "jsx", "kt", "kts", "less", "lua", "m", "mjs", "ml", "mli", "mm",
    "mts", "nim", "php", "pl", "pm", "proto", "py", "pyi", "pyx", "r", "rb", "rs", "sass", "scala",
    "scss", "sh", "sql", "svelte", "swift", "ts", "tsx", "vb", "vue", "zig", "bash",
];
const DOCUMENTS: [&str; 8] = [
    "adoc", "asciidoc", "markdown", "md", "mdx", "org", "rst", "tex",
];
const SETTINGS: [&str; 14] = [
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
    "properties",
    "toml",
    "yaml",
    "yml",
];
/// Configuration files of any project.
const SETTINGS_NAMES: [&str; 12] = [
    ".gitignore",
    ".gitattributes",
    ".dockerignore",
    ".editorconfig",
    ".npmrc",
    ".nvmrc",
    ".tool-versions",
    "Dockerfile",
    "Makefile",
    "Justfile",
    "justfile",
    "Procfile",
];
const DOCUMENT_NAMES: [&str; 7] = [
    "README",
    "LICENSE",
    "LICENCE",
    "CHANGELOG",
    "AUTHORS",
    "NOTICE",
    "CONTRIBUTING",
];

pub(super) fn kind(profile: &Profile, path: &str) -> FileKind {
    let any = |patterns: &[String]| patterns.iter().any(|glob| glob_match(glob, path));
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let ending = ending.to_ascii_lowercase();
    let ending = ending.as_str();
    if any(&profile.config) || SETTINGS_NAMES.contains(&name) {
        FileKind::Configuration
    } else if any(&profile.docs) || DOCUMENTS.contains(&ending) || DOCUMENT_NAMES.contains(&name) {
        FileKind::Documentation
    } else if any(&profile.test) {
        FileKind::Test
    } else if any(&profile.main) || SOURCES.contains(&ending) {
        FileKind::Production
    } else if SETTINGS.contains(&ending) {
        FileKind::Configuration
    } else if path.starts_with("docs/") || path.starts_with("doc/") || ending == "txt" {
        FileKind::Documentation
    } else {
        FileKind::Other
    }
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
