//! The lexical syntax of a language: how it writes comments and strings.

/// How a language writes strings, as far as finding comments needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quote {
    pub(crate) start: &'static str,
    pub(crate) end: &'static str,
    pub(crate) escape: bool,
    /// Whether the string may run over a line end.
    pub(crate) multiline: bool,
}

/// Lexical peculiarities that a table of tokens can't express.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quirk {
    None,
    /// `'a` may be a lifetime; `r#"…"#` strings.
    Rust,
    /// `R"x(…)x"` strings and digit separators.
    Cpp,
    /// `@"…"` strings.
    CSharp,
    /// `#` starts a comment only at the start of a word.
    Words,
    /// `/` may start a regular expression.
    Regex,
    /// A string in three quotes that is a statement of its own documents what is around it.
    Docstrings,
}

/// What the lines of a language are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    Program,
    Markup,
    Data,
    /// Text for people: each line that is not blank counts as comment.
    Prose,
}

/// One language.
#[derive(Debug)]
pub(crate) struct Language {
    pub(crate) name: &'static str,
    pub(crate) nature: Nature,
    /// Extensions without the dot, lower case.
    pub(crate) extensions: &'static [&'static str],
    /// Whole file names, lower case.
    pub(crate) names: &'static [&'static str],
    /// Interpreters in a `#!` line.
    pub(crate) interpreters: &'static [&'static str],
    pub(crate) line: &'static [&'static str],
    pub(crate) block: &'static [(&'static str, &'static str)],
    pub(crate) nested: bool,
    pub(crate) quotes: &'static [Quote],
    pub(crate) quirk: Quirk,
}
