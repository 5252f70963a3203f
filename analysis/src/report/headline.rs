//! Headlines: the one-line message that comes with each report.

use std::fmt::Write as _;

use model::counted;

use super::{Incomplete, Listing};

/// Appends the findings that are not zero, and a note if parts of the report are missing.
pub(super) fn with_findings(
    mut line: String,
    findings: &[(u64, &str, &str)],
    incomplete: &Listing<Incomplete>,
) -> String {
    for (count, one, many) in findings.iter().filter(|(count, ..)| *count > 0) {
        // Writing to a String cannot fail.
        let _ = write!(line, "; {}", counted(*count, one, many));
    }
    if incomplete.total() > 0 {
        line.push_str("; incomplete, see the list");
    }
    line
}

/// Writes a number with a comma after each three digits.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn groups_digits() {
        assert_eq!(super::grouped(1_234_567), "1,234,567");
        assert_eq!(super::grouped(12), "12");
    }
}
