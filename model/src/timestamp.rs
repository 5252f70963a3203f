//! Times as the database and GitHub write them (`2026-07-28T12:34:56.789Z`).

const DAY: u64 = 24 * 60 * 60;

/// Reads a stored time as seconds since 1970.
pub fn seconds_since_1970(stored: &str) -> Option<u64> {
    let number = |from: usize, to: usize| stored.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    Some(days_since_1970(year, month, day) * DAY + hour * 3_600 + minute * 60 + second)
}

/// Writes seconds since 1970 as a time.
pub fn time_of_seconds(seconds: u64) -> String {
    let (days, rest) = (seconds / DAY, seconds % DAY);
    // Counted in eras of 400 years that begin in March, so that a leap day is the last of its year.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let (month, later) = if month_from_march < 10 {
        (month_from_march + 3, 0)
    } else {
        (month_from_march - 9, 1)
    };
    let year = era * 400 + year_of_era + later;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.000Z",
        rest / 3_600,
        rest / 60 % 60,
        rest % 60
    )
}

/// Counts days since 1970-01-01. The year begins in March, so that a leap day is its last.
pub fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    // 719_468 days lie between 0000-03-01 and 1970-01-01.
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn times_are_written_as_they_are_read(seconds in 0u64..200_000_000_000) {
            let written = time_of_seconds(seconds);
            proptest::prop_assert_eq!(seconds_since_1970(&written), Some(seconds), "{}", written);
        }
    }

    #[test]
    fn times_are_read() {
        assert_eq!(seconds_since_1970("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(
            seconds_since_1970("2000-02-29T01:02:03.456Z"),
            Some(951_782_400 + 3_723)
        );
        assert_eq!(seconds_since_1970("yesterday"), None);
        assert_eq!(seconds_since_1970("2026-13-01T00:00:00Z"), None);
    }
}
