//! Finds the known dependencies that a source file imports.

use std::collections::{BTreeSet, HashSet};

use super::Language;
use crate::tree::grammar::Grammar;
use crate::tree::imports::{self, Family, Import};
use crate::tree::language::{self, Guess, LanguageId};

/// Finds the known dependencies that a file imports.
pub(super) fn imported_in(
    language: Language,
    file_name: &str,
    bytes: &[u8],
    known: &HashSet<String>,
) -> BTreeSet<String> {
    let mut imported = BTreeSet::new();
    let Some(grammar) = grammar_of(language, file_name) else {
        return imported;
    };
    for import in imports::imports(bytes, family_of(language), grammar) {
        match import {
            Import::Path(path) | Import::System(path) => {
                imported.extend(dependency_of(language, &path, known));
            }
            Import::From { module, names } => {
                imported.extend(dependency_of(language, &module, known));
                // `from google.cloud import storage` imports `google.cloud.storage`.
                let parts = names.iter().map(|name| format!("{module}.{name}"));
                imported.extend(parts.filter(|part| known.contains(part)));
            }
        }
    }
    imported
}

fn family_of(language: Language) -> Family {
    match language {
        Language::Rust => Family::Rust,
        Language::JavaScript => Family::Ecma,
        Language::Python => Family::Python,
        Language::Go => Family::Go,
        Language::Java => Family::Java,
    }
}

/// Pages with scripts in them (Vue, Svelte, Astro, MDX) are read as if they were all script.
fn grammar_of(language: Language, file_name: &str) -> Option<&'static Grammar> {
    let id = match language::by_name(file_name) {
        Guess::Known(id) if language != Language::JavaScript => Some(id),
        Guess::Known(_) | Guess::Binary | Guess::AskFirstLine | Guess::Unknown => {
            language::named("TypeScript")
        }
    };
    id.map(LanguageId::grammar)
}

/// Returns the known dependency that an imported path belongs to, the longest if there are several.
fn dependency_of(language: Language, path: &str, known: &HashSet<String>) -> Option<String> {
    let separator = match language {
        Language::Rust => return known.get(path).cloned(),
        Language::JavaScript => return known.get(package_of(path)?).cloned(),
        Language::Go => '/',
        Language::Python | Language::Java => '.',
    };
    let mut name = path;
    loop {
        if let Some(name) = known.get(name) {
            return Some(name.clone());
        }
        if language == Language::Python
            && let Some(name) = known.get(&name.to_lowercase())
        {
            return Some(name.clone());
        }
        name = &name[..name.rfind(separator)?];
    }
}

/// Returns the npm package of a module: `@scope/name/part` is part of `@scope/name`.
fn package_of(specifier: &str) -> Option<&str> {
    let specifier = specifier.trim_start_matches('~');
    if specifier.starts_with(['.', '/', '#']) || specifier.contains(':') {
        return None;
    }
    let parts = if specifier.starts_with('@') { 2 } else { 1 };
    let end = specifier
        .match_indices('/')
        .nth(parts - 1)
        .map_or(specifier.len(), |(at, _)| at);
    // A loader or query follows the name in some bundlers.
    specifier[..end].split(['!', '?']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imported(file: &str, text: &str, known: &[&str]) -> Vec<String> {
        let known = known.iter().map(|&name| name.to_owned()).collect();
        let language = Language::of_file(file).unwrap();
        imported_in(language, file, text.as_bytes(), &known)
            .into_iter()
            .collect()
    }

    #[test]
    fn go_blocks_lines_and_submodules() {
        let text = "package x\nimport \"a.com/one\"\nimport (\n\tz \"a.com/two/v2/sub\"\n\t// \"a.com/three\"\n)\nfunc f() { g(\"a.com/four\") }\nvar s = `\nimport \"a.com/four\"\n`\n";
        let known = [
            "a.com/one",
            "a.com/two",
            "a.com/two/v2",
            "a.com/three",
            "a.com/four",
        ];
        assert_eq!(
            imported("x.go", text, &known),
            ["a.com/one", "a.com/two/v2"]
        );
    }

    #[test]
    fn every_way_to_import_in_javascript() {
        let text = r#"
            /// <reference types="eta" />
            import a, { b } from "alpha";
            import "beta/style.css";
            export * from '@scope/gamma/deep';
            const d = require('delta'); const e = await import(`epsilon`);
            // import zeta from "zeta"
            import x from './local'; import fs from 'node:fs';
            jest.mock("theta");
        "#;
        let known = [
            "alpha",
            "beta",
            "@scope/gamma",
            "delta",
            "epsilon",
            "zeta",
            "eta",
            "theta",
            "./local",
        ];
        let expected = [
            "@scope/gamma",
            "alpha",
            "beta",
            "delta",
            "epsilon",
            "eta",
            "theta",
        ];
        assert_eq!(imported("x.ts", text, &known), expected);
        assert_eq!(
            imported("x.vue", "<script>import a from 'alpha'</script>", &known),
            ["alpha"]
        );
    }

    #[test]
    fn every_way_to_import_in_python() {
        let text = "import os, yaml as y\nfrom google.cloud import (\n  bigquery,\n  storage)\n  from bs4.element import Tag\nx = 'rest_framework'\n# import jwt\n";
        let known = [
            "yaml",
            "google.cloud.storage",
            "bs4",
            "rest_framework",
            "requests",
        ];
        assert_eq!(
            imported("x.py", text, &known),
            ["bs4", "google.cloud.storage", "yaml"]
        );
    }

    #[test]
    fn jvm_languages_import_alike() {
        let known = ["com.google.common", "okhttp3", "scala.util"];
        let java = "import static com.google.common.collect.Lists.*;\n/* import okhttp3.X; */\n";
        assert_eq!(imported("A.java", java, &known), ["com.google.common"]);
        assert_eq!(
            imported("A.kt", "import okhttp3.Call as C\n", &known),
            ["okhttp3"]
        );
        assert_eq!(
            imported("A.scala", "import scala.util.{Try, Left}\n", &known),
            ["scala.util"]
        );
    }

    #[test]
    fn crates_are_told_from_words() {
        let found = |text: &str, name: &str| !imported("x.rs", text, &[name]).is_empty();
        assert!(found("use serde::Serialize;", "serde"));
        assert!(found("use {\n  regex, std::fmt };", "regex"));
        assert!(found("#[tokio::main] async fn main() {}", "tokio"));
        assert!(found("extern crate libc as c;", "libc"));
        assert!(found("let x = ::anyhow::Error;", "anyhow"));
        assert!(!found("use self::regex::Regex;", "regex"));
        assert!(!found("// toml::from_str\n", "toml"));
        assert!(!found(
            "#[serde(with = \"humantime_serde\")]",
            "humantime_serde"
        ));
        assert!(!found("fn main() {}", "serde"));
    }
}
