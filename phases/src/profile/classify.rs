//! What a file is, by its path below the project's root.

use super::Profile;
use super::pattern::fits;
use shared::model::FileKind;

/// Endings of programs: production code unless a pattern says that they are tests.
const SOURCES: [&str; 61] = [
    "astro", "c", "cc", "cjs", "clj", "cljs", "cpp", "cs", "css", "cts", "cxx", "dart", "erl",
    "ex", "exs", "fs", "fsx", "go", "graphql", "groovy", "h", "hh", "hpp", "hrl", "hs", "html",
    "ipynb", "java", "jl", "js", "jsx", "kt", "kts", "less", "lua", "m", "mjs", "ml", "mli", "mm",
    "mts", "nim", "php", "pl", "pm", "proto", "py", "pyi", "pyx", "r", "rb", "rs", "sass", "scala",
    "scss", "sh", "sql", "svelte", "swift", "ts", "tsx",
];
/// Two more, kept apart for the line above.
const MORE_SOURCES: [&str; 4] = ["vb", "vue", "zig", "bash"];
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
/// Names of settings that any project may have.
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
    let any = |patterns: &[String]| patterns.iter().any(|pattern| fits(pattern, path));
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
    } else if any(&profile.main) || SOURCES.contains(&ending) || MORE_SOURCES.contains(&ending) {
        FileKind::Production
    } else if SETTINGS.contains(&ending) {
        FileKind::Configuration
    } else if path.starts_with("docs/") || path.starts_with("doc/") || ending == "txt" {
        FileKind::Documentation
    } else {
        FileKind::Other
    }
}
