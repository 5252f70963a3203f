//! Arc diagram of pairs, such as files that change together.

use maud::{Markup, html};

use super::shortened_path;

/// A pair, and how strongly it is connected.
#[derive(Debug, Clone)]
pub struct Arc {
    pub one: String,
    pub other: String,
    /// 0 to 100.
    pub strength: f64,
    pub said: String,
}

/// How many arcs are drawn; a table lists them all.
const MAX_ARCS: usize = 24;
const ROW: f64 = 22.0;
const TEXT: f64 = 420.0;
const WIDTH: f64 = 760.0;

/// Draws the first arcs beside the names that they connect.
pub fn arcs(arcs: &[Arc], label: &str) -> Markup {
    if arcs.is_empty() {
        return html! {};
    }
    let drawn = &arcs[..arcs.len().min(MAX_ARCS)];
    let mut names: Vec<&str> = Vec::new();
    for arc in drawn {
        for name in [arc.one.as_str(), arc.other.as_str()] {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    // By path, so that long arcs are connections between distant folders.
    names.sort_unstable();
    let row = |name: &str| {
        let before = names.iter().take_while(|other| **other != name);
        before.map(|_| ROW).sum::<f64>() + ROW * 0.7
    };
    let height = names.iter().map(|_| ROW).sum::<f64>() + 8.0;
    html! {
        svg.arcs role="img" aria-label=(label) viewBox={ "0 0 " (WIDTH) " " (height) } {
            @for arc in drawn {
                @let (from, to) = (row(&arc.one), row(&arc.other));
                @let reach = ((to - from).abs() * 0.62).clamp(26.0, WIDTH - TEXT - 30.0);
                path.arc .{ "arc" (thickness(arc.strength)) }
                    d={ "M" (TEXT + 10.0) " " (format!("{from:.1}")) "C" (format!("{:.1}", TEXT + 10.0 + reach * 1.3)) " " (format!("{from:.1}"))
                        " " (format!("{:.1}", TEXT + 10.0 + reach * 1.3)) " " (format!("{to:.1}")) " " (TEXT + 10.0) " " (format!("{to:.1}")) } {
                    title { (arc.said) }
                }
            }
            @for name in &names {
                @let y = row(name);
                text.plot-name.end x=(TEXT - 4.0) y=(format!("{:.1}", y + 4.0)) { (shortened_path(name, 58)) title { (name) } }
                circle.arc-end cx=(TEXT + 8.0) cy=(format!("{y:.1}")) r="3.4" {}
            }
        }
    }
}

fn thickness(strength: f64) -> u8 {
    match strength {
        strength if strength >= 85.0 => 2,
        strength if strength >= 60.0 => 1,
        _ => 0,
    }
}
