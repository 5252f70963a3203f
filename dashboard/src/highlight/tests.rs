use proptest::prelude::*;

use super::*;
use crate::view::{FileStatus, LineKind};

const PATCH: &str = "\
diff --git a/src/main.rs b/src/main.rs
index 1111111..2222222 100644
--- a/src/main.rs
+++ b/src/main.rs
@@ -1,3 +1,4 @@ fn main() {
 fn main() {
--- not a header;
+    let x = 1;
+++ nor this;
 }
\\ No newline at end of file
@@ -10 +11,0 @@
-gone
diff --git a/old name.txt b/new name.txt
similarity index 90%
rename from old name.txt
rename to new name.txt
diff --git a/bild.png b/bild.png
new file mode 100644
index 0000000..3333333
Binary files /dev/null and b/bild.png differ
diff --git \"a/\\303\\244.txt\" \"b/\\303\\244.txt\"
deleted file mode 100644
--- \"a/\\303\\244.txt\"
+++ /dev/null
@@ -1 +0,0 @@
-x\r
";

#[test]
fn a_patch_becomes_files_hunks_and_lines() {
    let files = parse(PATCH);
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["src/main.rs", "new name.txt", "bild.png", "ä.txt"]);
    let first = &files[0];
    assert_eq!((first.additions, first.deletions), (2, 2));
    assert_eq!(first.hunks.len(), 2);
    assert_eq!(first.hunks[0].header, "@@ -1,3 +1,4 @@ fn main() {");
    let kinds: Vec<LineKind> = first.hunks[0].lines.iter().map(|line| line.kind).collect();
    use LineKind::{Add, Context, Del};
    assert_eq!(kinds, [Context, Del, Add, Add, Context]);
    assert_eq!(first.hunks[0].lines[1].text, "-- not a header;");
    let last = &first.hunks[0].lines[4];
    assert_eq!((last.old, last.new), (Some(3), Some(4)));
    assert_eq!(files[1].status, FileStatus::Renamed);
    assert_eq!(files[1].old_path.as_deref(), Some("old name.txt"));
    assert!(files[2].binary && files[2].status == FileStatus::Added);
    assert_eq!(files[3].status, FileStatus::Deleted);
    assert_eq!(files[3].hunks[0].lines[0].text, "x");
}

fn tokens(path: &str, lines: &[&str]) -> Vec<Vec<(Token, String)>> {
    let mut lexer = Lexer::new(Language::of_path(path));
    let cut = |line: &&str| {
        let pieces = lexer.line(line);
        pieces.iter().map(|piece| (piece.token, piece.text.to_owned())).collect()
    };
    lines.iter().map(cut).collect()
}

fn has(line: &[(Token, String)], token: Token, text: &str) -> bool {
    line.iter().any(|(found, part)| *found == token && part == text)
}

#[test]
fn code_is_coloured_by_its_language() {
    let rust = tokens("a/b.rs", &["let x: &'a str = \"y\\\"z\"; // why", "/* one", "two */ 'x' 12_u8 foo(1)"]);
    assert!(has(&rust[0], Token::Keyword, "let"));
    assert!(has(&rust[0], Token::Text, "\"y\\\"z\""));
    assert!(has(&rust[0], Token::Comment, "// why"));
    assert!(!rust[0].iter().any(|(token, text)| *token == Token::Text && text.contains('a')));
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
    assert_eq!(tokens("README", &["if x"])[0], [(Token::Plain, "if x".to_owned())]);
}

#[test]
fn the_changed_part_of_a_line_is_found() {
    let emphasis = emphasised("    let total = price;", "    let total = price - discount;").unwrap();
    assert_eq!(emphasis.old, 21..21);
    assert_eq!(&"    let total = price - discount;"[emphasis.new], " - discount");
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
    fn any_patch_is_read(patch in "(diff --git a/x b/x\n|@@ -[0-9]{1,2},[0-9]{1,3} \\+[0-9]{1,2} @@\n|[-+ ]\\PC{0,9}\n|\\PC{0,30}\n){0,40}") {
        parse(&patch);
    }

    #[test]
    fn differences_are_within_their_lines(old in "\\PC{0,30}", new in "\\PC{0,30}") {
        if let Some(emphasis) = emphasised(&old, &new) {
            prop_assert!(old.get(emphasis.old).is_some() && new.get(emphasis.new).is_some());
        }
    }
}
