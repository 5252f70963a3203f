//! Parses `use`, `mod`, paths and public items of Rust files.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::{ExportKind, Import, SourceFacts};

/// Most paths kept of one file.
const MAX_PATHS: usize = 4_000;

/// Deeper `use` trees are hostile.
const MAX_USE_DEPTH: usize = 64;

/// Deeper inline modules are hostile: each has the names of all around it.
const MAX_MODULE_DEPTH: usize = 64;

/// A path that is used or imported.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct RustUse {
    /// Inline modules around it, joined with `::`.
    pub(crate) scope: Box<str>,
    /// Joined with `::`, which takes a fraction of the memory of separate strings.
    pub(crate) path: Box<str>,
    /// Under which name it is imported; none for a path in an expression.
    pub(crate) name: Option<Box<str>>,
    pub(crate) glob: bool,
    /// Whether it is exported again: `pub use`, also `pub(crate) use`.
    pub(crate) public: bool,
}

/// What only Rust files have.
#[derive(Debug, Default)]
pub(crate) struct RustFacts {
    pub(crate) uses: Vec<RustUse>,
    /// `mod name;` with the inline modules around it and the file that `#[path]` names.
    pub(crate) modules: Vec<(Vec<String>, String, Option<String>)>,
    /// Inline modules, each with those around it.
    pub(crate) inline: Vec<Vec<String>>,
    /// Crates in paths that begin with `::`; macros write such paths into the code of others.
    externs: Vec<String>,
    /// Hashes of the items that other modules can name, sorted: names would take most of the memory.
    items: Vec<u64>,
}

impl RustFacts {
    /// Returns whether the file defines an item of this name.
    pub(crate) fn defines(&self, item: &str) -> bool {
        self.items.binary_search(&hash_of(item)).is_ok()
    }
}

fn hash_of(item: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    item.hash(&mut hasher);
    hasher.finish()
}

static PATH_ATTRIBUTE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"#\[path\s*=\s*"([^"\n]+)"\s*\]\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;"#).ok()
});

/// Returns the first name of each path: a crate, or a module of this one.
pub(super) fn crates(bytes: &[u8], text: &[u8]) -> Vec<Import> {
    let facts = extract(bytes, text).rust.unwrap_or_default();
    let uses = facts.uses.iter();
    let names: HashSet<&str> = uses
        .filter_map(|item| item.path.split("::").next())
        .chain(facts.externs.iter().map(String::as_str))
        .collect();
    let names = names.into_iter().map(str::to_owned);
    names.map(Import::Path).collect()
}

/// Reads a file; `text` is the file with comments and strings masked.
pub(super) fn extract(bytes: &[u8], text: &[u8]) -> SourceFacts {
    let mut places = HashMap::new();
    if memchr::memmem::find(bytes, b"#[path").is_some()
        && let Some(regex) = PATH_ATTRIBUTE.as_ref()
    {
        for captures in regex.captures_iter(bytes) {
            places.insert(
                String::from_utf8_lossy(&captures[2]).into_owned(),
                String::from_utf8_lossy(&captures[1]).into_owned(),
            );
        }
    }
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
        scope: Vec::new(),
        facts: SourceFacts::default(),
        rust: RustFacts::default(),
        seen: HashSet::new(),
        places,
    };
    reader.run();
    let mut facts = reader.facts;
    reader.rust.items.sort_unstable();
    reader.rust.items.dedup();
    reader.rust.items.shrink_to_fit();
    reader.rust.uses.shrink_to_fit();
    facts.rust = Some(reader.rust);
    facts
}

#[derive(Debug, PartialEq, Eq)]
enum Word<'a> {
    Name(&'a str),
    /// `::`
    Colons,
    Sign(u8),
}

/// How visible the item is that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visibility {
    Private,
    Crate,
    Public,
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
    /// Inline modules around the present place, each with the depth of its body.
    scope: Vec<(String, usize)>,
    facts: SourceFacts,
    rust: RustFacts,
    seen: HashSet<RustUse>,
    places: HashMap<String, String>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<Word<'a>> {
        let text: &'a [u8] = self.text;
        while self.at < text.len() && text[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        let first = *text.get(self.at)?;
        let start = self.at;
        if first.is_ascii_alphanumeric() || first == b'_' {
            while self.at < text.len()
                && (text[self.at].is_ascii_alphanumeric() || text[self.at] == b'_')
            {
                self.at += 1;
            }
            let name = std::str::from_utf8(&text[start..self.at]).unwrap_or_default();
            if name == "r" && text.get(self.at) == Some(&b'#') {
                self.at += 1;
                return self.next();
            }
            return Some(Word::Name(name));
        }
        if first == b':' && text.get(start + 1) == Some(&b':') {
            self.at += 2;
            return Some(Word::Colons);
        }
        self.at += 1;
        Some(Word::Sign(first))
    }

    fn peek(&mut self) -> Option<Word<'a>> {
        let at = self.at;
        let word = self.next();
        self.at = at;
        word
    }

    fn scope_names(&self) -> Vec<String> {
        self.scope.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Returns whether the present place is directly in a module, not in a function or an impl.
    fn in_module(&self) -> bool {
        self.depth == self.scope.last().map_or(0, |(_, depth)| *depth)
    }

    fn run(&mut self) {
        let mut visibility = Visibility::Private;
        let mut after_colons = false;
        while let Some(word) = self.next() {
            let was_after_colons = std::mem::take(&mut after_colons);
            match word {
                Word::Sign(b'{') => self.depth += 1,
                Word::Sign(b'}') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self
                        .scope
                        .last()
                        .is_some_and(|(_, depth)| *depth > self.depth)
                    {
                        self.scope.pop();
                    }
                }
                Word::Colons => {
                    after_colons = true;
                    if !self.is_inside_path()
                        && self.rust.externs.len() < MAX_PATHS
                        && let Some(Word::Name(name)) = self.peek()
                    {
                        self.rust.externs.push(name.to_owned());
                    }
                }
                Word::Name("pub") => {
                    visibility = self.visibility();
                    continue;
                }
                Word::Name("use") if !was_after_colons => {
                    self.use_tree(Vec::new(), visibility != Visibility::Private, 0);
                }
                Word::Name("mod") if !was_after_colons => self.module(visibility),
                // `extern crate name`
                Word::Name("crate") if matches!(self.peek(), Some(Word::Name(_))) => {
                    self.use_tree(Vec::new(), visibility != Visibility::Private, 0);
                }
                // Words that may stand between `pub` and what is public.
                Word::Name("async" | "unsafe" | "extern" | "default" | "auto")
                | Word::Sign(b'"') => continue,
                Word::Name("const")
                    if matches!(
                        self.peek(),
                        Some(Word::Name("fn" | "unsafe" | "async" | "extern"))
                    ) =>
                {
                    continue;
                }
                Word::Name(name) => self.name(name, visibility, was_after_colons),
                Word::Sign(_) => {}
            }
            visibility = Visibility::Private;
        }
    }

    /// Tells `a::b` and `<T>::b` from `::b`, a path that starts at a crate; asked right after the colons.
    fn is_inside_path(&self) -> bool {
        let before = self.at.checked_sub(3).and_then(|at| self.text.get(at));
        before.is_some_and(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'>'))
    }

    fn visibility(&mut self) -> Visibility {
        if self.peek() != Some(Word::Sign(b'(')) {
            return Visibility::Public;
        }
        // `pub (A, B)` in a tuple struct is not a restriction, but never precedes an item.
        while let Some(word) = self.next() {
            if word == Word::Sign(b')') {
                break;
            }
        }
        Visibility::Crate
    }

    fn module(&mut self, visibility: Visibility) {
        let Some(Word::Name(name)) = self.next() else {
            return;
        };
        if self.in_module() && visibility == Visibility::Public {
            self.facts.export(ExportKind::Type, name.as_bytes());
        }
        match self.peek() {
            Some(Word::Sign(b';')) => {
                let place = self.places.remove(name);
                self.rust
                    .modules
                    .push((self.scope_names(), name.to_owned(), place));
            }
            Some(Word::Sign(b'{')) if self.scope.len() < MAX_MODULE_DEPTH => {
                self.scope.push((name.to_owned(), self.depth + 1));
                self.rust.inline.push(self.scope_names());
            }
            _ => {}
        }
    }

    fn name(&mut self, name: &'a str, visibility: Visibility, after_colons: bool) {
        let kind = match name {
            "struct" | "enum" | "trait" | "type" | "union" => Some(ExportKind::Type),
            "fn" => Some(ExportKind::Function),
            "const" | "static" => Some(ExportKind::Value),
            _ => None,
        };
        if let Some(kind) = kind {
            if self.in_module()
                && let Some(Word::Name(item)) = self.peek()
            {
                self.rust.items.push(hash_of(item));
                if visibility == Visibility::Public {
                    self.facts.export(kind, item.as_bytes());
                }
                if item == "main" && name == "fn" {
                    self.facts.has_main = true;
                }
            }
        } else if name == "macro_rules" {
            let at = self.at;
            if self.next() == Some(Word::Sign(b'!'))
                && let Some(Word::Name(item)) = self.next()
            {
                self.rust.items.push(hash_of(item));
            } else {
                self.at = at;
            }
        } else if !after_colons && self.peek() == Some(Word::Colons) {
            self.path(name);
        }
    }

    /// Reads a path in an expression or a type. Upper case starts are items, which a `use` brought in.
    fn path(&mut self, first: &str) {
        let mut path = vec![first.to_owned()];
        let mut is_open = false;
        while self.peek() == Some(Word::Colons) {
            self.next();
            match self.peek() {
                Some(Word::Name(name)) => {
                    path.push(name.to_owned());
                    self.next();
                }
                other => {
                    // A macro's variable ends the path: `libc::$name`.
                    is_open = other == Some(Word::Sign(b'$'));
                    break;
                }
            }
        }
        if first.starts_with(|character: char| character.is_ascii_lowercase())
            && (path.len() > 1 || is_open)
        {
            self.push(&path, None, false, false);
        }
    }

    fn push(&mut self, path: &[String], name: Option<&str>, glob: bool, public: bool) {
        // The standard library is never in the repository.
        if path
            .first()
            .is_none_or(|first| matches!(first.as_str(), "std" | "core" | "alloc"))
        {
            return;
        }
        let item = RustUse {
            scope: self.scope_names().join("::").into(),
            path: path.join("::").into(),
            name: name.map(Into::into),
            glob,
            public,
        };
        if self.seen.len() < MAX_PATHS && self.seen.insert(item.clone()) {
            self.rust.uses.push(item);
        }
    }

    /// Reads one tree of a `use`; ends before `,`, `}` or `;`.
    fn use_tree(&mut self, mut path: Vec<String>, public: bool, depth: usize) {
        if depth > MAX_USE_DEPTH {
            return;
        }
        loop {
            match self.peek() {
                Some(Word::Colons) => {
                    self.next();
                }
                Some(Word::Name("as")) => {
                    self.next();
                    let Some(Word::Name(name)) = self.next() else {
                        return;
                    };
                    self.push(&path, Some(name), false, public);
                    return;
                }
                Some(Word::Name(name)) => {
                    path.push(name.to_owned());
                    self.next();
                }
                Some(Word::Sign(b'*')) => {
                    self.next();
                    self.push(&path, None, true, public);
                    return;
                }
                Some(Word::Sign(b'{')) => {
                    self.next();
                    while !matches!(self.peek(), Some(Word::Sign(b'}')) | None) {
                        let before = self.at;
                        self.use_tree(path.clone(), public, depth + 1);
                        if self.peek() == Some(Word::Sign(b',')) || self.at == before {
                            self.next();
                        }
                    }
                    self.next();
                    return;
                }
                _ => {
                    // `use a::{self}` imports `a`.
                    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
                        path.pop();
                    }
                    self.push(&path, path.last().map(String::as_str), false, public);
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Family, Import, extract, imports};
    use crate::tree::language::named;

    #[test]
    fn names_crates_also_in_tests() {
        let text = "extern crate libc as c;\nuse {std::fmt, regex};\nuse self::inner::X;\n#[tokio::main]\nfn main() -> ::anyhow::Result<()> { m!(errno::$name); Vec::<u8>::new(); '{'; }\n#[cfg(test)]\nmod tests { use rand::Rng; }\n";
        let mut names = imports(
            text.as_bytes(),
            Family::Rust,
            named("Rust").unwrap().grammar(),
        );
        names.sort_by_key(|import| format!("{import:?}"));
        let expected = ["anyhow", "errno", "libc", "rand", "regex", "self", "tokio"];
        assert_eq!(names, expected.map(|name| Import::Path(name.to_owned())));
    }

    #[test]
    fn reads_uses_modules_and_items() {
        let text = "pub mod store;\nmod inner { use super::other::Thing; pub struct Deep; }\nuse std::{fmt, io::{self, Read as R}};\npub(crate) use crate::a::b::*;\npub fn run() { crate::git::open(); let x = Vec::new(); helper::<u8>(); }\nimpl K { pub fn method() {} }\npub async fn later() {}\npub const fn now() {}\npub const LIMIT: u8 = 1;\n#[cfg(test)]\nmod tests { use super::*; }\n";
        let facts = extract(text.as_bytes(), named("Rust").unwrap());
        let rust = facts.rust.unwrap();
        let uses: Vec<String> = rust
            .uses
            .iter()
            .map(|item| {
                let scope = &item.scope;
                let glob = if item.glob { "::*" } else { "" };
                format!("{scope}|{}{glob}", item.path)
            })
            .collect();
        assert_eq!(
            uses,
            [
                "inner|super::other::Thing",
                "|crate::a::b::*",
                "|crate::git::open"
            ]
        );
        assert!(rust.uses[1].public && !rust.uses[0].public);
        assert_eq!(rust.modules, [(vec![], "store".to_owned(), None)]);
        assert_eq!(rust.inline, [vec!["inner".to_owned()]]);
        let names: Vec<&str> = facts.names.iter().map(|(_, name)| &**name).collect();
        assert_eq!(names, ["store", "Deep", "run", "later", "now", "LIMIT"]);
    }
}
