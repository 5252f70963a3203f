//! Definitions by tree-sitter, for the languages with a grammar.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::LazyLock;

use tree_sitter::{Language, Node, ParseOptions, ParseState, Parser};

use super::{Definition, MAX_DEFINITIONS, MAX_NAME};
use crate::Budget;
use crate::paths::printable;
use crate::report::symbols::SymbolKind;
use crate::text::shortened;
use crate::tree::language::LanguageId;
use crate::tree::rust_tests;

/// What a syntax node means for the list of definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// Neither defines anything nor holds a definition.
    Nothing,
    /// Definitions may stand in it.
    Holds,
    Defines(SymbolKind),
    /// A definition in which others stand: a class, a trait.
    DefinesAndHolds(SymbolKind),
}

/// A grammar with the meaning of its nodes.
pub(super) struct Rules {
    grammar: Language,
    meanings: Vec<Meaning>,
}

impl Rules {
    fn new(grammar: Language) -> Self {
        let meanings = (0..grammar.node_kind_count())
            .map(|id| {
                let id = u16::try_from(id).unwrap_or(u16::MAX);
                match grammar.node_kind_for_id(id) {
                    // Keywords share their names with nodes in some grammars.
                    Some(kind) if grammar.node_kind_is_named(id) => meaning(kind),
                    Some(_) | None => Meaning::Nothing,
                }
            })
            .collect();
        Self { grammar, meanings }
    }

    fn meaning(&self, node: Node<'_>) -> Meaning {
        let meaning = self.meanings.get(usize::from(node.kind_id()));
        meaning.copied().unwrap_or(Meaning::Nothing)
    }
}

/// The grammars use the same name for different things nowhere, so one table serves all.
fn meaning(kind: &str) -> Meaning {
    match kind {
        "source_file"
        | "translation_unit"
        | "program"
        | "module"
        | "block"
        | "statement_block"
        | "declaration_list"
        | "field_declaration_list"
        | "class_body"
        | "interface_body"
        | "enum_body"
        | "enum_body_declarations"
        | "annotation_type_body"
        | "mod_item"
        | "impl_item"
        | "foreign_mod_item"
        | "decorated_definition"
        | "if_statement"
        | "else_clause"
        | "try_statement"
        | "except_clause"
        | "export_statement"
        | "lexical_declaration"
        | "variable_declaration"
        | "ambient_declaration"
        | "internal_module"
        | "expression_statement"
        | "type_declaration"
        | "namespace_definition"
        | "linkage_specification"
        | "template_declaration"
        | "declaration"
        | "preproc_if"
        | "preproc_ifdef"
        | "preproc_else"
        | "preproc_elif" => Meaning::Holds,
        "struct_item"
        | "enum_item"
        | "union_item"
        | "type_item"
        | "associated_type"
        | "type_spec"
        | "type_alias"
        | "type_alias_declaration"
        | "interface_declaration"
        | "struct_specifier"
        | "union_specifier"
        | "enum_specifier"
        | "type_definition"
        | "alias_declaration" => Meaning::Defines(SymbolKind::Type),
        "class_definition"
        | "class_declaration"
        | "abstract_class_declaration"
        | "class_specifier"
        | "trait_item"
        | "enum_declaration"
        | "record_declaration"
        | "annotation_type_declaration" => Meaning::DefinesAndHolds(SymbolKind::Type),
        "function_item"
        | "function_signature_item"
        | "function_definition"
        | "function_declaration"
        | "generator_function_declaration"
        | "function_signature"
        | "method_declaration"
        | "method_definition"
        | "abstract_method_signature"
        | "variable_declarator" => Meaning::Defines(SymbolKind::Function),
        "macro_definition" | "preproc_function_def" => Meaning::Defines(SymbolKind::Macro),
        "const_item" | "static_item" => Meaning::Defines(SymbolKind::Constant),
        _ => Meaning::Nothing,
    }
}

static RULES: LazyLock<HashMap<&'static str, Rules>> = LazyLock::new(|| {
    let typescript = || Rules::new(tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into());
    let javascript = || Rules::new(tree_sitter_javascript::LANGUAGE.into());
    let c = || Rules::new(tree_sitter_c::LANGUAGE.into());
    let cpp = || Rules::new(tree_sitter_cpp::LANGUAGE.into());
    HashMap::from([
        ("Rust", Rules::new(tree_sitter_rust::LANGUAGE.into())),
        ("Python", Rules::new(tree_sitter_python::LANGUAGE.into())),
        ("Go", Rules::new(tree_sitter_go::LANGUAGE.into())),
        ("Java", Rules::new(tree_sitter_java::LANGUAGE.into())),
        ("TypeScript", typescript()),
        (
            "TSX",
            Rules::new(tree_sitter_typescript::LANGUAGE_TSX.into()),
        ),
        ("JavaScript", javascript()),
        ("JSX", javascript()),
        ("C", c()),
        ("C Header", c()),
        ("C++", cpp()),
        ("C++ Header", cpp()),
    ])
});

/// Returns whether a language is parsed, without loading its grammar.
pub(super) fn is_parsed(language: &str) -> bool {
    matches!(
        language,
        "Rust"
            | "Python"
            | "Go"
            | "Java"
            | "TypeScript"
            | "TSX"
            | "JavaScript"
            | "JSX"
            | "C"
            | "C Header"
            | "C++"
            | "C++ Header"
    )
}

/// Returns the rules of a language that is parsed.
pub(super) fn rules(language: &str) -> Option<&'static Rules> {
    RULES.get(language)
}

/// Parses a file and lists what it defines; none when the time is up.
pub(super) fn definitions(
    rules: &Rules,
    language: LanguageId,
    bytes: &[u8],
    parser: &mut Parser,
    budget: &Budget,
) -> Option<Vec<Definition>> {
    parser.set_language(&rules.grammar).ok()?;
    let mut stop = |_: &ParseState| {
        if budget.must_stop() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let syntax = parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or_default(),
        None,
        Some(ParseOptions::new().progress_callback(&mut stop)),
    );
    let Some(syntax) = syntax else {
        parser.reset();
        return None;
    };
    let tests = if language.name() == "Rust" {
        rust_tests::test_ranges(bytes, language.grammar())
    } else {
        Vec::new()
    };
    let mut found = Vec::new();
    // Without recursion: hostile files nest deeply.
    let mut cursor = syntax.walk();
    // Asked for its parent, a node is searched from the root.
    let mut around: Vec<Node<'_>> = Vec::new();
    loop {
        let node = cursor.node();
        let meaning = rules.meaning(node);
        let kind = match meaning {
            Meaning::Defines(kind) | Meaning::DefinesAndHolds(kind) => Some(kind),
            Meaning::Holds | Meaning::Nothing => None,
        };
        if let Some(kind) = kind
            && !tests.iter().any(|range| range.contains(&node.start_byte()))
            && let Some(definition) = definition(node, &around, kind, language.name(), bytes)
        {
            found.push(definition);
        }
        let enters = matches!(meaning, Meaning::Holds | Meaning::DefinesAndHolds(_));
        if found.len() >= MAX_DEFINITIONS {
            return Some(found);
        }
        if enters && cursor.goto_first_child() {
            around.push(node);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(found);
            }
            around.pop();
        }
    }
}

fn definition(
    node: Node<'_>,
    around: &[Node<'_>],
    kind: SymbolKind,
    language: &str,
    bytes: &[u8],
) -> Option<Definition> {
    let node_kind = node.kind();
    // `struct stat *s;` uses a type, `struct stat {…}` defines it.
    if node_kind.ends_with("_specifier") && node.child_by_field_name("body").is_none() {
        return None;
    }
    let mut kind = kind;
    if node_kind == "variable_declarator" {
        let value = node.child_by_field_name("value")?;
        match value.kind() {
            "arrow_function" | "function_expression" | "generator_function" => {}
            "class" => kind = SymbolKind::Type,
            // What is exported is offered to others whatever its value is.
            _ if is_exported(around) => kind = SymbolKind::Constant,
            _ => return None,
        }
    }
    let name_node = match node.child_by_field_name("name") {
        Some(name) => name,
        None => innermost_declarator(node)?,
    };
    let name = bytes.get(name_node.byte_range())?;
    // A pattern, an operator or a destructor is not a name that one could look for.
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$:~".contains(byte) || *byte > 127;
    if name.is_empty() || !name.iter().all(is_name) {
        return None;
    }
    let name = shortened(&printable(name), MAX_NAME);
    let text = |node: Node<'_>| bytes.get(node.byte_range()).unwrap_or_default();
    let modifier = |wanted: &str| {
        let mut cursor = node.walk();
        let mut children = node.children(&mut cursor).take(6);
        children.find(|child| child.kind() == wanted)
    };
    let exported = match language {
        "Rust" => modifier("visibility_modifier").is_some(),
        "Python" => !name.starts_with('_'),
        "Go" => name.starts_with(char::is_uppercase),
        "Java" => modifier("modifiers")
            .is_some_and(|modifiers| memchr::memmem::find(text(modifiers), b"public").is_some()),
        "TypeScript" | "TSX" | "JavaScript" | "JSX" => is_exported(around),
        _ => modifier("storage_class_specifier").is_none_or(|class| text(class) != b"static"),
    };
    Some(Definition {
        kind,
        name,
        line: u32::try_from(name_node.start_position().row + 1).unwrap_or(u32::MAX),
        exported,
    })
}

/// `export const a = …`, `export function a`: the statement or the one around it.
fn is_exported(around: &[Node<'_>]) -> bool {
    let nearest = around.iter().rev().take(2);
    nearest
        .into_iter()
        .any(|node| node.kind() == "export_statement")
}

/// C: `int *(*f(void))(int)`: the innermost declarator is the name.
fn innermost_declarator(node: Node<'_>) -> Option<Node<'_>> {
    let mut declarator = node.child_by_field_name("declarator")?;
    for _ in 0..20 {
        let inner = declarator.child_by_field_name("declarator").or_else(|| {
            declarator
                .named_child(0)
                .filter(|_| declarator.kind().ends_with("_declarator"))
        });
        match inner {
            Some(inner) => declarator = inner,
            None => break,
        }
    }
    Some(declarator)
}
