//! Import and export patterns of ECMAScript, Python, Go, Java, C and C++.

use std::sync::LazyLock;

use regex::bytes::{Captures, Regex};

use super::{ExportKind, Import, Imports, SourceFacts, When};

/// A pattern that is known to compile; tests run all of them.
struct Pattern(LazyLock<Option<Regex>>);

macro_rules! pattern {
    ($name:ident, $text:literal) => {
        static $name: Pattern = Pattern(LazyLock::new(|| Regex::new($text).ok()));
    };
}

impl Pattern {
    fn each<'t>(&'static self, text: &'t [u8]) -> impl Iterator<Item = Captures<'t>> {
        self.0
            .as_ref()
            .into_iter()
            .flat_map(move |regex| regex.captures_iter(text))
    }

    fn is_in(&self, text: &[u8]) -> bool {
        self.0.as_ref().is_some_and(|regex| regex.is_match(text))
    }
}

fn group(captures: &Captures<'_>, number: usize) -> String {
    captures.get(number).map_or_else(String::new, |text| {
        String::from_utf8_lossy(text.as_bytes()).into_owned()
    })
}

fn bytes<'t>(captures: &Captures<'t>, number: usize) -> &'t [u8] {
    captures.get(number).map_or(b"", |text| text.as_bytes())
}

pattern!(
    ECMA_FROM,
    r#"(?m)(?:^|[;}>])[ \t]*(?P<word>import|export)\b(?P<names>[^;'"`()]*?)\bfrom\s*["'](?P<path>[^"'\n]+)["']"#
);
pattern!(
    ECMA_BARE,
    r#"(?m)(?:^|;)[ \t]*(?P<word>import)\s*["'](?P<path>[^"'\n]+)["']"#
);
pattern!(
    ECMA_CALL,
    r#"(?:^|[^.\w$])(?P<word>(?:require|import)\s*\()\s*["'`](?P<path>[^"'`$\n]+)["'`]"#
);
pattern!(
    ECMA_EXPORT,
    r"(?m)^export\s+(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(function\b\s*\*?|class|interface|type|enum|const\s+enum|const|let|var|namespace)\s+([A-Za-z_$][\w$]*)"
);
pattern!(ECMA_EXPORT_LIST, r"(?m)^export\s+(?:type\s+)?\{([^}]*)\}");
pattern!(
    ECMA_EXPORTS,
    r"(?m)^(?:module\.)?exports\.([A-Za-z_$][\w$]*)\s*="
);

pattern!(
    ECMA_LOAD,
    r#"\b(?:import|require(?:\.resolve)?|mock|importActual)\s*\(?\s*["'`]([^"'`\n]+)["'`]"#
);
pattern!(
    ECMA_REFERENCE,
    r#"(?m)^[ \t]*///[ \t]*<reference types=["']([^"'\n]+)["']"#
);

/// Reads the imports of TypeScript and JavaScript; `code` is the text with its strings masked, where that matters.
pub(super) fn ecma_imports(text: &[u8], code: Option<&[u8]>, imports: &mut Imports) {
    let is_code = |at: usize| {
        code.and_then(|code| code.get(at))
            .is_none_or(|byte| !byte.is_ascii_whitespace())
    };
    for pattern in [&ECMA_FROM, &ECMA_BARE, &ECMA_CALL] {
        for captures in pattern.each(text) {
            let Some(keyword) = captures.name("word").filter(|word| is_code(word.start())) else {
                continue;
            };
            let when = if keyword.as_bytes().ends_with(b"(") {
                call_time(text, keyword.start(), keyword.as_bytes())
            } else if captures
                .name("names")
                .is_some_and(|names| are_types(names.as_bytes()))
            {
                When::Type
            } else {
                When::Load
            };
            let path = captures
                .name("path")
                .map_or(&b""[..], |path| path.as_bytes());
            imports.add(
                when,
                Import::Path(String::from_utf8_lossy(path).into_owned()),
            );
        }
    }
}

/// `import()` loads later; `require()` does when it stands inside something.
fn call_time(text: &[u8], at: usize, call: &[u8]) -> When {
    let line = memchr::memrchr(b'\n', &text[..at]).map_or(0, |at| at + 1);
    let is_indented = text.get(line).is_some_and(u8::is_ascii_whitespace);
    if call.starts_with(b"import") || is_indented {
        When::Lazy
    } else {
        When::Load
    }
}

/// Whether an import brings in types alone: `type A`, `type { A }`, `{ type A, type B }`.
fn are_types(names: &[u8]) -> bool {
    let names = String::from_utf8_lossy(names);
    let names = names.trim();
    if let Some(rest) = names.strip_prefix("type") {
        // `import type from './x'` imports a value of that name.
        let rest = rest.trim_start();
        return !rest.is_empty() && !rest.starts_with(',');
    }
    names
        .strip_prefix('{')
        .and_then(|names| names.strip_suffix('}'))
        .is_some_and(|names| {
            let mut names = names
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty());
            names.clone().next().is_some() && names.all(|name| name.starts_with("type "))
        })
}

/// Adds modules that are loaded without an import: by mocks, style sheets and `/// <reference>`, which is a comment.
pub(super) fn ecma_loads(bytes: &[u8], text: &[u8], imports: &mut Imports) {
    paths(&ECMA_LOAD, text, imports);
    paths(&ECMA_REFERENCE, bytes, imports);
}

fn paths(pattern: &'static Pattern, text: &[u8], imports: &mut Imports) {
    for captures in pattern.each(text) {
        imports.add(When::Load, Import::Path(group(&captures, 1)));
    }
}

/// Reads the exports of TypeScript and JavaScript.
pub(super) fn ecma(text: &[u8], is_page: bool) -> SourceFacts {
    let mut facts = SourceFacts::default();
    for captures in ECMA_EXPORT.each(text) {
        let kind = match bytes(&captures, 1) {
            b"class" | b"interface" | b"type" | b"enum" | b"namespace" => ExportKind::Type,
            word if word.starts_with(b"function") => ExportKind::Function,
            _ => ExportKind::Value,
        };
        facts.export(kind, bytes(&captures, 2));
    }
    for captures in ECMA_EXPORT_LIST.each(text) {
        for item in group(&captures, 1).split(',') {
            let name = item
                .rsplit(" as ")
                .next()
                .unwrap_or(item)
                .trim()
                .trim_start_matches("type ");
            if !name.is_empty() {
                facts.export(ExportKind::Value, name.as_bytes());
            }
        }
    }
    for captures in ECMA_EXPORTS.each(text) {
        facts.export(ExportKind::Value, bytes(&captures, 1));
    }
    if is_page {
        facts.exported = 1;
    }
    facts
}

pattern!(
    PYTHON_ITEM,
    r"(?m)^(?:async[ \t]+)?(def|class)[ \t]+([A-Za-z]\w*)"
);
pattern!(
    PYTHON_VALUE,
    r"(?m)^([A-Z][A-Z0-9_]+)[ \t]*(?::[^=\n]+)?=[^=]"
);
pattern!(PYTHON_MAIN, r"(?m)^if[ \t]+__name__[ \t]*==");

/// Reads the exports of Python.
pub(super) fn python(text: &[u8]) -> SourceFacts {
    let mut facts = SourceFacts::default();
    for captures in PYTHON_ITEM.each(text) {
        let kind = if bytes(&captures, 1) == b"class" {
            ExportKind::Type
        } else {
            ExportKind::Function
        };
        facts.export(kind, bytes(&captures, 2));
    }
    for captures in PYTHON_VALUE.each(text) {
        facts.export(ExportKind::Value, bytes(&captures, 1));
    }
    facts.has_main = PYTHON_MAIN.is_in(text);
    facts
}

pattern!(GO_IMPORT, r#"(?m)^import\s+(?:([\w.]+)\s+)?"([^"\n]+)""#);
pattern!(GO_IMPORTS, r"(?m)^import\s*\(([^)]*)\)");
pattern!(GO_IMPORTED, r#"(?:([\w.]+)[ \t]+)?"([^"\n]+)""#);
pattern!(GO_FUNCTION, r"(?m)^func\s+(?:\([^)]*\)\s*)?([A-Z]\w*)");
pattern!(GO_ITEM, r"(?m)^(type|var|const)\s+([A-Z]\w*)");
pattern!(GO_MAIN, r"(?m)^package\s+main\b");
pattern!(GO_MAIN_FUNCTION, r"(?m)^func\s+main\s*\(\s*\)");

/// Reads the imports of Go from the part before all declarations.
pub(super) fn go_imports(text: &[u8], imports: &mut Imports) {
    let mut add = |captures: &Captures<'_>| {
        let (alias, path) = (group(captures, 1), group(captures, 2));
        let import = if alias.is_empty() {
            Import::Path(path)
        } else {
            Import::From {
                module: path,
                names: vec![alias],
            }
        };
        imports.add(When::Load, import);
    };
    GO_IMPORT.each(text).for_each(|captures| add(&captures));
    for block in GO_IMPORTS.each(text) {
        GO_IMPORTED
            .each(bytes(&block, 1))
            .for_each(|captures| add(&captures));
    }
}

/// Reads the exports of Go.
pub(super) fn go(text: &[u8]) -> SourceFacts {
    let mut facts = SourceFacts::default();
    for captures in GO_ITEM.each(text) {
        let kind = if bytes(&captures, 1) == b"type" {
            ExportKind::Type
        } else {
            ExportKind::Value
        };
        facts.export(kind, bytes(&captures, 2));
    }
    for captures in GO_FUNCTION.each(text) {
        facts.export(ExportKind::Function, bytes(&captures, 1));
    }
    facts.has_main = GO_MAIN.is_in(text) && GO_MAIN_FUNCTION.is_in(text);
    facts
}

pattern!(
    JAVA_IMPORT,
    r"(?m)^\s*import\s+(?:static\s+)?([\w.]+?(?:\.\*)?)(?:[\s;{]|$)"
);
pattern!(
    JAVA_TYPE,
    r"(?m)^public\s+(?:\w+\s+)*?(?:class|@?interface|enum|record)\s+(\w+)"
);
pattern!(
    JAVA_MEMBER,
    r"(?m)^[ \t]+public\s+[\w<>\[\], .?]*?(\w+)\s*\("
);
pattern!(JAVA_MAIN, r"public\s+static\s+void\s+main\s*\(");

/// Reads the imports of Java, Kotlin, Scala and Groovy.
pub(super) fn java_imports(text: &[u8], imports: &mut Imports) {
    paths(&JAVA_IMPORT, text, imports);
}

/// Reads the exports of Java.
pub(super) fn java(text: &[u8]) -> SourceFacts {
    let mut facts = SourceFacts::default();
    for captures in JAVA_TYPE.each(text) {
        facts.export(ExportKind::Type, bytes(&captures, 1));
    }
    for captures in JAVA_MEMBER.each(text) {
        facts.export(ExportKind::Function, bytes(&captures, 1));
    }
    facts.has_main = JAVA_MAIN.is_in(text);
    facts
}

pattern!(
    C_INCLUDE,
    r#"(?m)^[ \t]*#[ \t]*(?:include|import)[ \t]*(["<])([^">\n]+)[">]"#
);
pattern!(
    C_FUNCTION,
    r"(?m)^[A-Za-z_][\w \t*&:<>]*?[ \t*&]([A-Za-z_]\w*)[ \t]*\([^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)*\)[^;{}()]*;"
);
pattern!(
    C_TYPE,
    r"(?m)^(?:typedef[ \t]+)?(?:struct|class|enum|union)[ \t]+(?:class[ \t]+)?([A-Za-z_]\w*)[^;(){}]*\{"
);
pattern!(C_TYPEDEF, r"(?m)^\}[ \t]*([A-Za-z_]\w*)[ \t]*;");
pattern!(
    C_MAIN,
    r"(?m)^(?:extern[ \t]+)?(?:int|void|auto)?[ \t]*main[ \t]*\("
);

/// Reads the headers that C and C++ include.
pub(super) fn c_imports(text: &[u8], imports: &mut Imports) {
    for captures in C_INCLUDE.each(text) {
        let path = group(&captures, 2).trim().to_owned();
        let import = if bytes(&captures, 1) == b"<" {
            Import::System(path)
        } else {
            Import::Path(path)
        };
        imports.add(When::Load, import);
    }
}

/// Reads the exports of C and C++; only headers have any.
pub(super) fn c(text: &[u8], is_header: bool) -> SourceFacts {
    let mut facts = SourceFacts::default();
    if is_header {
        for pattern in [&C_TYPE, &C_TYPEDEF] {
            for captures in pattern.each(text) {
                facts.export(ExportKind::Type, bytes(&captures, 1));
            }
        }
        for captures in C_FUNCTION.each(text) {
            facts.export(ExportKind::Function, bytes(&captures, 1));
        }
    } else {
        facts.has_main = C_MAIN.is_in(text);
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::super::extract;
    use super::*;
    use crate::tree::language::named;

    fn facts(language: &str, text: &str) -> SourceFacts {
        extract(text.as_bytes(), named(language).unwrap())
    }

    fn paths(facts: &SourceFacts) -> Vec<&str> {
        facts
            .imports
            .iter()
            .map(|(_, import)| match import {
                Import::Path(path) | Import::System(path) => path.as_str(),
                Import::From { module, .. } => module.as_str(),
            })
            .collect()
    }

    fn names(facts: &SourceFacts) -> Vec<&str> {
        facts.names.iter().map(|(_, name)| &**name).collect()
    }

    #[test]
    fn reads_typescript() {
        let facts = facts(
            "TypeScript",
            "import {\n  a,\n  b as c,\n} from './a'\nimport './side.css';\nimport type D from \"../d\";\nexport * from './e';\n// import x from './no'\nconst s = \"import y from './string'\";\nconst f = require('./f'); const g = await import('./g');\nexport class K {}\nexport default function run() {}\nexport const v = 1;\nexport { p, q as r };\n",
        );
        assert_eq!(
            paths(&facts),
            ["./a", "../d", "./e", "./side.css", "./f", "./g"]
        );
        assert_eq!(names(&facts), ["K", "run", "v", "p", "r"]);
    }

    #[test]
    fn tells_types_and_late_loading_from_imports() {
        let facts = facts(
            "TypeScript",
            "import type { A } from './type';\nimport { type B, type C } from './types';\nimport { type D, e } from './mixed';\nimport type from './name';\nexport type { F } from './again';\nconst g = () => import('./late');\nfunction h() {\n  return require('./inside');\n}\nconst i = require('./top');\nconst text = `\nimport x from './text';\n`;\nobject.require('./method');\n",
        );
        let of = |when: When| -> Vec<&Import> {
            let imports = facts.imports.iter();
            imports
                .filter(|(other, _)| *other == when)
                .map(|(_, import)| import)
                .collect()
        };
        let paths = |paths: &[&str]| -> Vec<Import> {
            paths
                .iter()
                .map(|path| Import::Path((*path).to_owned()))
                .collect()
        };
        assert_eq!(
            of(When::Load),
            paths(&["./mixed", "./name", "./top"])
                .iter()
                .collect::<Vec<_>>()
        );
        assert_eq!(
            of(When::Type),
            paths(&["./type", "./types", "./again"])
                .iter()
                .collect::<Vec<_>>()
        );
        assert_eq!(
            of(When::Lazy),
            paths(&["./late", "./inside"]).iter().collect::<Vec<_>>()
        );
    }

    #[test]
    fn reads_python() {
        let facts = facts(
            "Python",
            "\"\"\"\nimport nothing\n\"\"\"\nimport os, a.b as c\nfrom . import (\n  x,\n  y as z,\n)\nfrom ..pkg.mod import thing\ndef f(): pass\ndef _g(): pass\nclass K:\n  import inner\nLIMIT = 3\nif __name__ == '__main__': f()\n",
        );
        assert_eq!(paths(&facts), ["os", "a.b", ".", "..pkg.mod", "inner"]);
        assert_eq!(names(&facts), ["f", "K", "LIMIT"]);
        assert!(facts.has_main);
    }

    #[test]
    fn reads_go_java_and_c() {
        let go = facts(
            "Go",
            "package main\nimport \"fmt\"\nimport (\n\tx \"example.com/m/a\"\n\t// \"no\"\n\t_ \"b\"\n)\ntype T struct{}\nfunc (t T) M() {}\nfunc small() {}\nfunc main() {}\n",
        );
        assert_eq!(paths(&go), ["fmt", "example.com/m/a", "b"]);
        assert_eq!(names(&go), ["T", "M"]);
        assert!(go.has_main);
        let java = facts(
            "Java",
            "package a.b;\nimport a.c.D;\nimport static a.E.f;\nimport a.g.*;\npublic final class K {\n  public int m(int x) { return x; }\n}\n",
        );
        assert_eq!(paths(&java), ["a.c.D", "a.E.f", "a.g.*"]);
        assert_eq!(names(&java), ["K", "m"]);
        let c = facts(
            "C Header",
            "#include \"a/b.h\"\n#  include <c.h>\n/* #include \"no.h\" */\nstruct s {\n int x;\n};\ntypedef struct {\n int y;\n} t;\nint f(int a, void (*g)(int));\nstatic inline int h(void) { return f(1, 0); }\n",
        );
        assert_eq!(paths(&c), ["a/b.h", "c.h"]);
        assert_eq!(names(&c), ["s", "t", "f"]);
    }

    #[test]
    fn all_patterns_compile() {
        for pattern in [
            &ECMA_FROM,
            &ECMA_BARE,
            &ECMA_CALL,
            &ECMA_LOAD,
            &ECMA_REFERENCE,
            &ECMA_EXPORT,
            &ECMA_EXPORT_LIST,
            &ECMA_EXPORTS,
            &PYTHON_ITEM,
            &PYTHON_VALUE,
            &PYTHON_MAIN,
            &GO_IMPORT,
            &GO_IMPORTS,
            &GO_IMPORTED,
            &GO_FUNCTION,
            &GO_ITEM,
            &GO_MAIN,
            &GO_MAIN_FUNCTION,
            &JAVA_IMPORT,
            &JAVA_TYPE,
            &JAVA_MEMBER,
            &JAVA_MAIN,
            &C_INCLUDE,
            &C_FUNCTION,
            &C_TYPE,
            &C_TYPEDEF,
            &C_MAIN,
        ] {
            assert!(pattern.0.is_some());
        }
    }
}
