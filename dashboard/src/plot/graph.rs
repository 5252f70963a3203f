//! Dependency graph, drawn from left to right.

use maud::{Markup, html};

use super::layout::{Layout, Vertex, layout};
use super::shortened;

const WIDTH: i32 = 236;
const HEIGHT: i32 = 60;
const BEND: i32 = 10;
const ACROSS: i32 = 62;
const DOWN: i32 = 16;
const MARGIN: i32 = 12;
/// How much text fits into a box.
const MAX_TEXT_CHARS: usize = 28;

/// A node of the graph.
#[derive(Debug, Clone)]
pub struct Node {
    pub title: String,
    pub note: String,
    /// CSS class of its state.
    pub class: &'static str,
    pub link: String,
}

/// Draws nodes and edges; `(a, b)` means that `b` waits for `a`.
pub fn graph(nodes: &[Node], edges: &[(usize, usize)], label: &str) -> Markup {
    let layout = layout(nodes.len(), edges);
    let places = places(&layout);
    let height = places.iter().map(|place| place.1 + HEIGHT).max();
    let height = height.unwrap_or(0) + MARGIN;
    let columns = i32::try_from(layout.layers.len()).unwrap_or(i32::MAX);
    let width = columns.saturating_mul(WIDTH + ACROSS) - ACROSS + 2 * MARGIN;
    html! {
        svg.graph role="group" aria-label=(label) width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } {
            @for route in &layout.routes {
                path.graph-edge d=(line(route, &layout, &places)) {}
            }
            @for (index, vertex) in layout.vertices.iter().enumerate() {
                @if let Vertex::Node(node) = vertex {
                    (drawn(&nodes[*node], places[index]))
                }
            }
        }
    }
}

fn drawn(node: &Node, (x, y): (i32, i32)) -> Markup {
    html! {
        a.graph-node .(node.class) href=(node.link) {
            title { (node.title) }
            rect.graph-box x=(x) y=(y) width=(WIDTH) height=(HEIGHT) rx="9" {}
            rect.graph-mark x=(x + 10) y=(y + 13) width="4" height=(HEIGHT - 26) rx="2" {}
            text.graph-title x=(x + 24) y=(y + 26) { (shortened(&node.title, MAX_TEXT_CHARS)) }
            text.graph-note x=(x + 24) y=(y + 44) { (shortened(&node.note, MAX_TEXT_CHARS + 2)) }
        }
    }
}

/// Returns the upper left corners. Layers are centred, to keep edges short.
fn places(layout: &Layout) -> Vec<(i32, i32)> {
    let size = |vertex: usize| match layout.vertices[vertex] {
        Vertex::Node(_) => HEIGHT,
        Vertex::Bend => BEND,
    };
    let heights: Vec<i32> = layout
        .layers
        .iter()
        .map(|layer| layer.iter().map(|&vertex| size(vertex) + DOWN).sum::<i32>() - DOWN)
        .collect();
    let tallest = heights.iter().copied().max().unwrap_or(0);
    let mut places = vec![(0, 0); layout.vertices.len()];
    let mut x = MARGIN;
    for (layer, height) in layout.layers.iter().zip(heights) {
        let mut y = MARGIN + (tallest - height) / 2;
        for &vertex in layer {
            places[vertex] = (x, y);
            y += size(vertex) + DOWN;
        }
        x += WIDTH + ACROSS;
    }
    places
}

/// Returns the path of an edge: curves between the columns, straight lines through them.
fn line(route: &[usize], layout: &Layout, places: &[(i32, i32)]) -> String {
    let middle = |vertex: usize| match layout.vertices[vertex] {
        Vertex::Node(_) => places[vertex].1 + HEIGHT / 2,
        Vertex::Bend => places[vertex].1 + BEND / 2,
    };
    let mut path = String::new();
    for (index, pair) in route.windows(2).enumerate() {
        let (x, y) = (places[pair[0]].0 + WIDTH, middle(pair[0]));
        let (to_x, to_y) = (places[pair[1]].0, middle(pair[1]));
        if index == 0 {
            path.push_str(&format!("M{x} {y}"));
        } else {
            path.push_str(&format!("L{x} {y}"));
        }
        let half = i32::midpoint(x, to_x);
        path.push_str(&format!("C{half} {y} {half} {to_y} {to_x} {to_y}"));
    }
    path
}
