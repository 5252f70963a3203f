//! Syntax highlighting: tokens per language, and that no input loses text.

use proptest::prelude::*;

use super::*;

fn tokens(path: &str, lines: &[&str]) -> Vec<Vec<(Token, String)>> {
    let mut lexer = Lexer::new(Language::of_path(path));
    let cut = |line: &&str| {
        let pieces = lexer.line(line);
        pieces
            .iter()
            .map(|piece| (piece.token, piece.text.to_owned()))
            .collect()
    };
    lines.iter().map(cut).collect()
}

fn has(line: &[(Token, String)], token: Token, text: &str) -> bool {
    line.iter()
        .any(|(found, part)| *found == token && part == text)
}

#[test]
fn code_is_coloured_by_its_language() {
    let rust = tokens(
        "a/b.rs",
        &[
            "let x: &'a str = \"y\\\"z\"; // why",
            "/* one",
            "two */ 'x' 12_u8 foo(1)",
        ],
    );
    assert!(has(&rust[0], Token::Keyword, "let"));
    assert!(has(&rust[0], Token::Text, "\"y\\\"z\""));
    assert!(has(&rust[0], Token::Comment, "// why"));
    assert!(
        !rust[0]
            .iter()
            .any(|(token, text)| *token == Token::Text && text.contains('a'))
    );
    assert!(has(&rust[1], Token::Comment, "/* one"));
    assert!(has(&rust[2], Token::Comment, "two */"));
    assert!(has(&rust[2], Token::Text, "'x'"));
    assert!(has(&rust[2], Token::Number, "12_u8"));
    assert!(has(&rust[2], Token::Name, "foo"));
    let python = tokens("x.py", &["def f(): \"\"\"Says", "what\"\"\" # so"]);
    assert!(has(&python[0], Token::Keyword, "def"));
    assert!(has(&python[1], Token::Text, "what\"\"\""));
    assert!(has(&python[1], Token::Comment, "# so"));
    let sql = tokens("x.sql", &["SELECT 'it''s' -- all"]);
    assert!(has(&sql[0], Token::Keyword, "SELECT"));
    assert!(has(&sql[0], Token::Comment, "-- all"));
    assert_eq!(
        tokens("README", &["if x"])[0],
        [(Token::Plain, "if x".to_owned())]
    );
}

#[test]
fn the_changed_part_of_a_line_is_found() {
    let emphasis = emphasised(
        "    let total = price;",
        "    let total = price - discount;",
    )
    .unwrap();
    assert_eq!(emphasis.old, 21..21);
    assert_eq!(
        &"    let total = price - discount;"[emphasis.new],
        " - discount"
    );
    let emphasis = emphasised("größe = 1", "größe = 2").unwrap();
    assert_eq!(&"größe = 1"[emphasis.old], "1");
    assert_eq!(emphasised("alpha", "beta gamma delta"), None);
    assert_eq!(emphasised("same", "same"), None);
}

proptest! {
    #[test]
    fn no_character_is_lost(path in prop::sample::select(vec!["a.rs", "a.py", "a.js", "a.sql", "a.lua", "a.html", "a"]),
                            lines in proptest::collection::vec("\\PC{0,40}", 0..6)) {
        let mut lexer = Lexer::new(Language::of_path(path));
        for line in &lines {
            let joined: String = lexer.line(line).iter().map(|piece| piece.text).collect();
            prop_assert_eq!(&joined, line);
        }
    }

    #[test]
    fn differences_are_within_their_lines(old in "\\PC{0,30}", new in "\\PC{0,30}") {
        if let Some(emphasis) = emphasised(&old, &new) {
            prop_assert!(old.get(emphasis.old).is_some() && new.get(emphasis.new).is_some());
        }
    }
}
