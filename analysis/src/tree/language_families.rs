//! What languages have in common: the comments of C, `#`, XML, and the usual strings.

use super::syntax::{Language, Nature, Quirk, Quote};

pub(super) const fn on_line(mark: &'static str) -> Quote {
    Quote {
        start: mark,
        end: mark,
        escape: true,
        multiline: false,
    }
}

pub(super) const fn over_lines(mark: &'static str) -> Quote {
    Quote {
        start: mark,
        end: mark,
        escape: true,
        multiline: true,
    }
}

pub(super) const fn raw(start: &'static str, end: &'static str) -> Quote {
    Quote {
        start,
        end,
        escape: false,
        multiline: true,
    }
}

pub(super) const NO_QUOTES: &[Quote] = &[];
pub(super) const DOUBLE: &[Quote] = &[on_line("\"")];
pub(super) const BOTH: &[Quote] = &[on_line("\""), on_line("'")];
pub(super) const BOTH_MULTI: &[Quote] = &[over_lines("\""), over_lines("'")];
pub(super) const TRIPLE_DOUBLE: &[Quote] = &[over_lines("\"\"\""), on_line("\""), on_line("'")];
pub(super) const TRIPLE_BOTH: &[Quote] = &[
    over_lines("\"\"\""),
    over_lines("'''"),
    on_line("\""),
    on_line("'"),
];
pub(super) const C_LINE: &[&str] = &["//"];
const HASH: &[&str] = &["#"];
pub(super) const DASHES: &[&str] = &["--"];
pub(super) const SEMICOLON: &[&str] = &[";"];
pub(super) const C_BLOCK: &[(&str, &str)] = &[("/*", "*/")];
const XML_BLOCK: &[(&str, &str)] = &[("<!--", "-->")];

pub(super) const BASE: Language = Language {
    name: "",
    nature: Nature::Program,
    extensions: &[],
    names: &[],
    interpreters: &[],
    line: &[],
    block: &[],
    nested: false,
    quotes: NO_QUOTES,
    quirk: Quirk::None,
};

/// A language with the comments of C.
pub(super) const fn c_like(
    name: &'static str,
    extensions: &'static [&'static str],
    quotes: &'static [Quote],
) -> Language {
    Language {
        name,
        extensions,
        line: C_LINE,
        block: C_BLOCK,
        quotes,
        ..BASE
    }
}

/// A language whose comments start with `#`.
pub(super) const fn hash_like(
    name: &'static str,
    extensions: &'static [&'static str],
    quotes: &'static [Quote],
) -> Language {
    Language {
        name,
        extensions,
        line: HASH,
        quotes,
        ..BASE
    }
}

/// A language with the comments of XML.
pub(super) const fn xml_like(name: &'static str, extensions: &'static [&'static str]) -> Language {
    Language {
        name,
        nature: Nature::Markup,
        extensions,
        block: XML_BLOCK,
        ..BASE
    }
}

pub(super) const fn plain(
    name: &'static str,
    nature: Nature,
    extensions: &'static [&'static str],
) -> Language {
    Language {
        name,
        nature,
        extensions,
        ..BASE
    }
}
