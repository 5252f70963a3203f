//! Separates tests from production code in Rust source files, with tree-sitter.

use tree_sitter::{Node, Parser};

/// Modules inside modules. Deeper ones are not told apart: a file could be made to exhaust the stack.
const MAX_DEPTH: usize = 100;

/// The kinds of code that a change of a Rust file touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RustChange {
    pub production: bool,
    pub tests: bool,
}

/// Compares two versions of a file; `None` if they can't be parsed as Rust.
pub fn rust_change(before: &str, after: &str) -> Option<RustChange> {
    let (before, after) = (parts(before)?, parts(after)?);
    Some(RustChange {
        production: before.production != after.production,
        tests: before.tests != after.tests,
    })
}

/// The production code and tests of a file, without indentation and empty lines.
#[derive(Default)]
struct Parts {
    production: String,
    tests: String,
}

fn parts(text: &str) -> Option<Parts> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_rust::LANGUAGE.into())
        .ok()?;
    let tree = parser.parse(text, None)?;
    let mut parts = Parts::default();
    let root = tree.root_node();
    if has_test_attribute_inside(root, text) {
        words(text, &mut parts.tests);
    } else {
        split(root, text, MAX_DEPTH, &mut parts)?;
    }
    Some(parts)
}

/// Assigns each item of a file or module to production code or tests; `None` if it is nested too deep.
fn split(list: Node<'_>, text: &str, depth: usize, parts: &mut Parts) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let mut at = list.start_byte();
    let mut cursor = list.walk();
    // Attributes and comments precede their item; comments may change with either kind.
    let mut attributes: Option<usize> = None;
    let mut is_test = false;
    for child in list.children(&mut cursor) {
        match child.kind() {
            "attribute_item" => {
                attributes.get_or_insert(child.start_byte());
                is_test |= is_test_attribute(source(child, text));
                continue;
            }
            "line_comment" | "block_comment" => continue,
            _ => {}
        }
        if is_test {
            let start = attributes.unwrap_or(child.start_byte());
            words(&text[at..start], &mut parts.production);
            words(&text[start..child.end_byte()], &mut parts.tests);
            at = child.end_byte();
        } else if let Some(body) = child
            .child_by_field_name("body")
            .filter(|_| matches!(child.kind(), "mod_item" | "impl_item"))
        {
            words(&text[at..body.start_byte()], &mut parts.production);
            if has_test_attribute_inside(body, text) {
                words(source(body, text), &mut parts.tests);
            } else {
                split(body, text, depth, parts)?;
            }
            at = child.end_byte();
        }
        attributes = None;
        is_test = false;
    }
    words(&text[at..list.end_byte()], &mut parts.production);
    Some(())
}

fn source<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    &text[node.start_byte()..node.end_byte()]
}

/// Appends a text without indentation and empty lines, so that reformatting does not count as a change.
fn words(text: &str, into: &mut String) {
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        into.push_str(line);
        into.push('\n');
    }
}

/// Returns whether a file or module has an inner attribute such as `#![cfg(test)]`.
fn has_test_attribute_inside(list: Node<'_>, text: &str) -> bool {
    let mut cursor = list.walk();
    list.children(&mut cursor)
        .filter(|child| child.kind() == "inner_attribute_item")
        .any(|child| is_test_attribute(source(child, text)))
}

/// `#[test]`, `#[tokio::test(…)]`, `#[cfg(test)]`, `#[cfg(all(test, …))]`, `#[rstest]` and their like.
fn is_test_attribute(attribute: &str) -> bool {
    let inside: String = attribute
        .trim_start_matches(['#', '!', '['])
        .trim_end_matches(']')
        .chars()
        .filter(|character| !character.is_whitespace())
        .collect();
    let (path, arguments) = match inside.split_once('(') {
        Some((path, arguments)) => (path, arguments.trim_end_matches(')')),
        None => (inside.as_str(), ""),
    };
    match path {
        // `any(test, feature)` and `not(test)` are compiled into the product too.
        "cfg" => {
            arguments == "test"
                || arguments.strip_prefix("all(").is_some_and(|all| {
                    all.split(',')
                        .any(|one| one.trim_end_matches(')') == "test")
                })
        }
        "rstest" | "test_case" | "quickcheck" | "bench" | "wasm_bindgen_test" => true,
        path => path.rsplit("::").next() == Some("test"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "//! Doc.\n\npub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 1), 2);\n    }\n}\n";

    fn change(after: &str) -> (bool, bool) {
        let change = rust_change(BEFORE, after).unwrap();
        (change.production, change.tests)
    }

    #[test]
    fn an_edit_is_told_by_what_it_is_inside_of() {
        assert_eq!(change(BEFORE), (false, false));
        assert_eq!(change(&BEFORE.replace(", 2)", ", 3)")), (false, true));
        assert_eq!(change(&BEFORE.replace("a + b", "a - b")), (true, false));
        let both = BEFORE.replace("a + b", "a - b").replace(", 2)", ", 3)");
        assert_eq!(change(&both), (true, true));
        assert_eq!(change(&BEFORE.replace("\n\n", "\n\n\n")), (false, false));
        let lone = format!("{BEFORE}\n#[test]\nfn lone() {{}}\n");
        assert_eq!(change(&lone), (false, true));
        let declared = format!("{BEFORE}\n#[cfg(test)]\nmod more;\n");
        assert_eq!(change(&declared), (false, true));
    }

    #[test]
    fn what_only_looks_like_a_test_is_production() {
        for more in [
            "#[cfg(not(test))]\nfn f() {}\n",
            "#[cfg(any(test, feature = \"x\"))]\nfn f() {}\n",
            "fn f() { let s = \"#[cfg(test)] mod t {}\"; }\n",
            "// #[test]\nfn f() {}\n",
            "#[derive(Debug)]\nstruct Test;\n",
            "mod m {\n    pub fn g() {}\n}\n",
        ] {
            let after = format!("{BEFORE}\n{more}");
            assert_eq!(change(&after), (true, false), "{more}");
        }
    }

    #[test]
    fn tests_deeper_inside_and_of_other_kinds_are_found() {
        for more in [
            "#[tokio::test(flavor = \"multi_thread\")]\nasync fn t() {}\n",
            "#[cfg(all(test, unix))]\nmod unix_tests {}\n",
            "#[rstest]\n#[case(1)]\nfn t(#[case] n: u8) {}\n",
            "#[allow(dead_code)]\n#[cfg(test)]\nfn helper() {}\n",
        ] {
            let after = format!("{BEFORE}\n{more}");
            assert_eq!(change(&after), (false, true), "{more}");
        }
        let nested = "mod a {\n    pub fn f() {}\n    #[cfg(test)]\n    mod tests {\n        fn x() {}\n    }\n}\n";
        let change = rust_change(nested, &nested.replace("fn x() {}", "fn y() {}")).unwrap();
        assert_eq!((change.production, change.tests), (false, true));
        let whole = "#![cfg(test)]\nfn a() {}\n";
        let change = rust_change(whole, &whole.replace('a', "b")).unwrap();
        assert_eq!((change.production, change.tests), (false, true));
    }

    #[test]
    fn what_is_nested_without_end_is_not_told_apart() {
        let deep = format!("{}{}", "mod m {".repeat(20_000), "}".repeat(20_000));
        assert_eq!(rust_change(BEFORE, &deep), None);
        let shallow = format!("{}{}", "mod m {".repeat(50), "}".repeat(50));
        assert!(rust_change(BEFORE, &shallow).is_some());
    }

    #[test]
    fn code_moved_out_of_its_test_module_is_production() {
        let after = BEFORE.replace("#[cfg(test)]\nmod tests", "mod tests");
        assert!(change(&after).0);
        let broken = rust_change("fn f( {", "fn f() {").unwrap();
        assert!(broken.production);
    }
}
