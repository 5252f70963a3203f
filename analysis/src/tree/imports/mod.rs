//! Extracts the imports and the exported items of source files.
//!
//! Comments (and strings where they can't matter) are masked first; what is left is regular enough for
//! patterns. Full parsers would take a hundred times as long on a large tree.

mod go;
mod java;
mod patterns;
mod python;
mod rust;

use std::collections::HashSet;

use super::grammar::Grammar;
use super::language::LanguageId;
use super::masking;
use super::rust_tests;

pub(crate) use go::GoFacts;
pub(crate) use java::JavaFacts;
pub(crate) use rust::{RustFacts, RustUse};

/// Most exported names of a kind kept of one file; all are counted.
const MAX_NAMES: usize = 8;

/// Languages whose imports are extracted, in groups that resolve alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Family {
    Rust,
    Ecma,
    Python,
    Go,
    Java,
    C,
}

/// Returns the family of a language whose imports can be resolved to files.
pub(crate) fn family(language: LanguageId) -> Option<Family> {
    match language.name() {
        "Rust" => Some(Family::Rust),
        "TypeScript" | "TSX" | "JavaScript" | "JSX" | "Vue" | "Svelte" => Some(Family::Ecma),
        "Python" => Some(Family::Python),
        "Go" => Some(Family::Go),
        "Java" => Some(Family::Java),
        "C" | "C Header" | "C++" | "C++ Header" => Some(Family::C),
        _ => None,
    }
}

/// Returns whether imports of this language can be resolved to files.
pub(crate) fn understands(language: LanguageId) -> bool {
    family(language).is_some()
}

/// One import as written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Import {
    /// A specifier: `./x`, `example.com/a`, `a.b.C`, a quoted header.
    Path(String),
    /// A header in angle brackets.
    System(String),
    /// `from module import names`; without names `import module`. In Go the name that a package is given.
    From { module: String, names: Vec<String> },
}

/// When an import takes effect; only what happens at loading can make a circle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum When {
    Load,
    /// Within a function, or `import()`.
    Lazy,
    /// Never: `TYPE_CHECKING`, `import type`.
    Type,
}

/// A short stand-in for a name; the names themselves would take most of the memory.
pub(crate) fn short_hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// What kind of item is exported; types tell more about a module than functions do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExportKind {
    Type,
    Function,
    Value,
}

/// What one source file imports and offers.
#[derive(Debug, Default)]
pub(crate) struct SourceFacts {
    pub(crate) imports: Vec<(When, Import)>,
    pub(crate) exported: u64,
    pub(crate) names: Vec<(ExportKind, Box<str>)>,
    pub(crate) java: Option<JavaFacts>,
    pub(crate) go: Option<GoFacts>,
    pub(crate) rust: Option<RustFacts>,
    /// Whether the file declares a main function that no manifest needs to name.
    pub(crate) has_main: bool,
}

impl SourceFacts {
    fn export(&mut self, kind: ExportKind, name: &[u8]) {
        self.exported += 1;
        if self
            .names
            .iter()
            .filter(|(other, _)| *other == kind)
            .count()
            < MAX_NAMES
        {
            self.names
                .push((kind, String::from_utf8_lossy(name).into()));
        }
    }
}

/// Imports in the order of the file, each once.
#[derive(Debug, Default)]
struct Imports {
    list: Vec<(When, Import)>,
    seen: HashSet<(When, Import)>,
}

impl Imports {
    fn add(&mut self, when: When, import: Import) {
        if self.seen.insert((when, import.clone())) {
            self.list.push((when, import));
        }
    }
}

/// Reads what a file imports and offers, without the tests inside it.
pub(crate) fn extract(bytes: &[u8], language: LanguageId) -> SourceFacts {
    let Some(family) = family(language) else {
        return SourceFacts::default();
    };
    let grammar = language.grammar();
    let mut text = masked(bytes, family, grammar);
    let imports = imports_of(bytes, &text, family, grammar).list;
    let facts = match family {
        Family::Rust => {
            for range in rust_tests::ranges_in_code(&text) {
                text[range].fill(b' ');
            }
            rust::extract(bytes, &text)
        }
        Family::Ecma => patterns::ecma(&text, matches!(language.name(), "Vue" | "Svelte")),
        Family::Python => patterns::python(&text),
        Family::Go => SourceFacts {
            go: Some(go::read(&text)),
            ..patterns::go(&text)
        },
        Family::Java => SourceFacts {
            java: Some(java::read(&text)),
            ..patterns::java(&text)
        },
        Family::C => patterns::c(&text, language.name().ends_with("Header")),
    };
    SourceFacts { imports, ..facts }
}

/// Reads what a file imports or loads, its tests included; of Rust the names of crates.
pub(crate) fn imports(bytes: &[u8], family: Family, grammar: &Grammar) -> Vec<Import> {
    let text = masked(bytes, family, grammar);
    if family == Family::Rust {
        return rust::crates(bytes, &text);
    }
    let mut imports = imports_of(bytes, &text, family, grammar);
    if family == Family::Ecma {
        patterns::ecma_loads(bytes, &text, &mut imports);
    }
    let mut seen = HashSet::new();
    let list = imports.list.into_iter().map(|(_, import)| match import {
        // Go's other names for a package say nothing about what it is.
        Import::From { module, .. } if family == Family::Go => Import::Path(module),
        import => import,
    });
    list.filter(|import| seen.insert(import.clone())).collect()
}

fn masked(bytes: &[u8], family: Family, grammar: &Grammar) -> Vec<u8> {
    match family {
        // Paths stand in quotes.
        Family::Ecma | Family::C => masking::without_comments(bytes, grammar),
        Family::Rust | Family::Python | Family::Java | Family::Go => {
            masking::code_only(bytes, grammar)
        }
    }
}

fn imports_of(bytes: &[u8], text: &[u8], family: Family, grammar: &Grammar) -> Imports {
    let mut imports = Imports::default();
    match family {
        // Rust's are paths that only its modules give a meaning.
        Family::Rust => {}
        Family::Ecma => {
            // Code in template strings is no code of this file.
            let code = memchr::memchr(b'`', text).map(|_| masking::code_only(bytes, grammar));
            patterns::ecma_imports(text, code.as_deref(), &mut imports);
        }
        Family::Python => python::imports(text, &mut imports),
        Family::Go => {
            // Paths stand in quotes, but only before the first declaration.
            let head = &bytes[..go::end_of_imports(text)];
            patterns::go_imports(&masking::without_comments(head, grammar), &mut imports);
        }
        Family::Java => patterns::java_imports(text, &mut imports),
        Family::C => patterns::c_imports(text, &mut imports),
    }
    imports
}
