//! Hidden characters: dropped, revealed, refused.

use proptest::prelude::*;

use super::*;

/// Each class that a text can hide something with.
const HIDING: &[(&str, &str)] = &[
    ("C0 control", "\u{1b}"),
    ("NUL", "\0"),
    ("DEL", "\u{7f}"),
    ("C1 control", "\u{9b}"),
    ("bidi override", "\u{202e}"),
    ("bidi isolate", "\u{2066}"),
    ("direction mark", "\u{200f}"),
    ("Arabic letter mark", "\u{61c}"),
    ("zero-width space", "\u{200b}"),
    ("ZWNJ between Latin letters", "\u{200c}"),
    ("ZWJ between Latin letters", "\u{200d}"),
    ("word joiner", "\u{2060}"),
    ("invisible plus", "\u{2064}"),
    ("BOM", "\u{feff}"),
    ("soft hyphen", "\u{ad}"),
    ("combining grapheme joiner", "\u{34f}"),
    ("tag letter", "\u{e0041}"),
    ("language tag", "\u{e0001}"),
    ("variation selector", "\u{fe00}"),
    ("emoji selector after a letter", "\u{fe0f}"),
    ("supplementary variation selector", "\u{e0100}"),
    ("annotation", "\u{fff9}"),
    ("Hangul filler", "\u{3164}"),
    ("Hangul jamo filler", "\u{115f}"),
    ("halfwidth Hangul filler", "\u{ffa0}"),
    ("Khmer inherent vowel", "\u{17b4}"),
    ("Mongolian vowel separator", "\u{180e}"),
    ("musical format", "\u{1d173}"),
    ("noncharacter", "\u{fdd0}"),
    ("noncharacter at the end of a plane", "\u{1ffff}"),
];

/// Text of all kinds that must come out as it went in.
const PLAIN: &[(&str, &str)] = &[
    ("lines and tabs", "a\n\tb\n"),
    ("accents", "größe, naïve, e\u{301}"),
    ("CJK", "日本語 한국어 葛飾"),
    ("family", "👨\u{200d}👩\u{200d}👧"),
    ("heart on fire", "❤\u{fe0f}\u{200d}🔥"),
    ("skin tone and profession", "👩🏽\u{200d}💻"),
    ("rainbow flag", "🏳\u{fe0f}\u{200d}🌈"),
    ("flag of two letters", "🇩🇪"),
    ("keycap", "1\u{fe0f}\u{20e3} #\u{fe0f}\u{20e3}"),
    ("text style", "☎\u{fe0e} ✔\u{fe0f} ©\u{fe0f}"),
    ("Persian", "می\u{200c}خواهم کتاب\u{200c}ها"),
    ("Arabic", "مرحبا بالعالم"),
    ("Hebrew", "שלום עולם"),
    ("Hindi", "क\u{94d}\u{200d}ष क\u{94d}\u{200c}ष"),
    ("Malayalam at the end of a word", "അവന\u{d4d}\u{200d}."),
    ("Sinhala", "ශ\u{dca}\u{200d}රී ලංකා"),
    ("Mongolian", "\u{1820}\u{180b}\u{1828}"),
    ("icon of a font", "\u{e0b0} \u{f121}"),
];

#[test]
fn each_class_is_dropped_revealed_and_refused() {
    for (what, hidden) in HIDING {
        let text = format!("a{hidden}b");
        let character = hidden.chars().next().unwrap();
        assert_eq!(drop_hidden(&text), "ab", "{what}");
        assert_eq!(
            reveal(&text),
            format!("a<{}>b", number(character)),
            "{what}"
        );
        assert_eq!(first_hidden(&text), Some(character), "{what}");
    }
}

#[test]
fn plain_text_of_any_script_stays() {
    for (what, text) in PLAIN {
        assert_eq!(drop_hidden(text), *text, "{what}");
        assert_eq!(reveal(text), *text, "{what}");
        assert_eq!(first_hidden(text), None, "{what}");
    }
}

#[test]
fn what_needs_a_place_is_no_channel_for_data() {
    // A run of selectors or joiners after one visible character.
    assert_eq!(
        drop_hidden("❤\u{fe0f}\u{fe0e}\u{fe0f}\u{fe0f}x"),
        "❤\u{fe0f}x"
    );
    assert_eq!(drop_hidden("😀\u{e0101}\u{e0102}\u{e0103}"), "😀");
    assert_eq!(drop_hidden("می\u{200c}\u{200d}\u{200c}خ"), "می\u{200c}خ");
    assert_eq!(drop_hidden("👨\u{200d}\u{200d}👩"), "👨👩");
    assert_eq!(drop_hidden("👨\u{200d} ok"), "👨 ok");
    assert_eq!(drop_hidden("1\u{fe0f}2\u{fe0f}3"), "123");
    assert_eq!(drop_hidden("葛\u{e0100}飾\u{fe00}"), "葛飾");
    // A flag spelt in tags can spell anything else as well.
    assert_eq!(drop_hidden("🏴\u{e0067}\u{e0062}\u{e007f}"), "🏴");
    // A hidden character that is dropped gives no place to the next.
    assert_eq!(drop_hidden("❤\u{200b}\u{fe0f}"), "❤");
}

#[test]
fn lines_end_in_one_way() {
    assert_eq!(drop_hidden("a\r\nb\rc\u{2028}d\u{2029}e"), "a\nb\nc\nd\ne");
    assert_eq!(drop_hidden_in_line("a\r\nb\tc\u{2029}d"), "a b c d");
    assert_eq!(reveal("a\r\nb\u{1b}"), "a\nb<U+001B>");
    assert_eq!(reveal("a\rb\u{2028}c"), "a<U+000D>b<U+2028>c");
    assert_eq!(reveal_in_line("a\r\nb\tc\u{2029}d"), "a b c<U+2029>d");
}

#[test]
fn cells_keep_what_belongs_to_the_cell_before() {
    assert!(is_always_hidden('\u{e0041}') && is_always_hidden('\u{200b}'));
    assert!(!is_always_hidden(ZWJ) && !is_always_hidden('\u{fe0f}') && !is_always_hidden('a'));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn dropping_and_revealing_leave_nothing_hidden(text in any::<String>(), at in 0_usize..HIDING.len()) {
        let text = format!("{text}{}{text}", HIDING[at].1);
        for clean in [drop_hidden(&text), reveal(&text).into_owned(), drop_hidden_in_line(&text), reveal_in_line(&text)] {
            prop_assert_eq!(first_hidden(&clean), None, "{:?}", clean);
        }
        let dropped = drop_hidden(&text);
        prop_assert_eq!(drop_hidden(&dropped), dropped);
    }

    #[test]
    fn the_pieces_are_the_text(text in any::<String>()) {
        let mut whole = String::new();
        for piece in pieces(&text) {
            match piece {
                Piece::Visible(part) => whole.push_str(part),
                Piece::Hidden(character) => whole.push(character),
            }
        }
        prop_assert_eq!(whole, text);
    }
}
