//! Hidden characters (controls, bidirectional, zero-width, tags): the one table of what a reader does not see or sees elsewhere.
//!
//! Text from agents, repositories and GitHub can carry instructions that a model reads and a person does
//! not (Unicode tag characters, zero-width characters, variation selectors), or that a terminal obeys
//! (control characters), or that show as something else (bidirectional overrides). This is the only list of
//! them; `tests/tests/e2e/tidy.rs` refuses a second. There are three renderings:
//!
//! | rendering | for | functions |
//! |---|---|---|
//! | drop | what agents are told, what is stored or sent to GitHub | [`drop_hidden`], [`drop_hidden_in_line`] |
//! | reveal | what people look at: diffs, tables, pages | [`reveal`], [`reveal_in_line`], [`pieces`] |
//! | refuse | names, branches, keys typed into a terminal | [`first_hidden`] |
//!
//! Hidden is: control characters (C0, C1, DEL) but newline and tab; line and paragraph separators; everything
//! with Unicode's property `Default_Ignorable_Code_Point` (bidirectional controls and isolates, zero-width
//! characters, soft hyphen, fillers, variation selectors, tags); interlinear annotation; noncharacters.
//!
//! The same characters are needed in places, so a few are hidden or not by what stands before them:
//!
//! - U+200D (ZWJ) between two emoji, as in a family.
//! - One ZWJ or U+200C (ZWNJ) after a letter of a script that joins letters (Arabic to Tibetan, Myanmar, Khmer,
//!   Mongolian …): Persian and Indian spelling needs them.
//! - One U+FE0E or U+FE0F after an emoji or symbol, and U+FE0F in a keycap (`1`, U+FE0F, U+20E3).
//! - One Mongolian variation selector after a Mongolian letter.
//!
//! Given up on purpose, because each would be a channel for data: the glyph variants of ideographs (U+FE00–FE0D,
//! U+E0100–E01EF; the ideograph itself stays), the flags of England, Scotland and Wales (spelt in tags; a
//! black flag stays), direction marks (U+200E, U+200F, U+061C). Private use characters are no hidden ones: they
//! are drawn, as a symbol or as a box.

use std::borrow::Cow;
use std::fmt::Write as _;

const ZWNJ: char = '\u{200c}';
/// Joins two emoji into one, and letters of some scripts.
pub const ZWJ: char = '\u{200d}';

/// Text, cut where its hidden characters are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    Visible(&'a str),
    Hidden(char),
}

/// Removes hidden characters; every kind of line break becomes `\n`, and tabs stay.
pub fn drop_hidden(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for piece in pieces(&with_line_breaks(text)) {
        if let Piece::Visible(part) = piece {
            kept.push_str(part);
        }
    }
    kept
}

/// Removes hidden characters; line breaks and tabs become spaces.
pub fn drop_hidden_in_line(text: &str) -> String {
    drop_hidden(text).replace(['\n', '\t'], " ")
}

/// Shows hidden characters by number, as in `<U+202E>`; line breaks and tabs stay.
pub fn reveal(text: &str) -> Cow<'_, str> {
    if first_hidden(text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for piece in pieces(&text.replace("\r\n", "\n")) {
        match piece {
            Piece::Visible(part) => shown.push_str(part),
            Piece::Hidden(character) => {
                // Writing to a String cannot fail.
                let _ = write!(shown, "<{}>", number(character));
            }
        }
    }
    Cow::Owned(shown)
}

/// Shows hidden characters by number; line breaks and tabs become spaces.
pub fn reveal_in_line(text: &str) -> String {
    reveal(text).replace(['\n', '\r', '\t'], " ")
}

/// Returns the first hidden character: text with one is refused where it would be a name.
pub fn first_hidden(text: &str) -> Option<char> {
    pieces(text).find_map(|piece| match piece {
        Piece::Hidden(character) => Some(character),
        Piece::Visible(_) => None,
    })
}

/// Returns the first control character that is not allowed here.
pub fn first_control(text: &str, allowed: &[char]) -> Option<char> {
    text.chars()
        .find(|character| character.is_control() && !allowed.contains(character))
}

/// Removes the mark that some editors write at the beginning of a file.
pub fn without_byte_order_mark(mut text: String) -> String {
    const MARK: char = '\u{feff}';
    if text.starts_with(MARK) {
        text.drain(..MARK.len_utf8());
    }
    text
}

/// Returns how a hidden character is called, as in `U+200B`.
pub fn number(character: char) -> String {
    format!("U+{:04X}", u32::from(character))
}

/// Tells whether a character is hidden whatever stands before it.
///
/// For one cell of a terminal; whole texts go through the functions that look at the context.
pub fn is_always_hidden(character: char) -> bool {
    is_hidden(character) && !needs_context(character)
}

/// Cuts a text at its hidden characters; `\n` and `\t` are visible.
pub fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    let mut before = None;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        if hidden_here(before, first, &rest[first.len_utf8()..]) {
            rest = &rest[first.len_utf8()..];
            // The next character does not belong to what stood before this one.
            before = None;
            return Some(Piece::Hidden(first));
        }
        let mut end = 0;
        for character in rest.chars() {
            let after = end + character.len_utf8();
            if hidden_here(before, character, &rest[after..]) {
                break;
            }
            before = Some(character);
            end = after;
        }
        let (visible, behind) = rest.split_at(end);
        rest = behind;
        Some(Piece::Visible(visible))
    })
}

/// Makes `\n` of every line break, also of those that only Unicode knows.
fn with_line_breaks(text: &str) -> Cow<'_, str> {
    if !text.contains(['\r', '\u{85}', '\u{2028}', '\u{2029}']) {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n");
    Cow::Owned(text.replace(['\r', '\u{2028}', '\u{2029}'], "\n"))
}

fn hidden_here(before: Option<char>, character: char, after: &str) -> bool {
    // Nearly all text is this.
    if matches!(character, ' '..='~' | '\n' | '\t') {
        return false;
    }
    if !is_hidden(character) {
        return false;
    }
    let next = after.chars().next();
    let belongs = match (before, character) {
        (Some(before), ZWJ) if is_emoji_part(before) => next.is_some_and(is_symbol),
        (Some(before), ZWJ | ZWNJ) => joins_letters(before),
        (Some(before), '\u{fe0e}' | '\u{fe0f}') => {
            is_symbol(before)
                || (matches!(before, '0'..='9' | '#' | '*') && next == Some('\u{20e3}'))
        }
        (Some('\u{1820}'..='\u{18aa}'), '\u{180b}'..='\u{180d}' | '\u{180f}') => true,
        (Some(_) | None, _) => false,
    };
    !belongs
}

fn is_hidden(character: char) -> bool {
    let code = u32::from(character);
    match character {
        '\n' | '\t' => false,
        // Default_Ignorable_Code_Point of Unicode 17, then separators, annotation, noncharacters.
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fff8}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}'
        | '\u{2028}'..='\u{2029}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{fdd0}'..='\u{fdef}' => true,
        _ => character.is_control() || code & 0xfffe == 0xfffe,
    }
}

/// Tells whether `hidden_here` may find a place for the character.
fn needs_context(character: char) -> bool {
    matches!(
        character,
        ZWNJ | ZWJ | '\u{fe0e}' | '\u{fe0f}' | '\u{180b}'..='\u{180d}' | '\u{180f}'
    )
}

/// Symbols and emoji, in whole blocks: which of them are emoji changes every year.
fn is_symbol(character: char) -> bool {
    matches!(character,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2100}'..='\u{2bff}' | '\u{3030}' | '\u{303d}'
        | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

fn is_emoji_part(character: char) -> bool {
    is_symbol(character) || character == '\u{fe0f}'
}

/// Letters and marks of scripts in which a joiner changes how a word is written.
fn joins_letters(character: char) -> bool {
    !is_hidden(character)
        && matches!(character,
            '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{e00}'..='\u{109f}' | '\u{1700}'..='\u{18af}'
            | '\u{1900}'..='\u{1cff}' | '\u{a800}'..='\u{abff}' | '\u{fb50}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fdff}'
            | '\u{fe70}'..='\u{fefc}' | '\u{10a00}'..='\u{11fff}' | '\u{1e900}'..='\u{1e95f}')
        && character.is_alphanumeric()
        || is_virama(character)
}

/// Signs that take a letter's own vowel away: joiners follow them more often than letters.
fn is_virama(character: char) -> bool {
    matches!(
        character,
        '\u{94d}'
            | '\u{9cd}'
            | '\u{a4d}'
            | '\u{acd}'
            | '\u{b4d}'
            | '\u{bcd}'
            | '\u{c4d}'
            | '\u{ccd}'
            | '\u{d4d}'
            | '\u{dca}'
            | '\u{f84}'
            | '\u{1039}'..='\u{103a}' | '\u{17d2}'
    )
}

#[cfg(test)]
mod tests;
