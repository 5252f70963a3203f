//! Symbols: the definitions of source files (functions, types, routes, commands, tables) with their lines.
//!
//! Languages with a grammar are parsed; the others are read by rules for single lines, as ctags does. Nothing below a
//! function is a symbol. [`map()`] ranks the symbols of a whole tree.

mod lines;
mod map;
mod offers;
mod parsed;
mod references;

use std::path::Path;

use tree_sitter::Parser;

use crate::Budget;
use crate::report::symbols::SymbolKind;
use crate::tree::working_tree::TreeFile;

pub(crate) use map::{Map, map};

/// Larger files are tables or generated; parsing them takes seconds.
pub(crate) const MAX_FILE_SIZE: u64 = 1 << 20;

/// Most definitions taken from one file, in its order.
const MAX_DEFINITIONS: usize = 400;

/// Longest name that is kept.
const MAX_NAME: usize = 100;

/// One definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Definition {
    pub(crate) kind: SymbolKind,
    pub(crate) name: String,
    pub(crate) line: u32,
    /// Whether other files can use it, as far as the definition itself tells.
    pub(crate) exported: bool,
}

/// Returns whether definitions are looked for in files of this kind.
pub(crate) fn has_symbols(file: &TreeFile) -> bool {
    file.language().is_some_and(|language| {
        parsed::is_parsed(language.name()) || lines::rules(language.name()).is_some()
    })
}

/// Finds the definitions in the text of a file; none when the time is up.
pub(crate) fn definitions(
    file: &TreeFile,
    bytes: &[u8],
    parser: &mut Parser,
    budget: &Budget,
) -> Option<Vec<Definition>> {
    let language = file.language()?;
    let mut found = match parsed::rules(language.name()) {
        Some(rules) => parsed::definitions(rules, language, bytes, parser, budget)?,
        None => lines::definitions(language, bytes),
    };
    offers::add(language, bytes, &mut found);
    found.sort_by_key(|definition| definition.line);
    found.truncate(MAX_DEFINITIONS);
    Some(found)
}

/// Reads a file and finds its definitions.
pub(crate) fn definitions_of(
    root: &Path,
    file: &TreeFile,
    parser: &mut Parser,
    budget: &Budget,
) -> Option<Vec<Definition>> {
    let bytes = file.read(root, MAX_FILE_SIZE)?;
    definitions(file, &bytes, parser, budget)
}
