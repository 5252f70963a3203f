//! Keys of `list --watch`: the keyboard in raw mode, and what its bytes mean.

use std::io::{self, Read};

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

/// One key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Backspace,
    Escape,
    /// Ctrl-U, which empties a line of text.
    Clear,
    /// A character; a line break only in pasted text.
    Char(char),
}

/// Turns bytes into keys. What is pasted stays text, so that a line break in it sends nothing.
#[derive(Debug, Default)]
struct Parser {
    /// The beginning of a character whose other bytes have not come yet.
    partial: Vec<u8>,
    pasting: bool,
}

impl Parser {
    fn keys(&mut self, bytes: &[u8]) -> Vec<Key> {
        let mut all = std::mem::take(&mut self.partial);
        all.extend_from_slice(bytes);
        let mut keys = Vec::new();
        let mut rest = all.as_slice();
        while let Some((&first, after)) = rest.split_first() {
            let taken = match first {
                b'\x1b' => self.escaped(after, &mut keys),
                b'\r' | b'\n' if self.pasting => {
                    keys.push(Key::Char('\n'));
                    0
                }
                b'\r' | b'\n' => {
                    keys.push(Key::Enter);
                    0
                }
                0x7f | 0x08 => {
                    keys.push(Key::Backspace);
                    0
                }
                0x15 => {
                    keys.push(Key::Clear);
                    0
                }
                b'\t' => {
                    keys.push(Key::Char(' '));
                    0
                }
                0..=0x1f => 0,
                _ => {
                    let length = match first {
                        0xc0..=0xdf => 2,
                        0xe0..=0xef => 3,
                        0xf0..=0xf7 => 4,
                        _ => 1,
                    };
                    if rest.len() < length {
                        self.partial = rest.to_vec();
                        return keys;
                    }
                    let text = String::from_utf8_lossy(&rest[..length]);
                    keys.extend(text.chars().map(Key::Char));
                    length - 1
                }
            };
            rest = &rest[1 + taken..];
        }
        keys
    }

    /// Reads what follows an escape; returns how many bytes that is.
    fn escaped(&mut self, after: &[u8], keys: &mut Vec<Key>) -> usize {
        let Some((b'[' | b'O', sequence)) = after.split_first() else {
            keys.push(Key::Escape);
            return 0;
        };
        let last = sequence
            .iter()
            .position(|byte| (0x40..=0x7e).contains(byte));
        let Some(last) = last else {
            // Not a sequence that a key sends.
            return after.len();
        };
        match &sequence[..=last] {
            b"A" => keys.push(Key::Up),
            b"B" => keys.push(Key::Down),
            b"5~" => keys.push(Key::PageUp),
            b"6~" => keys.push(Key::PageDown),
            b"H" | b"1~" => keys.push(Key::Home),
            b"F" | b"4~" => keys.push(Key::End),
            b"200~" => self.pasting = true,
            b"201~" => self.pasting = false,
            _ => {}
        }
        last + 2
    }
}

/// The keyboard in raw mode. Dropping the value restores the terminal.
pub(super) struct Keyboard {
    before: Option<Termios>,
    parser: Parser,
}

impl Keyboard {
    /// Switches the terminal to raw mode, if there is one.
    pub(super) fn open() -> Self {
        let stdin = io::stdin();
        let before = tcgetattr(&stdin).ok();
        if let Some(before) = &before {
            let mut modes = before.clone();
            modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
            // Reads return at once.
            modes.special_codes[SpecialCodeIndex::VMIN] = 0;
            modes.special_codes[SpecialCodeIndex::VTIME] = 0;
            // On failure there are no keys, but the board still works.
            let _ = tcsetattr(&stdin, OptionalActions::Now, &modes);
        }
        Self {
            before,
            parser: Parser::default(),
        }
    }

    /// Returns the keys that were pressed since the last call.
    pub(super) fn pressed(&mut self) -> Vec<Key> {
        let mut bytes = [0; 4096];
        if self.before.is_none() {
            return Vec::new();
        }
        let read = io::stdin().lock().read(&mut bytes).unwrap_or(0);
        self.parser.keys(&bytes[..read])
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_letters_and_escape_are_told_apart() {
        let mut parser = Parser::default();
        assert_eq!(
            parser.keys(b"\x1b[A\x1bOBj\x1b[5~\x1b[1;5C\x7f\r\x1b"),
            [
                Key::Up,
                Key::Down,
                Key::Char('j'),
                Key::PageUp,
                Key::Backspace,
                Key::Enter,
                Key::Escape
            ]
        );
        // A character may come in two reads.
        assert_eq!(parser.keys(b"\xc3"), []);
        assert_eq!(parser.keys(b"\xa9"), [Key::Char('é')]);
    }

    #[test]
    fn a_line_break_in_pasted_text_is_no_enter() {
        let mut parser = Parser::default();
        let keys = parser.keys(b"\x1b[200~a\rb\x1b[201~\r");
        let expected = [Key::Char('a'), Key::Char('\n'), Key::Char('b'), Key::Enter];
        assert_eq!(keys, expected);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>) {
            Parser::default().keys(&bytes);
        }
    }
}
