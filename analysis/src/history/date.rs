//! Days and dates (UTC).

use std::time::{SystemTime, UNIX_EPOCH};

const DAY: i64 = 86_400;

/// Returns the seconds since 1970.
pub(crate) fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|time| i64::try_from(time.as_secs()).ok())
        .unwrap_or(0)
}

/// Returns the whole days from `time` to `now`, at least zero.
pub(crate) fn days_between(time: i64, now: i64) -> u64 {
    u64::try_from((now - time).max(0) / DAY).unwrap_or(0)
}

/// Writes a time as `YYYY-MM-DD`.
pub(crate) fn date(time: i64) -> String {
    // Howard Hinnant's conversion: years start in March, so that the leap day comes last.
    let days = time.div_euclid(DAY) + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
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
