//! Scatter plot on two logarithmic scales.

use maud::{Markup, html};

use super::{grouped, shortened_path};

/// One measured thing.
#[derive(Debug, Clone)]
pub struct Point {
    pub name: String,
    pub x: f64,
    pub y: f64,
    /// 0 to 100: how much it matters.
    pub weight: f64,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 58.0;
const BOTTOM: f64 = 44.0;
const EDGE: f64 = 18.0;
/// How many of the heaviest points are named.
const MAX_NAMES: usize = 7;

/// A logarithmic scale over the range of the values.
#[derive(Debug, Clone, Copy)]
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    fn new(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let log = |value: f64| value.max(1.0).log10();
        let low = values.clone().map(log).fold(f64::INFINITY, f64::min);
        let high = values.map(log).fold(0.0, f64::max);
        let low = (low.min(high) - 0.12).max(0.0);
        Self {
            low,
            high: (high + 0.08).max(low + 0.5),
            from,
            to,
        }
    }

    fn place(self, value: f64) -> f64 {
        let share = (value.max(1.0).log10() - self.low) / (self.high - self.low);
        self.from + share * (self.to - self.from)
    }

    /// Returns round numbers on the scale; the shorter the scale, the finer they are.
    fn ticks(self) -> Vec<f64> {
        let decades = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7];
        let steps: &[f64] = match self.high - self.low {
            span if span < 0.9 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
            span if span < 2.2 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        decades
            .iter()
            .flat_map(|decade| steps.iter().map(move |step| decade * step))
            .filter(|value| (self.low..=self.high).contains(&value.log10()))
            .collect()
    }
}

/// Draws points; the heavier a point, the larger and the nearer to the alarming colour.
pub fn scatter(points: &[Point], across: &str, up: &str, label: &str) -> Markup {
    if points.is_empty() {
        return html! {};
    }
    let x = Scale::new(points.iter().map(|point| point.x), LEFT, WIDTH - EDGE);
    let y = Scale::new(points.iter().map(|point| point.y), HEIGHT - BOTTOM, EDGE);
    let mut sorted: Vec<&Point> = points.iter().collect();
    // Light points are drawn last, so that heavy ones do not cover them.
    sorted.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    let names = names(&sorted, x, y);
    html! {
        svg.scatter role="img" aria-label=(label) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } {
            @for tick in x.ticks() {
                @let at = format!("{:.1}", x.place(tick));
                line.grid-line x1=(at) x2=(at) y1=(EDGE) y2=(HEIGHT - BOTTOM) {}
                text.plot-label x=(at) y=(HEIGHT - BOTTOM + 16.0) { (grouped(tick)) }
            }
            @for tick in y.ticks() {
                @let at = format!("{:.1}", y.place(tick));
                line.grid-line x1=(LEFT) x2=(WIDTH - EDGE) y1=(at) y2=(at) {}
                text.plot-label.end x=(LEFT - 8.0) y=(format!("{:.1}", y.place(tick) + 4.0)) { (grouped(tick)) }
            }
            text.plot-axis x=(f64::midpoint(LEFT, WIDTH)) y=(HEIGHT - 8.0) { (across) }
            text.plot-axis x=(-f64::midpoint(EDGE, HEIGHT - BOTTOM)) y="13" transform="rotate(-90)" { (up) }
            @for (rank, point) in sorted.iter().enumerate() {
                circle.heat .{ "heat" (heat(rank)) } cx=(format!("{:.1}", x.place(point.x))) cy=(format!("{:.1}", y.place(point.y)))
                    r=(format!("{:.1}", 4.0 + point.weight.clamp(0.0, 100.0) * 0.06)) {
                    title { (point.name) ": " (grouped(point.x)) " " (across) ", " (grouped(point.y)) " " (up) }
                }
            }
            @for (text, at_x, at_y, end) in names {
                text.plot-name.end[end] x=(format!("{at_x:.1}")) y=(format!("{at_y:.1}")) { (text) }
            }
        }
    }
}

/// Returns the colour class by rank, so that the first always stand out.
const fn heat(rank: usize) -> u8 {
    match rank {
        0..=7 => 3,
        8..=19 => 2,
        20..=39 => 1,
        _ => 0,
    }
}

/// Places the names of the heaviest points where they do not overlap.
fn names(sorted: &[&Point], x: Scale, y: Scale) -> Vec<(String, f64, f64, bool)> {
    let mut placed: Vec<(f64, f64, f64)> = Vec::new();
    let mut names = Vec::new();
    for point in sorted.iter().take(MAX_NAMES * 3) {
        if names.len() == MAX_NAMES {
            break;
        }
        let text = shortened_path(&point.name, 26);
        // Approximate width of a character.
        let width = text.chars().map(|_| 6.4).sum::<f64>();
        let (at_x, at_y) = (x.place(point.x), y.place(point.y) + 4.0);
        let end = at_x + width + 20.0 > WIDTH - EDGE;
        let begin = if end {
            at_x - 14.0 - width
        } else {
            at_x + 14.0
        };
        let covered = placed.iter().any(|&(from, to, line)| {
            begin < to && begin + width > from && (line - at_y).abs() < 14.0
        });
        if covered || begin < LEFT {
            continue;
        }
        placed.push((begin, begin + width, at_y));
        names.push((text, if end { at_x - 14.0 } else { at_x + 14.0 }, at_y, end));
    }
    names
}
