//! Definitions by rules for single lines, as ctags finds them, for languages without a grammar here.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::{Definition, MAX_DEFINITIONS, MAX_NAME};
use crate::paths::printable;
use crate::report::symbols::SymbolKind;
use crate::text::shortened;
use crate::tree::language::LanguageId;
use crate::tree::masking;

/// Lines longer than this are data.
const MAX_LINE: usize = 500;

/// The patterns of a language; the first group is the name.
pub(super) type Rules = Vec<(SymbolKind, Regex)>;

fn compiled(patterns: &[(SymbolKind, &str)]) -> Rules {
    let compile = |pattern: &str| {
        RegexBuilder::new(pattern)
            .unicode(false)
            .size_limit(1 << 20)
            .build()
    };
    patterns
        .iter()
        .filter_map(|(kind, pattern)| Some((*kind, compile(pattern).ok()?)))
        .collect()
}

static RULES: LazyLock<HashMap<&'static str, Rules>> = LazyLock::new(|| {
    use SymbolKind::{Function, Table, Type};
    let types = |modifiers: &str, words: &str| {
        format!(r"^\s*(?:(?:{modifiers})\s+)*(?:{words})\s+([A-Za-z_]\w*)")
    };
    let ruby = [
        (Type, r"^\s*(?:class|module)\s+([A-Z][\w:]*)"),
        (
            Function,
            r"^\s*def\s+(?:self\.)?([A-Za-z_]\w*[?!=]?)(?:[\s(;]|$)",
        ),
    ];
    let php_types = types("abstract|final|readonly", "class|interface|trait|enum");
    let php = [
        (Type, php_types.as_str()),
        (
            Function,
            r"^\s*(?:(?:abstract|final|public|protected|private|static)\s+)*function\s+&?([A-Za-z_]\w*)",
        ),
    ];
    let kotlin_types = types(
        "public|private|internal|protected|open|abstract|sealed|data|inner|enum|annotation|value|inline|expect|actual|fun",
        "class|interface|object|typealias",
    );
    let kotlin = [
        (Type, kotlin_types.as_str()),
        (
            Function,
            r"^\s*(?:(?:public|private|internal|protected|open|override|abstract|final|suspend|inline|operator|infix|tailrec|expect|actual)\s+)*fun\s+(?:<[^>]*>\s*)?(?:[\w<>?, ]+\.)?([A-Za-z_]\w*)\s*\(",
        ),
    ];
    let swift_types = types(
        "public|private|fileprivate|internal|open|final|indirect",
        "class|struct|enum|protocol|actor|typealias",
    );
    let swift = [
        (Type, swift_types.as_str()),
        (
            Function,
            r"^\s*(?:@\w+\s+)*(?:(?:public|private|fileprivate|internal|open|final|static|class|override|mutating|nonisolated)\s+)*func\s+([A-Za-z_]\w*)",
        ),
    ];
    let csharp_types = types(
        "public|private|protected|internal|static|abstract|sealed|partial|readonly|ref|unsafe|file",
        "class|interface|struct|enum|record(?:\\s+(?:class|struct))?",
    );
    let csharp = [
        (Type, csharp_types.as_str()),
        (
            Function,
            r"^\s*(?:(?:public|private|protected|internal|static|virtual|override|abstract|async|sealed|extern|partial|unsafe|new)\s+)+[\w<>\[\],.?]+\s+([A-Za-z_]\w*)\s*(?:<[^>]*>)?\(",
        ),
    ];
    let scala_types = types(
        "abstract|sealed|final|case|implicit|private|protected|open",
        "class|trait|object|enum",
    );
    let scala = [
        (Type, scala_types.as_str()),
        (
            Function,
            r"^\s*(?:(?:override|private|protected|final|implicit|inline|given)\s+)*def\s+([A-Za-z_]\w*)",
        ),
    ];
    let shell = [(
        Function,
        r"^\s*(?:function\s+([A-Za-z_][\w:-]*)|([A-Za-z_][\w:-]*)\s*\(\)\s*\{?\s*$)",
    )];
    let elixir = [
        (Type, r"^\s*defmodule\s+([A-Z][\w.]*)"),
        (Function, r"^\s*def(?:macro)?\s+([a-z_]\w*)"),
    ];
    let lua = [(Function, r"^\s*(?:local\s+)?function\s+([A-Za-z_][\w.:]*)")];
    let perl = [
        (Type, r"^\s*package\s+([A-Za-z_][\w:]*)"),
        (Function, r"^\s*sub\s+([A-Za-z_]\w*)"),
    ];
    let dart = [(
        Type,
        r"^\s*(?:(?:abstract|sealed|base|final|interface|mixin)\s+)*(?:class|mixin|enum|extension)\s+([A-Za-z_]\w*)",
    )];
    let tcl = [(Function, r"^\s*proc\s+([A-Za-z_][\w:]*)")];
    let sql = [
        (
            Table,
            r#"(?i)^\s*create\s+(?:temp(?:orary)?\s+|virtual\s+)?table\s+(?:if\s+not\s+exists\s+)?["`\[]?(\w+(?:["`\]]?\.["`\[]?\w+)?)"#,
        ),
        (
            Function,
            r"(?i)^\s*create\s+(?:or\s+replace\s+)?(?:function|procedure|view)\s+([\w.]+)",
        ),
    ];
    HashMap::from([
        ("Ruby", compiled(&ruby)),
        ("PHP", compiled(&php)),
        ("Kotlin", compiled(&kotlin)),
        ("Swift", compiled(&swift)),
        ("C#", compiled(&csharp)),
        ("Scala", compiled(&scala)),
        ("Shell", compiled(&shell)),
        ("BASH", compiled(&shell)),
        ("Elixir", compiled(&elixir)),
        ("Lua", compiled(&lua)),
        ("Perl", compiled(&perl)),
        ("Dart", compiled(&dart)),
        ("Tcl", compiled(&tcl)),
        ("SQL", compiled(&sql)),
    ])
});

/// Returns the rules of a language that is read by lines.
pub(super) fn rules(language: &str) -> Option<&'static Rules> {
    RULES.get(language)
}

/// Lists what a file defines.
pub(super) fn definitions(language: LanguageId, bytes: &[u8]) -> Vec<Definition> {
    let Some(rules) = rules(language.name()) else {
        return Vec::new();
    };
    let code = masking::code_only(bytes, language.grammar());
    // Quoted names of tables are masked with the strings.
    let text = if language.name() == "SQL" {
        masking::without_comments(bytes, language.grammar())
    } else {
        code
    };
    let mut found = Vec::new();
    for (line, text) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        if text.len() > MAX_LINE {
            continue;
        }
        for (kind, pattern) in rules {
            let Some(groups) = pattern.captures(text) else {
                continue;
            };
            let name = groups.iter().skip(1).flatten().next();
            if let Some(name) = name {
                found.push(Definition {
                    kind: *kind,
                    name: shortened(&printable(name.as_bytes()), MAX_NAME),
                    line,
                    exported: memchr::memmem::find(text, b"private").is_none(),
                });
            }
            break;
        }
        if found.len() >= MAX_DEFINITIONS {
            break;
        }
    }
    found
}
