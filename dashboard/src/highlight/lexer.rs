//! A lexer that splits lines into tokens; comments and strings may span lines.

use super::Language;

/// The kind of a piece of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    Plain,
    Comment,
    Text,
    Number,
    Keyword,
    /// A function or macro that is called.
    Name,
}

impl Token {
    /// Returns its CSS class.
    pub const fn class(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Comment => Some("hc"),
            Self::Text => Some("hs"),
            Self::Number => Some("hn"),
            Self::Keyword => Some("hk"),
            Self::Name => Some("hf"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'t> {
    pub token: Token,
    pub text: &'t str,
}

/// A comment or string that began on an earlier line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Comment(&'static str),
    Text(&'static str),
}

#[derive(Debug, Clone)]
pub struct Lexer {
    language: &'static Language,
    open: Open,
}

impl Lexer {
    pub fn new(language: &'static Language) -> Self {
        Self {
            language,
            open: Open::Nothing,
        }
    }

    /// Splits a line; the pieces contain all its text, in order.
    pub fn line<'t>(&mut self, line: &'t str) -> Vec<Piece<'t>> {
        let mut pieces = Pieces::default();
        let mut rest = line;
        while !rest.is_empty() {
            let (token, length) = match self.open {
                Open::Comment(end) => (Token::Comment, self.close(rest, end, false)),
                Open::Text(end) => (Token::Text, self.close(rest, end, true)),
                Open::Nothing => self.next(rest),
            };
            let (piece, left) = rest.split_at(length.max(1).min(rest.len()));
            pieces.add(line, piece, token);
            rest = left;
        }
        pieces.list
    }

    /// Returns the length of the rest of an open comment or string.
    fn close(&mut self, rest: &str, end: &str, escapes: bool) -> usize {
        match find_end(rest, end, escapes) {
            Some(length) => {
                self.open = Open::Nothing;
                length
            }
            None => rest.len(),
        }
    }

    fn next(&mut self, rest: &str) -> (Token, usize) {
        let language = self.language;
        if let Some((begin, end)) = language.block_comment
            && rest.starts_with(begin)
        {
            self.open = Open::Comment(end);
            let body = self.close(&rest[begin.len()..], end, false);
            return (Token::Comment, begin.len() + body);
        }
        if language
            .line_comments
            .iter()
            .any(|mark| rest.starts_with(mark))
        {
            return (Token::Comment, rest.len());
        }
        if let Some(quote) = language
            .long_quotes
            .iter()
            .find(|quote| rest.starts_with(**quote))
        {
            self.open = Open::Text(quote);
            let body = self.close(&rest[quote.len()..], quote, true);
            return (Token::Text, quote.len() + body);
        }
        let Some(first) = rest.chars().next() else {
            return (Token::Plain, 0);
        };
        if first == '\'' && language.single_is_char {
            return character(rest);
        }
        if language.quotes.contains(&first) {
            let quote = first.len_utf8();
            let body = &rest[quote..];
            let mut mark = [0; 4];
            let length = find_end(body, first.encode_utf8(&mut mark), true).unwrap_or(body.len());
            return (Token::Text, quote + length);
        }
        if first.is_ascii_digit() {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
            return (Token::Number, length_while(rest, is_part));
        }
        if first.is_alphabetic() || first == '_' {
            let length = length_while(rest, |c| c.is_alphanumeric() || c == '_');
            return (self.word(&rest[..length], &rest[length..]), length);
        }
        (Token::Plain, first.len_utf8())
    }

    fn word(&self, word: &str, after: &str) -> Token {
        if self.language.keywords.is_empty() {
            Token::Plain
        } else if self.language.is_keyword(word) {
            Token::Keyword
        } else if after.starts_with('(') || after.starts_with("!(") {
            Token::Name
        } else {
            Token::Plain
        }
    }
}

/// A character literal, or a single quote with another meaning.
fn character(rest: &str) -> (Token, usize) {
    let mut inside = rest.char_indices().skip(1);
    let Some((_, first)) = inside.next() else {
        return (Token::Plain, 1);
    };
    // An escape may be as long as `\u{10ffff}`.
    let most = if first == '\\' { 11 } else { 1 };
    let end = inside.take(most).find(|(_, c)| *c == '\'');
    match end {
        Some((at, _)) => (Token::Text, at + 1),
        None => (Token::Plain, 1),
    }
}

/// Returns the length up to and including `end`, skipping characters that a backslash escapes.
fn find_end(text: &str, end: &str, escapes: bool) -> Option<usize> {
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with(end) {
            return Some(at + end.len());
        }
        let mut characters = rest.chars();
        let first = characters.next()?;
        at += first.len_utf8();
        if escapes && first == '\\' {
            at += characters.next().map_or(0, char::len_utf8);
        }
    }
    None
}

fn length_while(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

/// Collects pieces and merges neighbours of one kind.
#[derive(Debug, Default)]
struct Pieces<'t> {
    list: Vec<Piece<'t>>,
    begin: usize,
    end: usize,
}

impl<'t> Pieces<'t> {
    fn add(&mut self, line: &'t str, piece: &str, token: Token) {
        self.end += piece.len();
        let joins = self.list.last().is_some_and(|last| last.token == token);
        if joins {
            self.list.pop();
        } else {
            self.begin = self.end - piece.len();
        }
        let text = &line[self.begin..self.end];
        self.list.push(Piece { token, text });
    }
}
