//! SVG charts: bars, scatter plot, arcs and graph, coloured by CSS classes to follow light and dark themes.

mod arcs;
mod bars;
mod graph;
mod layout;
mod scatter;

pub use arcs::{Arc, arcs};
pub use bars::{Share, columns, stacked_bar};
pub use graph::{Node, graph};
pub use scatter::{Point, scatter};

/// Cuts a text to `most` characters.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Cuts a path to about `most` characters, from the left: its end says more.
pub(crate) fn shortened_path(path: &str, most: usize) -> String {
    let count = path.chars().count();
    if count <= most {
        return path.to_owned();
    }
    let tail: String = path.chars().skip(count - most.saturating_sub(1)).collect();
    let whole = tail.find('/').map_or(tail.as_str(), |slash| &tail[slash..]);
    format!("…{whole}")
}

/// Formats a number with thousands separators: 12,345.
pub(crate) fn grouped(number: f64) -> String {
    let digits = format!("{:.0}", number.abs());
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number <= -0.5 {
        text.insert(0, '-');
    }
    text
}

#[cfg(test)]
mod tests;
