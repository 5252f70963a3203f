//! The working tree: its files, their languages, lines, markers and imports.

pub(crate) mod attributes;
pub(crate) mod classify;
pub(crate) mod file_list;
pub(crate) mod grammar;
mod ignored;
pub(crate) mod imports;
pub(crate) mod language;
mod language_families;
mod language_table;
pub(crate) mod lexer;
pub(crate) mod licences;
pub(crate) mod markers;
pub(crate) mod masking;
mod rare_languages;
pub(crate) mod rust_tests;
pub(crate) mod scan;
pub(crate) mod syntax;
mod vendored;
pub(crate) mod working_tree;
