//! The working tree: which files there are, in which language, and how many lines.

#[cfg(test)]
mod against_tokei;
pub(crate) mod attributes;
pub(crate) mod classify;
pub(crate) mod file_list;
pub(crate) mod grammar;
pub(crate) mod imports;
pub(crate) mod language;
mod language_table;
pub(crate) mod lexer;
pub(crate) mod markers;
pub(crate) mod open;
pub(crate) mod rust_tests;
pub(crate) mod scan;
