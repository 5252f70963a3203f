//! What a source file imports and what it offers, read from its text.
//!
//! The text is first freed of comments (and of strings where they can't matter); what is left is regular
//! enough for patterns. Full parsers would take a hundred times as long on a large tree.

mod patterns;
mod rust;

use std::collections::HashSet;

use crate::tree::language::LanguageId;
use crate::tree::lexer::{self, Listener};

pub(crate) use rust::{RustFacts, RustUse};

/// Most exported names of a kind kept of one file; all are counted.
const MOST_NAMES: usize = 8;

/// Languages whose imports are understood, in groups that resolve alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Family {
    Rust,
    Ecma,
    Python,
    Go,
    Java,
    C,
}

/// Returns the family of a language whose imports are understood.
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

/// Tells whether imports of this language are understood.
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
    /// `from module import names`; without names `import module`.
    From { module: String, names: Vec<String> },
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
    pub(crate) imports: Vec<Import>,
    pub(crate) exported: u64,
    pub(crate) names: Vec<(ExportKind, Box<str>)>,
    /// Java: the package that the file declares.
    pub(crate) package: Option<String>,
    pub(crate) rust: Option<RustFacts>,
    /// Whether the file declares a main function that no manifest needs to name.
    pub(crate) has_main: bool,
}

impl SourceFacts {
    fn import(&mut self, import: Import, seen: &mut HashSet<Import>) {
        if seen.insert(import.clone()) {
            self.imports.push(import);
        }
    }

    fn export(&mut self, kind: ExportKind, name: &[u8]) {
        self.exported += 1;
        if self
            .names
            .iter()
            .filter(|(other, _)| *other == kind)
            .count()
            < MOST_NAMES
        {
            self.names
                .push((kind, String::from_utf8_lossy(name).into()));
        }
    }
}

/// Reads what a file imports and offers.
pub(crate) fn extract(bytes: &[u8], language: LanguageId) -> SourceFacts {
    let Some(family) = family(language) else {
        return SourceFacts::default();
    };
    let keep_strings = matches!(family, Family::Ecma | Family::Go | Family::C);
    let is_page = matches!(language.name(), "Vue" | "Svelte");
    let mut text = bytes.to_vec();
    lexer::scan(
        bytes,
        language.grammar(),
        &mut Blank {
            text: &mut text,
            keep_strings,
        },
    );
    match family {
        Family::Rust => rust::extract(bytes, &mut text, language.grammar()),
        Family::Ecma => patterns::ecma(&text, is_page),
        Family::Python => patterns::python(&text),
        Family::Go => patterns::go(&text),
        Family::Java => patterns::java(&text),
        Family::C => patterns::c(&text, language.name().ends_with("Header")),
    }
}

/// Overwrites comments and strings with spaces; line ends stay.
struct Blank<'a> {
    text: &'a mut [u8],
    keep_strings: bool,
}

impl Blank<'_> {
    fn blank(&mut self, start: usize, end: usize) {
        for byte in &mut self.text[start..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
}

impl Listener for Blank<'_> {
    fn comment(&mut self, start: usize, end: usize) {
        self.blank(start, end);
    }

    fn string(&mut self, start: usize, end: usize) {
        // The quotes stay, so that what is around a string still looks like code.
        if !self.keep_strings && end > start + 2 {
            self.blank(start + 1, end - 1);
        }
    }
}
