//! Line numbers of the keys of a JSON document.

use std::collections::HashMap;

use crate::line_index::Lines;

/// Where keys stand. Keys written with escapes are not found, which costs a line number only.
pub(super) struct Keys<'a> {
    offsets: HashMap<&'a str, Vec<usize>>,
    lines: Lines,
}

impl<'a> Keys<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let mut offsets: HashMap<&str, Vec<usize>> = HashMap::new();
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(open) = memchr::memchr(b'"', &bytes[at..]).map(|found| at + found) {
            let mut close = open + 1;
            while let Some(&byte) = bytes.get(close) {
                match byte {
                    b'"' => break,
                    b'\\' => close += 2,
                    _ => close += 1,
                }
            }
            let Some(after) = bytes.get(close + 1..) else {
                break;
            };
            let next = after.iter().find(|byte| !byte.is_ascii_whitespace());
            if next == Some(&b':')
                && let Some(key) = text.get(open + 1..close)
            {
                offsets.entry(key).or_default().push(open);
            }
            at = close + 1;
        }
        Self {
            offsets,
            lines: Lines::of(text),
        }
    }

    /// Returns the first position of a key at or after an offset.
    pub(super) fn offset(&self, key: &str, from: usize) -> Option<usize> {
        let all = self.offsets.get(key)?;
        all.get(all.partition_point(|&offset| offset < from))
            .copied()
    }

    /// Returns the line of a key at or after an offset.
    pub(super) fn line(&self, key: &str, from: usize) -> Option<u32> {
        self.offset(key, from).map(|offset| self.lines.at(offset))
    }
}
