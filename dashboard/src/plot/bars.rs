//! Bar charts: a stacked bar of shares, and columns.

use maud::{Markup, html};

use super::grouped;

/// A part of a whole.
#[derive(Debug, Clone)]
pub struct Share {
    pub name: String,
    pub amount: f64,
}

/// How many parts a bar has; smaller ones are summed up.
const MAX_PARTS: usize = 8;
const WIDTH: f64 = 1000.0;

/// Draws shares, largest first, as one bar, with a legend below.
pub fn stacked_bar(shares: &[Share], unit: &str, label: &str) -> Markup {
    let total: f64 = shares.iter().map(|share| share.amount).sum();
    if total <= 0.0 {
        return html! {};
    }
    let mut parts: Vec<Share> = shares
        .iter()
        .filter(|share| share.amount > 0.0)
        .cloned()
        .collect();
    parts.sort_by(|one, other| other.amount.total_cmp(&one.amount));
    if parts.len() > MAX_PARTS {
        let rest = parts.split_off(MAX_PARTS - 1);
        parts.push(Share {
            name: format!("{} others", rest.len()),
            amount: rest.iter().map(|share| share.amount).sum(),
        });
    }
    let widths = parts.iter().map(|part| part.amount / total * WIDTH);
    let begins = beginnings(widths.clone());
    html! {
        svg.bar role="img" aria-label=(label) viewBox="0 0 1000 22" preserveAspectRatio="none" {
            @for (index, ((part, width), x)) in parts.iter().zip(widths).zip(begins).enumerate() {
                rect .{ "c" (index) } x=(format!("{x:.1}")) y="0" width=(format!("{:.1}", (width - 2.0).max(1.0))) height="22" {
                    title { (part.name) ": " (grouped(part.amount)) " " (unit) }
                }
            }
        }
        ul.legend {
            @for (index, part) in parts.iter().enumerate() {
                li {
                    span.swatch .{ "c" (index) } {}
                    span.legend-name { (part.name) }
                    span.num { (format!("{:.1} %", part.amount / total * 100.0)) }
                    span.muted.num { (grouped(part.amount)) " " (unit) }
                }
            }
        }
    }
}

/// Returns where each bar begins in a row.
fn beginnings(widths: impl Iterator<Item = f64>) -> impl Iterator<Item = f64> {
    widths.scan(0.0, |end, width| {
        let begin = *end;
        *end += width;
        Some(begin)
    })
}

/// Draws amounts as columns.
pub fn columns(shares: &[Share], label: &str) -> Markup {
    let most = shares.iter().map(|share| share.amount).fold(0.0, f64::max);
    if most <= 0.0 {
        return html! {};
    }
    let slot = 92.0;
    let slots = shares.iter().map(|_| slot);
    let width: f64 = slots.clone().sum();
    let begins = beginnings(slots);
    html! {
        svg.columns role="img" aria-label=(label) viewBox={ "0 0 " (width) " 168" } {
            @for (share, x) in shares.iter().zip(begins) {
                // The square root keeps small amounts visible.
                @let height = (share.amount / most).sqrt() * 110.0;
                rect.c0 x=(format!("{:.1}", x + 10.0)) y=(format!("{:.1}", 134.0 - height)) width=(slot - 20.0) height=(format!("{height:.1}")) rx="3" {}
                text.plot-value x=(x + slot / 2.0) y=(format!("{:.1}", 126.0 - height)) { (grouped(share.amount)) }
                text.plot-label x=(x + slot / 2.0) y="156" { (share.name) }
            }
        }
    }
}
