//! Routes, commands and tables: what a program offers to those outside, by the usual calls and decorators.
//!
//! Only what names its route, command or table in place is found: a name that is put together elsewhere is not guessed.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::{Definition, MAX_NAME};
use crate::line_index::Lines;
use crate::report::symbols::SymbolKind;
use crate::text::harmless;
use crate::tree::language::LanguageId;
use crate::tree::masking;

/// Most found of a kind in one file.
const MAX_OFFERS: usize = 200;

/// One way to offer something: in which languages, and how. The groups are joined with a space.
struct Way {
    languages: &'static [&'static str],
    kind: SymbolKind,
    /// A text without which the pattern can't match; looked for first.
    needs: &'static [u8],
    pattern: Option<Regex>,
}

const ECMA: &[&str] = &["JavaScript", "TypeScript", "JSX", "TSX"];

static WAYS: LazyLock<Vec<Way>> = LazyLock::new(|| {
    use SymbolKind::{Command, Route, Table};
    let way = |languages, kind, needs: &'static str, pattern: &str| Way {
        languages,
        kind,
        needs: needs.as_bytes(),
        pattern: RegexBuilder::new(pattern)
            .unicode(false)
            .multi_line(true)
            .size_limit(1 << 20)
            .build()
            .ok(),
    };
    vec![
        way(
            &["Python"],
            Route,
            "@",
            r#"^[ \t]*@\w+\.(route|get|post|put|patch|delete|websocket)\(\s*['"](/[^'"\n]*)['"]"#,
        ),
        way(
            ECMA,
            Route,
            "(",
            r#"\b(?:app|router|server|fastify)\.(get|post|put|patch|delete|all)\(\s*['"`](/[^'"`\n]*)['"`]\s*,"#,
        ),
        way(
            &["Go"],
            Route,
            "(\"",
            r#"\.(HandleFunc|Handle|GET|POST|PUT|PATCH|DELETE|Get|Post|Put|Patch|Delete)\("((?:[A-Z]+ )?/[^"\n]*)"\s*,"#,
        ),
        way(
            &["Rust"],
            Route,
            ".route(",
            r#"\.(route)\(\s*"(/[^"\n]*)"\s*,"#,
        ),
        way(
            &["Java", "Kotlin"],
            Route,
            "Mapping(",
            r#"@(Get|Post|Put|Patch|Delete|Request)Mapping\(\s*(?:value\s*=\s*|path\s*=\s*)?"(/[^"\n]*)""#,
        ),
        way(
            &["Ruby"],
            Route,
            "/",
            r#"^[ \t]*(get|post|put|patch|delete)\s+['"](/[^'"\n]*)['"]"#,
        ),
        way(
            &["Python"],
            Command,
            "add_parser(",
            r#"\.add_parser\(\s*['"]([\w-]+)['"]"#,
        ),
        way(
            &["Python"],
            Command,
            ".command(",
            r#"^[ \t]*@\w+\.command\(\s*(?:name\s*=\s*)?['"]([\w-]+)['"]"#,
        ),
        way(
            &["Go"],
            Command,
            "cobra.Command",
            r#"&cobra\.Command\{\s*Use:\s*"([\w-]+)"#,
        ),
        way(
            ECMA,
            Command,
            ".command(",
            r#"\.command\(\s*['"]([\w-]+)[^'"\n]*['"]"#,
        ),
        way(
            &["Python"],
            Table,
            "__tablename__",
            r#"^[ \t]+__tablename__\s*=\s*['"](\w+)['"]"#,
        ),
        way(
            &["Ruby"],
            Table,
            "create_table",
            r#"^[ \t]*create_table\s*\(?\s*[:'"](\w+)"#,
        ),
        way(
            &["PHP"],
            Table,
            "Schema::create",
            r#"Schema::create\(\s*['"](\w+)['"]"#,
        ),
        way(
            &["Java", "Kotlin"],
            Table,
            "@Table(",
            r#"@Table\(\s*name\s*=\s*"(\w+)""#,
        ),
    ]
});

/// Adds what a file offers to its definitions.
pub(super) fn add(language: LanguageId, bytes: &[u8], found: &mut Vec<Definition>) {
    let name = language.name();
    let mut ways = WAYS
        .iter()
        .filter(|way| way.languages.contains(&name))
        .filter(|way| memchr::memmem::find(bytes, way.needs).is_some())
        .peekable();
    if ways.peek().is_none() {
        return;
    }
    let text = masking::without_comments(bytes, language.grammar());
    let lines = Lines::of(&text);
    for way in ways {
        let Some(pattern) = &way.pattern else {
            continue;
        };
        for groups in pattern.captures_iter(&text).take(MAX_OFFERS) {
            let mut parts = groups.iter().skip(1).flatten();
            let (Some(first), second) = (parts.next(), parts.next()) else {
                continue;
            };
            let utf8 = |bytes| String::from_utf8_lossy(bytes).into_owned();
            let name = match second {
                None => utf8(first.as_bytes()),
                Some(second) => match utf8(first.as_bytes()).to_ascii_uppercase() {
                    // These words name no method of HTTP.
                    word if matches!(
                        word.as_str(),
                        "ROUTE" | "HANDLE" | "HANDLEFUNC" | "ALL" | "REQUEST"
                    ) =>
                    {
                        utf8(second.as_bytes())
                    }
                    method => format!("{method} {}", utf8(second.as_bytes())),
                },
            };
            found.push(Definition {
                kind: way.kind,
                name: harmless(&name, MAX_NAME),
                line: lines.at(first.start()),
                exported: true,
            });
        }
    }
}
