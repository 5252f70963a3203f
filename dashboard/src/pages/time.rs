//! Times as people read them. The page's script keeps them going.

use std::time::{SystemTime, UNIX_EPOCH};

use maud::{Markup, html};
use shared::model::timestamp::seconds_since_1970;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// How long ago a stored time was, with the time itself where the pointer rests.
pub(super) fn ago(stored: &str) -> Markup {
    html! {
        time datetime=(stored) title=(readable(stored)) { (age(stored)) }
    }
}

/// A stored time in UTC: `2026-07-28 12:34:56`.
pub(super) fn readable(stored: &str) -> String {
    let end = stored.len().min("2026-07-28T12:34:56".len());
    let text = stored.get(..end).unwrap_or_default().replace('T', " ");
    format!("{text} UTC")
}

fn age(stored: &str) -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    match seconds_since_1970(stored) {
        Some(then) => short(now.saturating_sub(then)),
        None => "?".to_owned(),
    }
}

/// The same words as in `assets/live.js`.
fn short(seconds: u64) -> String {
    match seconds {
        0..MINUTE => format!("{seconds} s"),
        MINUTE..HOUR => format!("{} min", seconds / MINUTE),
        HOUR..DAY => format!("{} h", seconds / HOUR),
        _ => format!("{} d", seconds / DAY),
    }
}

/// How long something took.
pub(super) fn duration(milliseconds: f64) -> String {
    if milliseconds < 1_000.0 {
        format!("{milliseconds:.0} ms")
    } else if milliseconds < 60_000.0 {
        format!("{:.1} s", milliseconds / 1_000.0)
    } else {
        format!("{:.0} min", milliseconds / 60_000.0)
    }
}
