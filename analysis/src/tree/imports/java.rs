//! Reads the package, the types and the type names of Java files: classes of one package need no import.

use super::short_hash;

/// Longest qualified name that is kept.
const MAX_PARTS: usize = 32;
const MAX_QUALIFIED: usize = 500;

/// What only Java files have.
#[derive(Debug, Default)]
pub(crate) struct JavaFacts {
    /// The package that the file declares.
    pub(crate) package: String,
    /// Names of its top-level types.
    pub(crate) types: Vec<Box<str>>,
    /// All types that it declares, as hashes, sorted.
    declared: Vec<u32>,
    /// Capitalised names that stand at the beginning of a name, as hashes, sorted.
    pub(crate) mentions: Vec<u32>,
    /// Names that may have a package before them, written out in the code.
    pub(crate) qualified: Vec<Box<str>>,
}

impl JavaFacts {
    /// Whether the code uses a name that means something outside the file.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        self.mentions.binary_search(&short_hash(name)).is_ok()
    }
}

/// Reads a file whose comments and strings are masked.
pub(super) fn read(text: &[u8]) -> JavaFacts {
    let mut facts = JavaFacts::default();
    let mut reader = Reader { text, at: 0 };
    let mut depth = 0usize;
    let mut before = "";
    while let Some(word) = reader.next() {
        match word {
            Word::Sign(b'{') => depth += 1,
            Word::Sign(b'}') => depth = depth.saturating_sub(1),
            Word::Sign(_) => {}
            Word::Name(name, parts) => {
                let first = name.split('.').next().unwrap_or(name);
                match before {
                    "package" if depth == 0 && facts.package.is_empty() => {
                        name.clone_into(&mut facts.package);
                    }
                    // Static imports name `static` first; what is imported counts when it is used.
                    "import" => {
                        before = if name == "static" { "import" } else { "" };
                        continue;
                    }
                    "class" | "interface" | "enum" | "record" if is_capitalised(first) => {
                        if depth == 0 {
                            facts.types.push(first.into());
                        }
                        facts.declared.push(short_hash(first));
                    }
                    _ if is_capitalised(first) => facts.mentions.push(short_hash(first)),
                    _ if parts > 1
                        && facts.qualified.len() < MAX_QUALIFIED
                        && name.split('.').take(MAX_PARTS).any(is_capitalised) =>
                    {
                        facts.qualified.push(name.into());
                    }
                    _ => {}
                }
                before = name;
                continue;
            }
        }
        before = "";
    }
    facts.declared.sort_unstable();
    facts.mentions.sort_unstable();
    facts.mentions.dedup();
    let declared = &facts.declared;
    facts
        .mentions
        .retain(|name| declared.binary_search(name).is_err());
    facts.mentions.shrink_to_fit();
    facts.qualified.sort_unstable();
    facts.qualified.dedup();
    facts
}

fn is_capitalised(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
}

enum Word<'t> {
    /// A name with its dots, and how many parts it has.
    Name(&'t str, usize),
    Sign(u8),
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Option<Word<'t>> {
        let text: &'t [u8] = self.text;
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
        loop {
            while text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
                self.at += 1;
            }
            let start = self.at;
            let first = *text.get(start)?;
            if !is_part(&first) {
                self.at += 1;
                return Some(Word::Sign(first));
            }
            let mut parts = 1;
            while let Some(byte) = text.get(self.at) {
                if *byte == b'.' && text.get(self.at + 1).is_some_and(is_part) {
                    parts += 1;
                } else if !is_part(byte) {
                    break;
                }
                self.at += 1;
            }
            // Members behind `)` or `]` belong to a value.
            let follows_dot = text[..start]
                .iter()
                .rev()
                .find(|byte| !byte.is_ascii_whitespace())
                == Some(&b'.');
            if !follows_dot && !first.is_ascii_digit() {
                let name = std::str::from_utf8(&text[start..self.at]).unwrap_or_default();
                return Some(Word::Name(name, parts));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_types_and_the_names_it_uses() {
        let text = "package a.b;\nimport a.c.Unused;\nimport static a.S.f;\n@Marked\npublic class K<T> extends Base implements Runs {\n  enum Inner { A }\n  a.x.Full field = make().Hidden;\n  void m(Param p) { Util.go(); p.Field = new a.y.Made(); }\n}\nclass Second {}\n";
        let facts = read(text.as_bytes());
        assert_eq!(facts.package, "a.b");
        assert_eq!(facts.types, ["K".into(), "Second".into()]);
        for name in ["Marked", "Base", "Runs", "Param", "Util"] {
            assert!(facts.mentions(name), "{name}");
        }
        for name in ["Unused", "Inner", "Hidden", "Field", "Full", "K"] {
            assert!(!facts.mentions(name), "{name}");
        }
        assert_eq!(
            facts.qualified,
            ["a.x.Full".into(), "a.y.Made".into(), "p.Field".into()]
        );
    }
}
