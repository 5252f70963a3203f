//! Masks comments and strings with spaces, so that patterns match code alone.
//!
//! The result has the length and the lines of the source.

use super::grammar::Grammar;
use super::lexer::{self, Listener};

/// Masks comments and keeps strings.
pub(crate) fn without_comments(source: &[u8], grammar: &Grammar) -> Vec<u8> {
    masked(source, grammar, false)
}

/// Masks comments and what is between the quotes of strings.
pub(crate) fn code_only(source: &[u8], grammar: &Grammar) -> Vec<u8> {
    masked(source, grammar, true)
}

fn masked(source: &[u8], grammar: &Grammar, mask_strings: bool) -> Vec<u8> {
    let mut mask = Mask {
        text: source.to_vec(),
        mask_strings,
    };
    lexer::scan(source, grammar, &mut mask);
    mask.text
}

struct Mask {
    text: Vec<u8>,
    mask_strings: bool,
}

impl Listener for Mask {
    fn comment(&mut self, start: usize, end: usize) {
        for byte in &mut self.text[start..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }

    fn string(&mut self, start: usize, end: usize) {
        // The quotes stay, so that the code around a string still looks like code.
        if self.mask_strings && end > start + 2 {
            self.comment(start + 1, end - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::language::{all, named};
    use super::*;

    fn code(language: &str, source: &str) -> String {
        let grammar = named(language).unwrap().grammar();
        String::from_utf8(code_only(source.as_bytes(), grammar)).unwrap()
    }

    #[test]
    fn comments_and_strings_go_and_lines_stay() {
        let rust =
            "use a; // b\n/* c /* d */ e */ let x: &'static str = \"f::g\"; 'h'; r#\"i\"#;\nj";
        let code = code("Rust", rust);
        assert_eq!(code.len(), rust.len());
        assert_eq!(code.lines().count(), rust.lines().count());
        for gone in ["b", "d", "f::g", "'h'", "i\""] {
            assert!(!code.contains(gone), "{gone} in {code}");
        }
        assert!(code.contains("use a;") && code.contains("'static str") && code.ends_with('j'));
    }

    #[test]
    fn strings_may_be_kept() {
        let source = "import x from \"y\"; // from 'z'\nconst t = `// no ${comment}`;";
        let kept = without_comments(source.as_bytes(), named("JavaScript").unwrap().grammar());
        let kept = String::from_utf8(kept).unwrap();
        assert!(kept.contains("\"y\"") && !kept.contains('z') && kept.contains("// no"));
    }

    #[test]
    fn python_documentation_is_a_string() {
        let code = code(
            "Python",
            "\"\"\"\nimport fake\n\"\"\"\nimport real  # import other\n",
        );
        assert!(code.contains("import real") && !code.contains("fake") && !code.contains("other"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn nothing_panics_or_changes_the_length(text in "\\PC*|[/*'\"`#r\\\\\\n é]*") {
            for language in all() {
                let masked = code_only(text.as_bytes(), language.grammar());
                prop_assert_eq!(masked.len(), text.len());
            }
        }
    }
}
