//! Reads the top-level names of Go files and those they use: files of one package need no import.

use std::collections::HashSet;

use super::short_hash;

/// What only Go files have.
#[derive(Debug, Default)]
pub(crate) struct GoFacts {
    /// The name in the package clause.
    pub(crate) package: Box<str>,
    /// Top-level names as hashes, without methods.
    pub(crate) declared: Vec<u32>,
    /// Names used without a package, as hashes.
    pub(crate) plain: Vec<u32>,
    /// `package.Name`, as hashes.
    pub(crate) selected: Vec<(u32, u32)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'t> {
    Name(&'t str),
    Sign(u8),
    /// `:=`
    Define,
    Line,
}

/// Returns where the first declaration starts.
pub(super) fn end_of_imports(text: &[u8]) -> usize {
    let mut start = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let declares = ["func", "type", "var", "const"].iter().any(|word| {
            let rest = line.strip_prefix(word.as_bytes());
            rest.is_some_and(|rest| matches!(rest.first(), Some(b' ' | b'\t' | b'(')))
        });
        if declares {
            return start;
        }
        start += line.len();
    }
    text.len()
}

/// Reads a file whose comments and strings are masked.
pub(super) fn read(text: &[u8]) -> GoFacts {
    let tokens = tokens(text);
    let mut facts = GoFacts::default();
    let mut plain: HashSet<&str> = HashSet::new();
    let mut local: HashSet<&str> = HashSet::new();
    // What each open bracket belongs to.
    let mut open: Vec<Bracket> = Vec::new();
    let mut declaring = None;
    let name_at = |at: usize| match tokens.get(at) {
        Some(Token::Name(name)) => Some(*name),
        _ => None,
    };
    let mut at = 0;
    while let Some(&token) = tokens.get(at) {
        let before = at.checked_sub(1).map(|at| tokens[at]);
        let after = tokens.get(at + 1).copied();
        match token {
            Token::Line => {
                if open.is_empty() {
                    declaring = None;
                }
            }
            Token::Define => defined(&tokens, at, &mut local),
            Token::Sign(b'(' | b'[' | b'{') => {
                if token == Token::Sign(b'(') && declaring == Some("func") {
                    parameters(&tokens, at, &mut local);
                }
                if token == Token::Sign(b'{') && open.is_empty() {
                    declaring = None;
                }
                open.push(bracket_of(token, before));
            }
            Token::Sign(b')' | b']' | b'}') => {
                open.pop();
            }
            Token::Sign(_) => {}
            Token::Name("package") if facts.package.is_empty() && open.is_empty() => {
                facts.package = name_at(at + 1).unwrap_or_default().into();
                at += 1;
            }
            Token::Name(word @ ("func" | "type" | "var" | "const")) => {
                if open.is_empty() {
                    declaring = Some(word);
                    if let Some(name) = name_at(at + 1) {
                        facts.declared.push(short_hash(name));
                        at += 1;
                        while word != "func" && tokens.get(at + 1) == Some(&Token::Sign(b',')) {
                            facts.declared.extend(name_at(at + 2).map(short_hash));
                            at += 2;
                        }
                    } else if word == "func" && after == Some(Token::Sign(b'(')) {
                        // The name of a method belongs to its type.
                        let close = closing(&tokens, at + 1);
                        parameters(&tokens, at + 1, &mut local);
                        for place in at + 2..close {
                            use_name(&tokens, place, &mut plain, &mut facts);
                        }
                        at = close + 1;
                    }
                } else if word == "func" {
                    if after == Some(Token::Sign(b'(')) {
                        parameters(&tokens, at + 1, &mut local);
                    }
                } else if let Some(name) = name_at(at + 1) {
                    local.insert(name);
                }
            }
            Token::Name(name) => {
                let starts_line =
                    matches!(before, Some(Token::Line | Token::Sign(b'{' | b'(' | b';')));
                let is_name_of = |kind| open.last() == Some(&kind) && starts_line;
                if is_name_of(Bracket::Declarations) && open.len() == 1 {
                    facts.declared.push(short_hash(name));
                    while tokens.get(at + 1) == Some(&Token::Sign(b',')) {
                        facts.declared.extend(name_at(at + 2).map(short_hash));
                        at += 2;
                    }
                } else if is_name_of(Bracket::Declarations) {
                    local.insert(name);
                } else if is_name_of(Bracket::Struct)
                    && !matches!(
                        after,
                        None | Some(Token::Line | Token::Sign(b'.' | b'}' | b'[' | b';'))
                    )
                    || is_name_of(Bracket::Interface) && after == Some(Token::Sign(b'('))
                {
                    // The name of a field or method.
                    while tokens.get(at + 1) == Some(&Token::Sign(b',')) {
                        at += 2;
                    }
                } else if !is_name_of(Bracket::Struct) || after != Some(Token::Sign(b'[')) {
                    // The rest are fields that are lists, and generic types that are embedded.
                    use_name(&tokens, at, &mut plain, &mut facts);
                }
            }
        }
        at += 1;
    }
    plain.retain(|name| !local.contains(name));
    facts.plain = plain.into_iter().map(short_hash).collect();
    facts.plain.sort_unstable();
    facts.selected.sort_unstable();
    facts.selected.dedup();
    facts.selected.shrink_to_fit();
    facts
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bracket {
    Struct,
    Interface,
    Declarations,
    Other,
}

fn bracket_of(token: Token<'_>, before: Option<Token<'_>>) -> Bracket {
    match (token, before) {
        (Token::Sign(b'{'), Some(Token::Name("struct"))) => Bracket::Struct,
        (Token::Sign(b'{'), Some(Token::Name("interface"))) => Bracket::Interface,
        (Token::Sign(b'('), Some(Token::Name("var" | "const" | "type"))) => Bracket::Declarations,
        _ => Bracket::Other,
    }
}

/// Notes the names before `:=`.
fn defined<'t>(tokens: &[Token<'t>], at: usize, local: &mut HashSet<&'t str>) {
    let mut back = at;
    while let Some(Token::Name(name)) = back.checked_sub(1).and_then(|at| tokens.get(at)) {
        local.insert(name);
        if back < 2 || tokens[back - 2] != Token::Sign(b',') {
            break;
        }
        back -= 2;
    }
}

/// Notes a name that is used, not one behind a dot or the key of a literal.
fn use_name<'t>(
    tokens: &[Token<'t>],
    at: usize,
    plain: &mut HashSet<&'t str>,
    facts: &mut GoFacts,
) {
    let Some(Token::Name(name)) = tokens.get(at) else {
        return;
    };
    let before = at.checked_sub(1).map(|at| tokens[at]);
    match (before, tokens.get(at + 1)) {
        (Some(Token::Sign(b'.')), _)
        | (Some(Token::Line | Token::Sign(b'{' | b',')), Some(Token::Sign(b':'))) => {}
        (_, Some(Token::Sign(b'.'))) => {
            plain.insert(name);
            if let Some(Token::Name(member)) = tokens.get(at + 2) {
                facts.selected.push((short_hash(name), short_hash(member)));
            }
        }
        _ => {
            plain.insert(name);
        }
    }
}

/// Finds the bracket that closes the one at a place.
fn closing(tokens: &[Token<'_>], at: usize) -> usize {
    let mut depth = 0usize;
    for (place, token) in tokens.iter().enumerate().skip(at) {
        match token {
            Token::Sign(b'(' | b'[' | b'{') => depth += 1,
            Token::Sign(b')' | b']' | b'}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return place;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

/// Notes the names of the parameters in brackets; a list of types alone has none.
fn parameters<'t>(tokens: &[Token<'t>], at: usize, local: &mut HashSet<&'t str>) {
    let mut depth = 0usize;
    let mut firsts = Vec::new();
    let mut named = false;
    for (place, token) in tokens.iter().enumerate().skip(at) {
        match token {
            Token::Sign(b'(' | b'[' | b'{') => depth += 1,
            Token::Sign(b')' | b']' | b'}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            Token::Name(name) if depth == 1 => {
                let starts = matches!(
                    tokens[..place]
                        .iter()
                        .rev()
                        .find(|token| **token != Token::Line),
                    Some(Token::Sign(b'(' | b','))
                );
                let next = tokens.get(place + 1);
                if starts && !matches!(*name, "func" | "map" | "chan" | "struct" | "interface") {
                    firsts.push(*name);
                    named |= !matches!(next, Some(Token::Sign(b',' | b')' | b'.')) | None);
                }
            }
            _ => {}
        }
    }
    if named {
        local.extend(firsts);
    }
}

fn tokens(text: &[u8]) -> Vec<Token<'_>> {
    let mut tokens = Vec::with_capacity(text.len() / 5);
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let start = at;
        at += 1;
        if byte == b'\n' {
            tokens.push(Token::Line);
        } else if byte.is_ascii_whitespace() {
        } else if byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80 {
            let is_part =
                |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
            while text.get(at).is_some_and(is_part) {
                at += 1;
            }
            if !byte.is_ascii_digit() {
                tokens.push(Token::Name(
                    std::str::from_utf8(&text[start..at]).unwrap_or_default(),
                ));
            }
        } else if byte == b':' && text.get(at) == Some(&b'=') {
            at += 1;
            tokens.push(Token::Define);
        } else {
            tokens.push(Token::Sign(byte));
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_it_declares_and_uses() {
        let text = "package main\nimport x \"q\"\ntype T struct {\n\tField Used\n\t*Embedded\n}\nvar (\n\ta, b = 1, start()\n\tc Kind\n)\nconst D = Limit\nfunc (t *T) Method(count int, other Param) Result {\n\tlocal, err := x.Open(other.Hidden)\n\treturn Made{Key: helper(local), count}\n}\ntype I interface {\n\tDo(Arg)\n}\nfunc run() {}\n";
        let facts = read(text.as_bytes());
        let has = |list: &[u32], name: &str| list.contains(&short_hash(name));
        for name in ["T", "a", "b", "c", "D", "I", "run"] {
            assert!(has(&facts.declared, name), "{name}");
        }
        assert_eq!(facts.declared.len(), 7);
        for name in [
            "Used", "Embedded", "start", "Kind", "Limit", "Param", "Result", "Made", "helper",
            "Arg",
        ] {
            assert!(has(&facts.plain, name), "{name}");
        }
        for name in [
            "Field", "Method", "count", "other", "local", "err", "Hidden", "Key", "Do", "t",
        ] {
            assert!(!has(&facts.plain, name), "{name}");
        }
        assert!(
            facts
                .selected
                .contains(&(short_hash("x"), short_hash("Open")))
        );
        assert_eq!(&*facts.package, "main");
    }
}
