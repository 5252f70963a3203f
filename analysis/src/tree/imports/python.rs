//! Reads `import` statements of Python, statement by statement, and when each of them takes effect.

use super::{Import, Imports, When};

/// A block that is open at the present line.
struct Block {
    indent: usize,
    when: When,
}

/// Reads the imports of a file whose comments and strings are masked.
pub(super) fn imports(text: &[u8], imports: &mut Imports) {
    let mut blocks: Vec<Block> = Vec::new();
    let statements = Statements { text, at: 0 };
    for (indent, statement) in statements {
        while blocks.last().is_some_and(|block| block.indent >= indent) {
            blocks.pop();
        }
        let mut when = blocks.last().map_or(When::Load, |block| block.when);
        let mut rest = statement.trim();
        if let Some((opens, after)) = opened(rest) {
            // What stands in a function stays lazy, what stands below `TYPE_CHECKING` never runs.
            when = when.max(opens);
            blocks.push(Block { indent, when });
            rest = after.trim();
        }
        for part in rest.split(';') {
            import(part.trim(), when, imports);
        }
    }
}

/// Returns when the body of a compound statement runs, and what stands behind its colon.
fn opened(statement: &str) -> Option<(When, &str)> {
    let word = statement
        .split(|character: char| !character.is_alphanumeric() && character != '_')
        .next()?;
    match word {
        "def" => return Some((When::Lazy, "")),
        "async" if statement["async".len()..].trim_start().starts_with("def") => {
            return Some((When::Lazy, ""));
        }
        "if" | "elif" | "else" | "try" | "except" | "finally" | "with" | "for" | "while"
        | "class" | "match" | "case" => {}
        _ => return None,
    }
    let (condition, after) = statement[word.len()..].split_once(':')?;
    let when = match condition.trim().trim_matches(['(', ')']) {
        condition if word == "if" && condition.rsplit('.').next() == Some("TYPE_CHECKING") => {
            When::Type
        }
        _ => When::Load,
    };
    Some((when, after))
}

fn import(statement: &str, when: When, imports: &mut Imports) {
    if let Some(rest) = keyword(statement, "import") {
        for module in rest.split(',') {
            let Some(module) = module.split_whitespace().next() else {
                continue;
            };
            imports.add(
                when,
                Import::From {
                    module: module.to_owned(),
                    names: Vec::new(),
                },
            );
        }
    } else if let Some(rest) = statement.strip_prefix("from")
        && rest.starts_with([' ', '\t', '.'])
        && let Some((module, names)) = parted(rest)
    {
        let names = names
            .trim_matches(|character: char| {
                matches!(character, '(' | ')') || character.is_whitespace()
            })
            .split(',')
            .filter_map(|name| name.split_whitespace().next())
            .map(str::to_owned)
            .collect();
        let module = module.split_whitespace().collect();
        imports.add(when, Import::From { module, names });
    }
}

/// Parts `a.b import c` at the keyword; `. import(c)` needs no blanks.
fn parted(text: &str) -> Option<(&str, &str)> {
    text.match_indices("import").find_map(|(at, word)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        (before.ends_with([' ', '\t', '.']) && after.starts_with([' ', '\t', '(', '\n', '*']))
            .then_some((before, after))
    })
}

fn keyword<'t>(statement: &'t str, word: &str) -> Option<&'t str> {
    statement
        .strip_prefix(word)
        .filter(|rest| rest.starts_with([' ', '\t']))
}

/// Logical lines with their indentation: brackets and backslashes join lines.
struct Statements<'t> {
    text: &'t [u8],
    at: usize,
}

impl Iterator for Statements<'_> {
    type Item = (usize, String);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut start = self.at;
            if start >= self.text.len() {
                return None;
            }
            let mut depth = 0usize;
            let mut end = start;
            while let Some(&byte) = self.text.get(end) {
                match byte {
                    b'(' | b'[' | b'{' => depth += 1,
                    b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                    b'\n' if depth == 0 && !is_joined(&self.text[start..end]) => break,
                    _ => {}
                }
                end += 1;
            }
            self.at = end + 1;
            while start < end && matches!(self.text[start], b' ' | b'\t') {
                start += 1;
            }
            let indent = start - (end.min(self.line_start(start)));
            let first = self.text.get(start).copied().unwrap_or_default();
            // Most statements are of no interest.
            if start < end && first.is_ascii_alphabetic() {
                let line = String::from_utf8_lossy(&self.text[start..end]);
                return Some((indent, line.replace("\\\r\n", " ").replace("\\\n", " ")));
            }
        }
    }
}

impl Statements<'_> {
    fn line_start(&self, at: usize) -> usize {
        memchr::memrchr(b'\n', &self.text[..at]).map_or(0, |at| at + 1)
    }
}

fn is_joined(line: &[u8]) -> bool {
    line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\")
}

#[cfg(test)]
mod tests {
    use super::super::{Family, Import, When, extract};
    use crate::tree::language::named;

    #[test]
    fn tells_when_an_import_takes_effect() {
        let text = "\"\"\"\nimport no\n\"\"\"\nimport os, a.b as c; import semi\nfrom . import (\n  x,  # why\n  y as z,\n)\nfrom.dots import(w)\nfrom long \\\n  import name\nif TYPE_CHECKING:\n    import typed\nelse:\n    import untyped\nif typing.TYPE_CHECKING: import inline\ndef f(\n    a,\n) -> int:\n    from lazy import thing\n    if TYPE_CHECKING:\n        import both\nclass K:\n    import member\n    async def g(self):\n        import deep\nimport last\nfrom_me = 1\n";
        let facts = extract(text.as_bytes(), named("Python").unwrap());
        let of = |when: When| -> Vec<String> {
            facts
                .imports
                .iter()
                .filter(|(other, _)| *other == when)
                .map(|(_, import)| match import {
                    Import::From { module, names } if names.is_empty() => module.clone(),
                    Import::From { module, names } => format!("{module}:{}", names.join(",")),
                    Import::Path(path) | Import::System(path) => path.clone(),
                })
                .collect()
        };
        assert_eq!(
            of(When::Load),
            [
                "os",
                "a.b",
                "semi",
                ".:x,y",
                ".dots:w",
                "long:name",
                "untyped",
                "member",
                "last"
            ]
        );
        assert_eq!(of(When::Lazy), ["lazy:thing", "deep"]);
        assert_eq!(of(When::Type), ["typed", "inline", "both"]);
        assert_eq!(
            super::super::family(named("Python").unwrap()),
            Some(Family::Python)
        );
    }
}
