//! Syntax highlighting of diffs, and emphasis of what changed within a line.
//!
//! It knows comments, strings, numbers and keywords of many languages, but no grammar: a hunk starts in the
//! middle of a file, which parsers cannot read.

mod emphasis;
mod language;
mod lexer;

pub use emphasis::{Emphasis, emphasised};
pub use language::Language;
pub use lexer::{Lexer, Piece, Token};

#[cfg(test)]
mod tests;
