//! Measures the cyclomatic complexity, length and nesting of functions.

use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use tree_sitter::{Node, ParseOptions, Parser};

use super::function_rules::{Rules, is_parsed, rules};
use crate::Budget;
use crate::paths::printable;
use crate::report::codebase::{ComplexityBand, ComplexityReport, FunctionMeasure};
use crate::report::{Incomplete, Listing};
use crate::text::shortened;
use crate::tree::classify::Origin;
use crate::tree::rust_tests;
use crate::tree::working_tree::{Tree, TreeFile};

/// Larger files are tables or generated; parsing them takes seconds.
const MAX_FILE_SIZE: u64 = 1 << 20;

/// Most functions kept in the complete report.
const MAX_REPORTED: usize = 1_000;

/// Bands of complexity, by their first value.
const BANDS: [u64; 5] = [1, 6, 11, 21, 51];

/// The most complex functions met so far; all of a large tree would take hundreds of megabytes.
#[derive(Default)]
struct Top(Mutex<Vec<FunctionMeasure>>);

impl Top {
    fn offer(&self, functions: Vec<FunctionMeasure>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(functions);
        if kept.len() > 4 * MAX_REPORTED {
            keep_most_complex(&mut kept);
        }
    }

    fn finish(self) -> Vec<FunctionMeasure> {
        let mut kept = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        keep_most_complex(&mut kept);
        kept
    }
}

fn keep_most_complex(functions: &mut Vec<FunctionMeasure>) {
    functions.sort_by(|one, other| {
        (other.cyclomatic, other.lines)
            .cmp(&(one.cyclomatic, one.lines))
            .then_with(|| (&one.path, one.line).cmp(&(&other.path, other.line)))
    });
    functions.truncate(MAX_REPORTED);
}

/// Complexity and lines of a function: what the statistics need of each.
type Numbers = (u32, u32);

/// Measures the functions of all files, large files first: what the time does not suffice for is small.
pub(super) fn report(
    root: &Path,
    tree: &Tree,
    budget: &Budget,
    incomplete: &mut Vec<Incomplete>,
) -> ComplexityReport {
    let mut files: Vec<&TreeFile> = tree
        .files
        .iter()
        .filter(|file| {
            file.origin == Origin::Own
                && !file.is_test
                && file.size > 0
                && file.language().is_some_and(is_parsed)
        })
        .collect();
    let wanted = files.len();
    files.retain(|file| file.size <= MAX_FILE_SIZE);
    let large = wanted - files.len();
    files.sort_by_key(|file| std::cmp::Reverse(file.size));
    let top = Top::default();
    let results: Vec<Option<Vec<Numbers>>> = files
        .par_iter()
        .with_max_len(1)
        .map_init(Parser::new, |parser, file| {
            let functions = measure_file(root, file, parser, budget)?;
            let numbers = functions.iter().map(numbers).collect();
            top.offer(functions);
            Some(numbers)
        })
        .collect();
    let parsed = results.iter().flatten().count();
    if large > 0 {
        incomplete.push(Incomplete::new(
            "complexity",
            format!("{large} files above 1 MiB were not parsed"),
        ));
    }
    if parsed < files.len() {
        incomplete.push(Incomplete::new(
            "complexity",
            format!(
                "{parsed} of {} files were parsed (the others could not be, or the time limit was reached)",
                files.len()
            ),
        ));
    }
    let all = results.into_iter().flatten().flatten().collect();
    summary(all, top.finish(), parsed as u64)
}

fn numbers(function: &FunctionMeasure) -> Numbers {
    let short = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    (short(function.cyclomatic), short(function.lines))
}

fn summary(mut all: Vec<Numbers>, top: Vec<FunctionMeasure>, files: u64) -> ComplexityReport {
    all.sort_unstable_by_key(|(_, lines)| *lines);
    let at_percent = |percent: usize| {
        all.get(all.len() * percent / 100)
            .map_or(0, |(_, lines)| u64::from(*lines))
    };
    let distribution = BANDS
        .iter()
        .enumerate()
        .map(|(number, &from)| {
            let to = BANDS.get(number + 1).map(|next| next - 1);
            let inside = |(cyclomatic, _): &&Numbers| {
                let cyclomatic = u64::from(*cyclomatic);
                cyclomatic >= from && to.is_none_or(|to| cyclomatic <= to)
            };
            ComplexityBand {
                from,
                to,
                functions: all.iter().filter(inside).count() as u64,
            }
        })
        .collect();
    let functions = all.len() as u64;
    ComplexityReport {
        functions,
        files,
        distribution,
        median_lines: at_percent(50),
        long_lines: at_percent(90),
        top: Listing {
            omitted: functions - top.len() as u64,
            items: top,
        },
    }
}

fn measure_file(
    root: &Path,
    file: &TreeFile,
    parser: &mut Parser,
    budget: &Budget,
) -> Option<Vec<FunctionMeasure>> {
    if budget.must_stop() {
        return None;
    }
    let language = file.language()?;
    let rules = rules(language)?;
    let bytes = file.read(root, MAX_FILE_SIZE)?;
    parser.set_language(&rules.grammar).ok()?;
    let mut stop = |_: &tree_sitter::ParseState| {
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
        rust_tests::test_ranges(&bytes, language.grammar())
    } else {
        Vec::new()
    };
    Some(functions(
        syntax.root_node(),
        rules,
        &bytes,
        &tests,
        &file.path,
    ))
}

/// A function whose end has not been reached.
struct Open {
    measure: FunctionMeasure,
    depth: usize,
    branches: i64,
    nesting: u64,
}

/// Walks the syntax tree once, without recursion: hostile files nest deeply.
fn functions(
    root: Node<'_>,
    rules: &Rules,
    bytes: &[u8],
    tests: &[Range<usize>],
    path: &str,
) -> Vec<FunctionMeasure> {
    let mut done = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut cursor = root.walk();
    // For each level: whether it nests, whether an `if` below it is an `else if`, and the node: asked for its parent,
    // a node is searched from the root.
    let mut levels: Vec<(bool, bool, Node<'_>)> = Vec::new();
    loop {
        let node = cursor.node();
        let meaning = rules.meaning(node.kind_id());
        let is_else_if =
            meaning.chain.is_if() && levels.last().is_some_and(|(_, is_else, _)| *is_else);
        let nests = meaning.nests && !is_else_if;
        if meaning.is_function
            && !tests.iter().any(|range| range.contains(&node.start_byte()))
            && let Some(name) = name_of(node, levels.last().map(|level| level.2), bytes)
        {
            open.push(Open {
                measure: FunctionMeasure {
                    path: path.to_owned(),
                    line: node.start_position().row as u64 + 1,
                    name,
                    cyclomatic: 1,
                    lines: (node.end_position().row - node.start_position().row) as u64 + 1,
                    nesting: 0,
                },
                depth: levels.len(),
                branches: 0,
                nesting: 0,
            });
        } else if let Some(function) = open.last_mut() {
            function.branches += meaning.branches;
            function.nesting += u64::from(nests);
            function.measure.nesting = function.measure.nesting.max(function.nesting);
        }
        if cursor.goto_first_child() {
            levels.push((nests, meaning.chain.is_else(), node));
            continue;
        }
        leave(&mut open, &mut done, nests, levels.len());
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return done;
            }
            let Some((nested, ..)) = levels.pop() else {
                return done;
            };
            leave(&mut open, &mut done, nested, levels.len());
        }
    }
}

/// Leaves a node: a function that began at this level ends.
fn leave(open: &mut Vec<Open>, done: &mut Vec<FunctionMeasure>, nested: bool, depth: usize) {
    if let Some(function) = open.pop_if(|function| function.depth == depth) {
        let mut measure = function.measure;
        measure.cyclomatic = u64::try_from(function.branches + 1).unwrap_or(1).max(1);
        done.push(measure);
    } else if let Some(function) = open.last_mut().filter(|_| nested) {
        function.nesting = function.nesting.saturating_sub(1);
    }
}

/// Finds the name of a function with a body; what has none belongs to the function around it.
fn name_of(node: Node<'_>, parent: Option<Node<'_>>, bytes: &[u8]) -> Option<String> {
    node.child_by_field_name("body")?;
    let text = |node: Node<'_>| {
        let name = bytes.get(node.byte_range())?;
        Some(shortened(printable(name.trim_ascii()).as_str(), 100))
    };
    if let Some(name) = node.child_by_field_name("name") {
        return text(name);
    }
    if let Some(mut declarator) = node.child_by_field_name("declarator") {
        // C: `int *(*f(void))(int)`: the innermost declarator is the name.
        for _ in 0..20 {
            match declarator.child_by_field_name("declarator") {
                Some(inner) => declarator = inner,
                None => match declarator
                    .named_child(0)
                    .filter(|_| declarator.kind().ends_with("_declarator"))
                {
                    Some(inner) => declarator = inner,
                    None => break,
                },
            }
        }
        return text(declarator);
    }
    // JavaScript: `const name = () => …`, `name: function () {…}`, `x.name = …`.
    let parent = parent?;
    let field = match parent.kind() {
        "variable_declarator" | "public_field_definition" | "field_definition" => "name",
        "pair" => "key",
        "assignment_expression" => "left",
        _ => return None,
    };
    text(
        parent
            .child_by_field_name(field)
            .or_else(|| parent.child_by_field_name("property"))?,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::language::named;

    fn measured(language: &str, text: &str) -> Vec<(String, u64, u64, u64)> {
        let rules = rules(named(language).unwrap()).unwrap();
        let mut parser = Parser::new();
        parser.set_language(&rules.grammar).unwrap();
        let syntax = parser.parse(text, None).unwrap();
        assert!(!syntax.root_node().has_error());
        functions(syntax.root_node(), rules, text.as_bytes(), &[], "f")
            .into_iter()
            .map(|function| {
                (
                    function.name,
                    function.cyclomatic,
                    function.nesting,
                    function.lines,
                )
            })
            .collect()
    }

    #[test]
    fn measures_rust() {
        let text = "fn a(x: u8) -> u8 {\n    if x > 1 && x < 9 {\n        for _ in 0..3 { if x == 2 { return 1; } }\n    } else if x == 0 {\n        return 3;\n    }\n    match x { 1 => 2, 2 => 3, _ => 4 }\n}\nimpl K { fn b(&self) { let c = |y: u8| if y > 1 { 1 } else { 2 }; } }\n";
        assert_eq!(
            measured("Rust", text),
            [("a".to_owned(), 8, 3, 8), ("b".to_owned(), 2, 1, 1)]
        );
    }

    #[test]
    fn measures_the_other_languages() {
        let cases = [
            (
                "TypeScript",
                "const run = (a: number) => { if (a && a > 1) { return a ? 1 : 2 } };",
                "run",
                4,
            ),
            (
                "JavaScript",
                "class K { m(x) { switch (x) { case 1: break; case 2: break; default: } for (const a of x) {} } }",
                "m",
                4,
            ),
            (
                "Python",
                "def f(a):\n    if a and b:\n        return [x for x in a if x]\n    elif c:\n        pass\n    try:\n        pass\n    except E:\n        pass\n",
                "f",
                6,
            ),
            (
                "Go",
                "package a\nfunc F(x int) int {\n for i := 0; i < x; i++ {\n  if i > 2 || x > 3 { return 1 }\n }\n switch x {\n case 1: return 2\n default: return 3\n }\n}\n",
                "F",
                5,
            ),
            (
                "Java",
                "class K { int m(int x) { while (x > 1) { x = x > 5 ? 1 : 2; } return x; } }",
                "m",
                3,
            ),
            (
                "C",
                "static int *f(int x) { if (x) return 0; do { x--; } while (x); return 0; }",
                "f",
                3,
            ),
            (
                "C++",
                "int K::m(int x) { for (auto a : v) { if (a) return 1; } return 0; }",
                "K::m",
                3,
            ),
        ];
        for (language, text, name, cyclomatic) in cases {
            let found = measured(language, text);
            assert_eq!(found.len(), 1, "{language}: {found:?}");
            assert_eq!(
                (found[0].0.as_str(), found[0].1),
                (name, cyclomatic),
                "{language}"
            );
        }
    }
}
