//! `Timestamp`: a moment in UTC, written in RFC 3339 as in the database and in GitHub's API.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

use chrono::{DateTime, SecondsFormat, SubsecRound, Utc};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// A moment in UTC with a resolution of milliseconds.
///
/// The database writes milliseconds (`2026-07-28T12:34:56.789Z`), GitHub whole seconds (`2026-07-28T12:34:56Z`). Each is printed
/// as it was read. All times in one column have the same format, so that SQL can compare them as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp {
    time: DateTime<Utc>,
    whole_seconds: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a time: {source}")]
pub struct InvalidTimestamp {
    pub text: String,
    pub source: chrono::ParseError,
}

impl Timestamp {
    pub fn now() -> Self {
        Utc::now().into()
    }

    /// Converts Unix time. A time beyond chrono's range becomes the end of that range.
    pub fn from_unix_seconds(seconds: i64) -> Self {
        let limit = if seconds < 0 {
            DateTime::<Utc>::MIN_UTC
        } else {
            DateTime::<Utc>::MAX_UTC
        };
        DateTime::from_timestamp(seconds, 0).unwrap_or(limit).into()
    }

    pub fn unix_seconds(self) -> i64 {
        self.time.timestamp()
    }

    /// Returns the seconds from this time to now, negative for a time in the future.
    pub fn seconds_ago(self) -> f64 {
        (Utc::now() - self.time).as_seconds_f64()
    }

    /// Returns the time from this moment to now in its largest unit: `5 s`, `12 min`, `3 h`, `9 d`.
    ///
    /// The dashboard's `live.js` prints the same words.
    pub fn age(self) -> String {
        let seconds = (Utc::now() - self.time).num_seconds();
        in_largest_unit(u64::try_from(seconds).unwrap_or(0))
    }

    /// Returns the date: `2026-07-28`.
    pub fn date(self) -> String {
        self.time.date_naive().to_string()
    }

    /// Returns the time of day in UTC: `12:34:56`.
    pub fn time_of_day(self) -> String {
        self.time.format("%T").to_string()
    }

    /// Returns date and time of day in UTC, for people: `2026-07-28 12:34:56`.
    pub fn readable(self) -> String {
        self.time.format("%F %T").to_string()
    }
}

fn in_largest_unit(seconds: u64) -> String {
    match seconds {
        0..MINUTE => format!("{seconds} s"),
        MINUTE..HOUR => format!("{} min", seconds / MINUTE),
        HOUR..DAY => format!("{} h", seconds / HOUR),
        _ => format!("{} d", seconds / DAY),
    }
}

impl From<DateTime<Utc>> for Timestamp {
    fn from(time: DateTime<Utc>) -> Self {
        Self {
            time: time.trunc_subsecs(3),
            whole_seconds: false,
        }
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        DateTime::<Utc>::from(time).into()
    }
}

impl From<Timestamp> for SystemTime {
    fn from(timestamp: Timestamp) -> Self {
        timestamp.time.into()
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        let time = DateTime::parse_from_rfc3339(text).map_err(|source| InvalidTimestamp {
            text: text.chars().take(40).collect(),
            source,
        })?;
        Ok(Self {
            whole_seconds: !text.contains('.'),
            ..time.to_utc().into()
        })
    }
}

impl TryFrom<String> for Timestamp {
    type Error = InvalidTimestamp;

    fn try_from(text: String) -> Result<Self, InvalidTimestamp> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(timestamp: Timestamp) -> Self {
        let format = if timestamp.whole_seconds {
            SecondsFormat::Secs
        } else {
            SecondsFormat::Millis
        };
        timestamp.time.to_rfc3339_opts(format, true)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&String::from(*self))
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn times_are_written_as_they_are_read(seconds in 0i64..200_000_000_000, milliseconds in 0u32..1_000) {
            let second = Timestamp::from_unix_seconds(seconds).to_string();
            for text in [second.replace(".000Z", &format!(".{milliseconds:03}Z")), second.replace(".000Z", "Z")] {
                let read: Timestamp = text.parse().unwrap();
                proptest::prop_assert_eq!(read.unix_seconds(), seconds);
                proptest::prop_assert_eq!(read.to_string(), text);
            }
        }
    }

    #[test]
    fn times_are_read() {
        let unix = |text: &str| text.parse().map(Timestamp::unix_seconds).ok();
        assert_eq!(unix("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(unix("2000-02-29T01:02:03.456Z"), Some(951_782_400 + 3_723));
        assert_eq!(unix("yesterday"), None);
        assert_eq!(unix("2026-13-01T00:00:00Z"), None);
    }

    #[test]
    fn times_sort_as_their_text() {
        let texts = [
            "1999-12-31T23:59:59.999Z",
            "2026-07-28T12:34:56.007Z",
            "2026-07-28T12:34:56.070Z",
        ];
        assert!(texts.is_sorted());
        assert!(
            texts
                .map(|text| text.parse::<Timestamp>().unwrap())
                .is_sorted()
        );
    }

    #[test]
    fn times_are_readable() {
        let time: Timestamp = "2026-07-28T12:34:56.789Z".parse().unwrap();
        assert_eq!(time.readable(), "2026-07-28 12:34:56");
        assert_eq!(time.date(), "2026-07-28");
        assert_eq!(Timestamp::from_unix_seconds(-1).date(), "1969-12-31");
        assert!(Timestamp::from_unix_seconds(i64::MAX) > Timestamp::now());
        assert!(Timestamp::from_unix_seconds(i64::MIN) < time);
    }

    #[test]
    fn ages_have_one_unit() {
        assert_eq!(
            [5, 61, 7_300, 900_000].map(in_largest_unit),
            ["5 s", "1 min", "2 h", "10 d"]
        );
        assert_eq!(Timestamp::now().age(), "0 s");
        assert_eq!(Timestamp::from_unix_seconds(i64::MAX).age(), "0 s");
    }

    #[test]
    fn json_and_schema_are_those_of_text() {
        let text = "\"2026-07-28T12:34:56Z\"";
        let time: Timestamp = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&time).unwrap(), text);
        let schema = schemars::schema_for!(Timestamp);
        assert_eq!(schema.get("type").unwrap(), "string");
        assert_eq!(schema.get("format"), None);
    }
}
