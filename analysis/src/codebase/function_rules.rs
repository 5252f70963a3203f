//! The syntax nodes that are functions, branches and nesting, for each language that is parsed.

use std::collections::HashMap;
use std::sync::LazyLock;

use tree_sitter::Language;

use crate::tree::language::LanguageId;

/// The position of a node in an `if … else if … else`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Chain {
    #[default]
    None,
    /// An `if` of a grammar that has a node for `else`.
    If,
    /// What an `else if` hangs on.
    Else,
    /// An `if` on which the next one may hang directly.
    Both,
}

impl Chain {
    pub(super) fn is_if(self) -> bool {
        matches!(self, Self::If | Self::Both)
    }

    pub(super) fn is_else(self) -> bool {
        matches!(self, Self::Else | Self::Both)
    }
}

/// What a syntax node means for the measure of a function.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Meaning {
    pub(super) is_function: bool,
    /// Added to the complexity; negative for a `match`, whose first arm is not a branch.
    pub(super) branches: i64,
    pub(super) nests: bool,
    pub(super) chain: Chain,
}

/// A grammar with the meaning of its nodes.
pub(super) struct Rules {
    pub(super) grammar: Language,
    meanings: Vec<Meaning>,
}

impl Rules {
    fn new(
        grammar: Language,
        functions: &[&str],
        branches: &[&str],
        nests: &[&str],
        offsets: &[(&str, i64)],
    ) -> Self {
        let mut meanings = vec![Meaning::default(); grammar.node_kind_count()];
        for (id, meaning) in meanings.iter_mut().enumerate() {
            let Ok(id) = u16::try_from(id) else { continue };
            let Some(kind) = grammar.node_kind_for_id(id) else {
                continue;
            };
            let is_operator = !grammar.node_kind_is_named(id) && matches!(kind, "&&" | "||" | "??");
            *meaning = Meaning {
                is_function: functions.contains(&kind),
                branches: i64::from(branches.contains(&kind) || is_operator)
                    + offsets
                        .iter()
                        .find(|(name, _)| *name == kind)
                        .map_or(0, |(_, offset)| *offset),
                nests: nests.contains(&kind),
                chain: match kind {
                    "if_statement" => Chain::Both,
                    "if_expression" => Chain::If,
                    "else_clause" => Chain::Else,
                    _ => Chain::None,
                },
            };
            // Keywords share their names with nodes in some grammars.
            if !grammar.node_kind_is_named(id) && !is_operator {
                *meaning = Meaning::default();
            }
        }
        Self { grammar, meanings }
    }

    pub(super) fn meaning(&self, kind: u16) -> Meaning {
        self.meanings
            .get(usize::from(kind))
            .copied()
            .unwrap_or_default()
    }
}

const C_LOOPS: [&str; 4] = [
    "if_statement",
    "for_statement",
    "while_statement",
    "do_statement",
];

static RULES: LazyLock<HashMap<&'static str, Rules>> = LazyLock::new(|| {
    let with = |more: &[&'static str]| [&C_LOOPS[..], more].concat();
    let ecma = |grammar: Language| {
        Rules::new(
            grammar,
            &[
                "function_declaration",
                "function_expression",
                "arrow_function",
                "method_definition",
                "generator_function_declaration",
                "generator_function",
            ],
            &with(&[
                "for_in_statement",
                "switch_case",
                "catch_clause",
                "ternary_expression",
            ]),
            &with(&["for_in_statement", "switch_statement", "try_statement"]),
            &[],
        )
    };
    let c = |grammar: Language| {
        Rules::new(
            grammar,
            &["function_definition"],
            &with(&[
                "case_statement",
                "conditional_expression",
                "for_range_loop",
                "catch_clause",
            ]),
            &with(&["switch_statement", "for_range_loop", "try_statement"]),
            &[],
        )
    };
    let rust = Rules::new(
        tree_sitter_rust::LANGUAGE.into(),
        &["function_item"],
        &[
            "if_expression",
            "while_expression",
            "loop_expression",
            "for_expression",
            "match_arm",
        ],
        &[
            "if_expression",
            "while_expression",
            "loop_expression",
            "for_expression",
            "match_expression",
        ],
        &[("match_expression", -1)],
    );
    let python = Rules::new(
        tree_sitter_python::LANGUAGE.into(),
        &["function_definition"],
        &[
            "if_statement",
            "elif_clause",
            "for_statement",
            "while_statement",
            "except_clause",
            "conditional_expression",
            "boolean_operator",
            "case_clause",
            "if_clause",
        ],
        &[
            "if_statement",
            "for_statement",
            "while_statement",
            "try_statement",
            "with_statement",
            "match_statement",
        ],
        &[],
    );
    let go = Rules::new(
        tree_sitter_go::LANGUAGE.into(),
        &["function_declaration", "method_declaration"],
        &[
            "if_statement",
            "for_statement",
            "expression_case",
            "type_case",
            "communication_case",
        ],
        &[
            "if_statement",
            "for_statement",
            "expression_switch_statement",
            "type_switch_statement",
            "select_statement",
        ],
        &[],
    );
    let java = Rules::new(
        tree_sitter_java::LANGUAGE.into(),
        &["method_declaration", "constructor_declaration"],
        &with(&[
            "enhanced_for_statement",
            "switch_label",
            "catch_clause",
            "ternary_expression",
        ]),
        &with(&[
            "enhanced_for_statement",
            "switch_expression",
            "try_statement",
        ]),
        &[],
    );
    HashMap::from([
        ("Rust", rust),
        (
            "TypeScript",
            ecma(tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()),
        ),
        ("TSX", ecma(tree_sitter_typescript::LANGUAGE_TSX.into())),
        ("JavaScript", ecma(tree_sitter_javascript::LANGUAGE.into())),
        ("JSX", ecma(tree_sitter_javascript::LANGUAGE.into())),
        ("Python", python),
        ("Go", go),
        ("Java", java),
        ("C", c(tree_sitter_c::LANGUAGE.into())),
        ("C Header", c(tree_sitter_c::LANGUAGE.into())),
        ("C++", c(tree_sitter_cpp::LANGUAGE.into())),
        ("C++ Header", c(tree_sitter_cpp::LANGUAGE.into())),
    ])
});

/// Returns the rules of a language that is parsed.
pub(super) fn rules(language: LanguageId) -> Option<&'static Rules> {
    RULES.get(language.name())
}

/// Returns whether functions of this language are measured, without loading its grammar.
pub(super) fn is_parsed(language: LanguageId) -> bool {
    matches!(
        language.name(),
        "Rust"
            | "TypeScript"
            | "TSX"
            | "JavaScript"
            | "JSX"
            | "Python"
            | "Go"
            | "Java"
            | "C"
            | "C Header"
            | "C++"
            | "C++ Header"
    )
}
