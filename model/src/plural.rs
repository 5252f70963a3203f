//! Plurals: a number with its noun, as in `1 agent` and `2 agents`.

use std::fmt::Display;

/// Returns the word that fits a number.
pub fn plural<'a, N: Copy + PartialEq + From<u8>>(
    number: N,
    one: &'a str,
    many: &'a str,
) -> &'a str {
    if number == N::from(1) { one } else { many }
}

/// Returns a number with its noun: `1 agent`, `2 agents`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(
    number: N,
    one: &str,
    many: &str,
) -> String {
    format!("{number} {}", plural(number, one, many))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        assert_eq!(counted(0_u64, "file is", "files are"), "0 files are");
        assert_eq!(counted(1_usize, "file is", "files are"), "1 file is");
        assert_eq!(counted(2_u32, "file is", "files are"), "2 files are");
    }
}
