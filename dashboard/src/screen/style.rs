//! SGR colours and attributes of a cell, and their CSS classes.

use super::palette::nearest;

/// One of the 256 colours; `None` is the terminal's default.
type Colour = Option<u8>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Style {
    foreground: Colour,
    background: Colour,
    flags: u8,
}

const BOLD: u8 = 1;
const DIM: u8 = 2;
const ITALIC: u8 = 4;
const UNDERLINE: u8 = 8;
const INVERSE: u8 = 16;
const HIDDEN: u8 = 32;
const STRIKE: u8 = 64;
const OVERLINE: u8 = 128;

impl Style {
    /// Applies one SGR sequence (`ESC [ … m`). Unknown codes are ignored.
    pub(super) fn apply(&mut self, codes: &str) {
        let mut codes = codes.split(';');
        while let Some(code) = codes.next() {
            // `4:3` and `38:2::1:2:3` are single codes with subparameters.
            let mut parts = code.split(':');
            let number = parts.next().map_or(Some(0), number);
            match number {
                Some(38) if code.contains(':') => self.foreground = parts_colour(parts),
                Some(48) if code.contains(':') => self.background = parts_colour(parts),
                Some(38) => self.foreground = following_colour(&mut codes),
                Some(48) => self.background = following_colour(&mut codes),
                Some(58) if !code.contains(':') => drop(following_colour(&mut codes)),
                Some(4) => {
                    let none = parts.next().and_then(self::number) == Some(0);
                    self.set(UNDERLINE, !none);
                }
                Some(code) => self.apply_one(code),
                None => {}
            }
        }
    }

    fn apply_one(&mut self, code: u16) {
        let small = |base: u16| u8::try_from(code.saturating_sub(base)).ok();
        match code {
            0 => *self = Self::default(),
            1 => self.set(BOLD, true),
            2 => self.set(DIM, true),
            3 => self.set(ITALIC, true),
            7 => self.set(INVERSE, true),
            8 => self.set(HIDDEN, true),
            9 => self.set(STRIKE, true),
            21 => self.set(UNDERLINE, true),
            22 => self.set(BOLD | DIM, false),
            23 => self.set(ITALIC, false),
            24 => self.set(UNDERLINE, false),
            27 => self.set(INVERSE, false),
            28 => self.set(HIDDEN, false),
            29 => self.set(STRIKE, false),
            30..=37 => self.foreground = small(30),
            39 => self.foreground = None,
            40..=47 => self.background = small(40),
            49 => self.background = None,
            53 => self.set(OVERLINE, true),
            55 => self.set(OVERLINE, false),
            90..=97 => self.foreground = small(82),
            100..=107 => self.background = small(92),
            _ => {}
        }
    }

    fn set(&mut self, flag: u8, on: bool) {
        if on {
            self.flags |= flag;
        } else {
            self.flags &= !flag;
        }
    }

    /// Returns the CSS classes; empty for the default style.
    pub(super) fn classes(self) -> String {
        let mut classes = String::new();
        let mut add = |class: &str| {
            if !classes.is_empty() {
                classes.push(' ');
            }
            classes.push_str(class);
        };
        let inverse = self.flags & INVERSE != 0;
        let (front, back) = if inverse {
            (self.background, self.foreground)
        } else {
            (self.foreground, self.background)
        };
        match front {
            Some(colour) => add(&format!("f{colour}")),
            None if inverse => add("fx"),
            None => {}
        }
        match back {
            Some(colour) => add(&format!("b{colour}")),
            None if inverse => add("bx"),
            None => {}
        }
        let named = [
            (BOLD, "tb"),
            (DIM, "td"),
            (ITALIC, "ti"),
            (HIDDEN, "th"),
            (UNDERLINE, "tu"),
            (STRIKE, "ts"),
            (OVERLINE, "to"),
        ];
        for (flag, class) in named {
            if self.flags & flag != 0 {
                add(class);
            }
        }
        classes
    }
}

fn number(text: &str) -> Option<u16> {
    if text.is_empty() {
        return Some(0);
    }
    text.parse().ok()
}

/// Reads `5;N` or `2;R;G;B` from the codes that follow.
fn following_colour<'t>(codes: &mut impl Iterator<Item = &'t str>) -> Colour {
    let mut byte = || codes.next().and_then(|code| code.parse::<u8>().ok());
    match byte()? {
        5 => byte(),
        2 => Some(nearest(byte()?, byte()?, byte()?)),
        _ => None,
    }
}

/// Reads `5:N`, `2:R:G:B` or `2::R:G:B`.
fn parts_colour<'t>(parts: impl Iterator<Item = &'t str>) -> Colour {
    let parts: Vec<&str> = parts.take(6).collect();
    let byte = |index: usize| parts.get(index).and_then(|part| part.parse::<u8>().ok());
    match byte(0)? {
        5 => byte(1),
        2 => {
            let first = parts.len().saturating_sub(3).max(1);
            Some(nearest(byte(first)?, byte(first + 1)?, byte(first + 2)?))
        }
        _ => None,
    }
}
