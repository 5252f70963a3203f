//! Ages and durations; the page's script keeps ages up to date.

use maud::{Markup, html};
use shared::model::Timestamp;

/// Prints how long ago a time was; its tooltip is the time itself.
pub(super) fn ago(time: Timestamp) -> Markup {
    html! {
        time datetime=(time) title={ (time.readable()) " UTC" } { (time.age()) }
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
