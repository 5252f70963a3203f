//! Times as the database keeps them (`2026-07-28T12:34:56.789Z`), and how long ago they were.

use std::time::{SystemTime, UNIX_EPOCH};

use shared::model::timestamp::{days_since_1970 as days, seconds_since_1970};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Returns how long ago a stored time was, in one or two characters of precision: `5s`, `12m`, `3h`, `9d`.
pub(crate) fn age(stored: &str) -> String {
    let now = seconds_now();
    match seconds_since_1970(stored) {
        Some(then) => short(now.saturating_sub(then)),
        None => "?".to_owned(),
    }
}

/// Returns the part of a stored time that people read: `2026-07-28 12:34:56`.
pub(crate) fn readable(stored: &str) -> String {
    let end = stored.len().min("2026-07-28T12:34:56".len());
    crate::text::harmless(&stored.get(..end).unwrap_or_default().replace('T', " "))
}

/// Returns the time now, as the database would store it.
pub(crate) fn now() -> String {
    let seconds = seconds_now();
    let (year, month, day) = date(seconds / DAY);
    let rest = seconds % DAY;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        rest / HOUR,
        rest % HOUR / MINUTE,
        rest % MINUTE
    )
}

fn seconds_now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

fn short(seconds: u64) -> String {
    match seconds {
        0..MINUTE => format!("{seconds}s"),
        MINUTE..HOUR => format!("{}m", seconds / MINUTE),
        HOUR..DAY => format!("{}h", seconds / HOUR),
        _ => format!("{}d", seconds / DAY),
    }
}

/// The reverse of [`days`], by search: nobody prints so many times that it matters.
fn date(count: u64) -> (u64, u64, u64) {
    let mut year = 1970 + count / 366;
    while days(year + 1, 1, 1) <= count {
        year += 1;
    }
    let month = (1..=12)
        .rev()
        .find(|month| days(year, *month, 1) <= count)
        .unwrap_or(1);
    (year, month, count - days(year, month, 1) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_days_are_each_others_reverse() {
        for count in (0..40_000).step_by(7) {
            let (year, month, day) = date(count);
            assert_eq!(days(year, month, day), count);
            assert!((1..=12).contains(&month) && (1..=31).contains(&day));
        }
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(age(&now()), "0s");
    }

    #[test]
    fn ages_are_short() {
        assert_eq!(
            [5, 61, 7_300, 900_000].map(short),
            ["5s", "1m", "2h", "10d"]
        );
        assert_eq!(age("nonsense"), "?");
        assert_eq!(readable("2026-07-28T12:34:56.789Z"), "2026-07-28 12:34:56");
    }
}
