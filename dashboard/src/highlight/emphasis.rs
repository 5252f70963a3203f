//! Finds the changed part of a changed line, by common prefix and suffix.

use std::ops::Range;

/// The byte ranges that differ between a line and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emphasis {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// Returns the ranges that differ, unless the lines have too little in common.
pub fn emphasised(old: &str, new: &str) -> Option<Emphasis> {
    let prefix: usize = old
        .chars()
        .zip(new.chars())
        .take_while(|(one, other)| one == other)
        .map(|(one, _)| one.len_utf8())
        .sum();
    let suffix: usize = old[prefix..]
        .chars()
        .rev()
        .zip(new[prefix..].chars().rev())
        .take_while(|(one, other)| one == other)
        .map(|(one, _)| one.len_utf8())
        .sum();
    let (old_range, new_range) = (prefix..old.len() - suffix, prefix..new.len() - suffix);
    // Common indentation does not count.
    let shared = old[..prefix].trim().len() + old[old.len() - suffix..].trim().len();
    let differs = old_range.len().max(new_range.len());
    let helps = shared > 0 && differs > 0 && shared * 2 >= differs;
    helps.then_some(Emphasis {
        old: old_range,
        new: new_range,
    })
}
