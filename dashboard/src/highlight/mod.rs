//! A light colouring of code in diffs, and of what changed within a line.
//!
//! It knows comments, strings, numbers and words of many languages, not their grammar: a diff shows
//! pieces of files, and no parser understands a piece.

mod emphasis;
mod language;
mod lexer;

pub use emphasis::{Emphasis, emphasised};
pub use language::Language;
pub use lexer::{Lexer, Piece, Token};

#[cfg(test)]
mod tests;
