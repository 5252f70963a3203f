//! The language table compiled to byte classes for the lexer.

use std::sync::LazyLock;

use super::language::LanguageId;
use super::language_table::LANGUAGES;
use super::syntax::{Language, Nature, Quirk, Quote};

/// What starts at a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    LineComment,
    Block {
        start: &'static [u8],
        end: &'static [u8],
    },
    Quote(Quote),
    /// A raw string that ends with a quote and this many `#`.
    RustRaw {
        hashes: usize,
    },
    /// A raw string that ends with `)`, the delimiter and a quote.
    CppRaw {
        delimiter: (usize, usize),
    },
    /// A whole token of this length that needs no look inside.
    Skip(usize),
    Nothing,
}

/// One language, ready for scanning.
#[derive(Debug)]
pub(crate) struct Grammar {
    /// Bytes that may start something, and the line end.
    pub(crate) stops: [bool; 256],
    /// Bytes that may start a comment.
    pub(crate) comment_starts: [bool; 256],
    pub(crate) prose: bool,
    pub(crate) nested: bool,
    pub(crate) docstrings: bool,
    language: &'static Language,
}

static GRAMMARS: LazyLock<Vec<Grammar>> =
    LazyLock::new(|| LANGUAGES.iter().copied().map(Grammar::compile).collect());

impl LanguageId {
    /// Returns the language's compiled grammar.
    pub(crate) fn grammar(self) -> &'static Grammar {
        &GRAMMARS[usize::from(self.0)]
    }
}

impl Grammar {
    fn compile(language: &'static Language) -> Self {
        let mut stops = [false; 256];
        let mut comment_starts = [false; 256];
        let comments = language
            .line
            .iter()
            .copied()
            .chain(language.block.iter().map(|(start, _)| *start));
        for first in comments.filter_map(|token| token.bytes().next()) {
            stops[usize::from(first)] = true;
            comment_starts[usize::from(first)] = true;
        }
        for quote in language.quotes {
            if let Some(first) = quote.start.bytes().next() {
                stops[usize::from(first)] = true;
            }
        }
        if language.quirk == Quirk::Rust {
            stops[usize::from(b'\'')] = true;
        }
        stops[usize::from(b'\n')] = true;
        Self {
            stops,
            comment_starts,
            prose: language.nature == Nature::Prose,
            nested: language.nested,
            docstrings: language.quirk == Quirk::Docstrings,
            language,
        }
    }

    /// Returns the token that starts at `at`.
    pub(crate) fn token(&self, bytes: &[u8], at: usize) -> Token {
        let rest = &bytes[at..];
        if self.comment_starts[usize::from(bytes[at])] {
            for &(start, end) in self.language.block {
                if rest.starts_with(start.as_bytes()) {
                    return Token::Block {
                        start: start.as_bytes(),
                        end: end.as_bytes(),
                    };
                }
            }
            if self
                .language
                .line
                .iter()
                .any(|start| rest.starts_with(start.as_bytes()))
                && self.comment_may_start(bytes, at)
            {
                return Token::LineComment;
            }
        }
        match self.language.quirk {
            Quirk::Rust if rest[0] == b'\'' => return rust_quote(rest),
            Quirk::Rust if rest[0] == b'"' => {
                if let Some(hashes) = rust_raw_hashes(bytes, at) {
                    return Token::RustRaw { hashes };
                }
            }
            Quirk::Cpp if rest[0] == b'"' && at > 0 && bytes[at - 1] == b'R' => {
                if let Some(length) = rest.iter().take(20).position(|&byte| byte == b'(') {
                    return Token::CppRaw {
                        delimiter: (at + 1, at + length),
                    };
                }
            }
            Quirk::Cpp if rest[0] == b'\'' && at > 0 && bytes[at - 1].is_ascii_hexdigit() => {
                return Token::Skip(1);
            }
            Quirk::CSharp if rest[0] == b'"' && is_verbatim(bytes, at) => {
                return Token::Quote(Quote {
                    start: "\"",
                    end: "\"",
                    escape: false,
                    multiline: true,
                });
            }
            Quirk::None
            | Quirk::Rust
            | Quirk::Cpp
            | Quirk::CSharp
            | Quirk::Words
            | Quirk::Regex
            | Quirk::Docstrings => {}
        }
        self.language
            .quotes
            .iter()
            .find(|quote| rest.starts_with(quote.start.as_bytes()))
            .map_or(Token::Nothing, |&quote| Token::Quote(quote))
    }

    fn comment_may_start(&self, bytes: &[u8], at: usize) -> bool {
        match self.language.quirk {
            Quirk::Words => {
                at == 0
                    || matches!(
                        bytes[at - 1],
                        b' ' | b'\t' | b'\n' | b'\r' | b';' | b'(' | b')' | b'{' | b'}'
                    )
            }
            // `/[/]/` and the like: a slash right after an escape belongs to an expression.
            Quirk::Regex => at == 0 || !matches!(bytes[at - 1], b'\\' | b'['),
            Quirk::None | Quirk::Rust | Quirk::Cpp | Quirk::CSharp | Quirk::Docstrings => true,
        }
    }
}

/// Distinguishes a character literal from a lifetime.
fn rust_quote(rest: &[u8]) -> Token {
    match rest.get(1) {
        Some(b'\\') => {
            let end = rest
                .iter()
                .skip(3)
                .take(12)
                .position(|&byte| byte == b'\'')
                .map_or(1, |position| position + 4);
            Token::Skip(end)
        }
        Some(&first) => {
            let width = match first {
                0..0x80 => 1,
                0x80..0xe0 => 2,
                0xe0..0xf0 => 3,
                0xf0.. => 4,
            };
            if rest.get(1 + width) == Some(&b'\'') {
                Token::Skip(width + 2)
            } else {
                Token::Skip(1)
            }
        }
        None => Token::Skip(1),
    }
}

/// Looks back from a quote for `r`, `br` or `cr` and hashes.
fn rust_raw_hashes(bytes: &[u8], at: usize) -> Option<usize> {
    let hashes = bytes[..at]
        .iter()
        .rev()
        .take_while(|&&byte| byte == b'#')
        .count();
    let mut before = at - hashes;
    if before == 0 || bytes[before - 1] != b'r' {
        return None;
    }
    before -= 1;
    if before > 0 && matches!(bytes[before - 1], b'b' | b'c') {
        before -= 1;
    }
    let joined =
        before > 0 && (bytes[before - 1].is_ascii_alphanumeric() || bytes[before - 1] == b'_');
    (!joined).then_some(hashes)
}

fn is_verbatim(bytes: &[u8], at: usize) -> bool {
    bytes[..at]
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b'$' | b'@'))
        .any(|&byte| byte == b'@')
}
