//! Terminal screens as HTML: SGR attributes, escaping, any bytes.

use proptest::prelude::*;

use super::*;

fn row(text: &str) -> String {
    let mut rows = rows_html(text);
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0)
}

#[test]
fn colours_and_attributes_become_classes() {
    assert_eq!(row("plain"), "<span>plain</span>");
    assert_eq!(
        row("\x1b[1;31mred\x1b[0m and \x1b[38;5;208;48;5;17morange\x1b[39m"),
        "<span class=\"f1 tb\">red</span><span> and </span><span class=\"f208 b17\">orange</span>"
    );
    assert_eq!(row("\x1b[93;104mx"), "<span class=\"f11 b12\">x</span>");
    assert_eq!(
        row("\x1b[2;3;4;9mx"),
        "<span class=\"td ti tu ts\">x</span>"
    );
    assert_eq!(
        row("\x1b[4:3mx\x1b[4:0my"),
        "<span class=\"tu\">x</span><span>y</span>"
    );
    assert_eq!(row("\x1b[1m\x1b[22mx"), "<span>x</span>");
}

#[test]
fn inverse_swaps_the_two_colours() {
    assert_eq!(row("\x1b[7mx"), "<span class=\"fx bx\">x</span>");
    assert_eq!(row("\x1b[7;31mx"), "<span class=\"fx b1\">x</span>");
    assert_eq!(row("\x1b[7;31;42mx"), "<span class=\"f2 b1\">x</span>");
    assert_eq!(row("\x1b[7;31m\x1b[27mx"), "<span class=\"f1\">x</span>");
}

#[test]
fn true_colour_becomes_the_nearest_of_256() {
    assert_eq!(row("\x1b[38;2;255;0;0mx"), "<span class=\"f196\">x</span>");
    assert_eq!(row("\x1b[48:2::0:0:0mx"), "<span class=\"b16\">x</span>");
    assert_eq!(
        row("\x1b[38:2:118:118:118mx"),
        "<span class=\"f243\">x</span>"
    );
    assert_eq!(
        row("\x1b[58;2;1;2;3;1mx"),
        "<span class=\"tb\">x</span>",
        "an underline's colour is passed over"
    );
    assert_eq!(row("\x1b[38;2;300;0;0mx"), "<span>x</span>");
}

#[test]
fn attributes_carry_over_to_the_next_line() {
    assert_eq!(
        rows_html("\x1b[32mone\ntwo\x1b[0m\nthree\n"),
        [
            "<span class=\"f2\">one</span>",
            "<span class=\"f2\">two</span>",
            "<span>three</span>"
        ]
    );
    assert_eq!(rows_html("\n\n"), ["", ""]);
}

#[test]
fn a_wide_character_takes_two_cells_and_its_marks_none() {
    assert_eq!(
        row("a漢e\u{301}😀."),
        "<span>a</span><span class=\"w2\">漢</span><span>e\u{301}</span><span class=\"w2\">😀</span><span>.</span>"
    );
    let family = "👨\u{200d}👩\u{200d}👧";
    assert_eq!(row(family), format!("<span class=\"w2\">{family}</span>"));
    assert_eq!(
        row("\u{301}x"),
        "<span>x</span>",
        "a mark without a character"
    );
    let piled = format!("a{}b", "\u{301}".repeat(500));
    assert!(row(&piled).len() < 60);
    assert_eq!(row("⏺x"), "<span class=\"w1\">⏺</span><span>x</span>");
}

#[test]
fn the_vt100_draws_lines_with_letters() {
    assert_eq!(row("\x0elqqk\x0fq"), "<span>┌──┐q</span>");
}

#[test]
fn links_titles_and_other_sequences_leave_nothing() {
    assert_eq!(
        row("\x1b]8;;https://evil.example/\"onclick=1\x1b\\text\x1b]8;;\x1b\\"),
        "<span>text</span>"
    );
    assert_eq!(
        row("\x1b]0;title\x07x\x1b[2J\x1b[5;5Hy\x1b(0z\x1bM"),
        "<span>xyz</span>"
    );
    assert_eq!(row("a\x1b]0;never ends"), "<span>a</span>");
    assert_eq!(row("a\x1b[31"), "<span>a31</span>");
    assert_eq!(row("abc\u{202e}def\u{2066}"), "<span>abcdef</span>");
}

#[test]
fn markup_is_text() {
    assert_eq!(
        row("<script>alert('1')</script>\x1b[1m&\""),
        "<span>&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;</span><span class=\"tb\">&amp;&quot;</span>"
    );
}

#[test]
fn every_colour_has_its_rules() {
    let rules = stylesheet();
    assert!(rules.contains(".f16{color:#000}.b16{background:#000}"));
    assert!(rules.contains(".f196{color:#f00}"));
    assert!(rules.contains(".b255{background:#eee}"));
    assert_eq!(rules.lines().count(), 240);
}

/// Takes our own spans away; whatever markup is left came from the text.
fn without_spans(html: &str) -> String {
    let spans = regex::Regex::new("<span>|<span class=\"[a-z0-9 ]+\">|</span>").unwrap();
    spans.replace_all(html, "").into_owned()
}

proptest! {
    #[test]
    fn no_text_becomes_markup(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        for html in rows_html(&text) {
            let left = without_spans(&html);
            prop_assert!(!left.contains(['<', '>', '"', '\'']), "{html}");
            prop_assert!(!left.chars().any(char::is_control), "{html}");
            prop_assert_eq!(html.matches("<span").count(), html.matches("</span>").count());
        }
    }

    #[test]
    fn sequences_hide_no_markup(parts in proptest::collection::vec(prop_oneof![
        Just("\x1b[".to_owned()), Just("\x1b]8;;".to_owned()), Just("\x1b\\".to_owned()), Just("\x1b".to_owned()),
        Just("<img src=x onerror=a>".to_owned()), Just("\" x=\"".to_owned()), Just("38;5;".to_owned()),
        Just("m".to_owned()), Just("\x0e".to_owned()), Just("漢\u{200d}<b>".to_owned()), "[ -~]{0,6}"
    ], 0..30)) {
        for html in rows_html(&parts.concat()) {
            let left = without_spans(&html);
            prop_assert!(!left.contains(['<', '>', '"', '\'']), "{html}");
        }
    }
}
