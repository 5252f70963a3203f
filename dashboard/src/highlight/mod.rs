//! Diffs as people read them: git's text in files, hunks and lines, with a light colouring of the code.
//!
//! The colouring knows comments, strings, numbers and words of many languages, not their grammar: a diff shows
//! pieces of files, and no parser understands a piece.

mod emphasis;
mod language;
mod lexer;
mod parse;
mod quoted;

pub use emphasis::{Emphasis, emphasised};
pub use language::Language;
pub use lexer::{Lexer, Piece, Token};
pub use parse::parse;

#[cfg(test)]
mod tests;
