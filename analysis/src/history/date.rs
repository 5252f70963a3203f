//! Days and dates (UTC).

use model::Timestamp;

const DAY: i64 = 86_400;

/// Returns the seconds since 1970.
pub(crate) fn now() -> i64 {
    Timestamp::now().unix_seconds()
}

/// Returns the whole days from `time` to `now`, at least zero.
pub(crate) fn days_between(time: i64, now: i64) -> u64 {
    u64::try_from((now - time).max(0) / DAY).unwrap_or(0)
}

/// Writes a time as `YYYY-MM-DD`.
pub(crate) fn date(time: i64) -> String {
    Timestamp::from_unix_seconds(time).date()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(date(1_793_750_400), "2026-11-04");
        assert_eq!(date(-1), "1969-12-31");
    }
}
