//! Layered graph layout: layers by longest path, order within a layer by barycentre of the neighbours.

/// A node, or the point where a long edge passes through a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vertex {
    Node(usize),
    Bend,
}

#[derive(Debug)]
pub(super) struct Layout {
    pub(super) vertices: Vec<Vertex>,
    /// Vertices of each layer, top to bottom.
    pub(super) layers: Vec<Vec<usize>>,
    /// The vertices that each edge passes, from start to end.
    pub(super) routes: Vec<Vec<usize>>,
}

/// How many passes improve the order, alternating directions.
const SWEEPS: usize = 6;

/// Lays out `count` nodes; an edge `(a, b)` means that `a` comes before `b`. Edges that would close a cycle are left out.
pub(super) fn layout(count: usize, edges: &[(usize, usize)]) -> Layout {
    let edges: Vec<(usize, usize)> = edges
        .iter()
        .copied()
        .filter(|&(from, to)| from != to && from < count && to < count)
        .collect();
    let layer_of = layers(count, &edges);
    let mut layout = Layout {
        vertices: (0..count).map(Vertex::Node).collect(),
        layers: vec![Vec::new(); layer_of.iter().max().map_or(0, |most| most + 1)],
        routes: Vec::new(),
    };
    for (node, &layer) in layer_of.iter().enumerate() {
        layout.layers[layer].push(node);
    }
    for (from, to) in edges {
        if layer_of[from] >= layer_of[to] {
            continue;
        }
        let mut route = vec![from];
        for layer in &mut layout.layers[layer_of[from] + 1..layer_of[to]] {
            let bend = layout.vertices.len();
            layout.vertices.push(Vertex::Bend);
            layer.push(bend);
            route.push(bend);
        }
        route.push(to);
        layout.routes.push(route);
    }
    layout.order();
    layout
}

/// Returns the longest path to each node. In a cycle the search ends after as many rounds as there are nodes.
fn layers(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut layer = vec![0; count];
    for _ in 0..count {
        let mut moved = false;
        for &(from, to) in edges {
            if layer[to] <= layer[from] && layer[from] + 1 < count {
                layer[to] = layer[from] + 1;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    layer
}

impl Layout {
    /// Moves each vertex to the barycentre of its neighbours, layer by layer, in alternating directions.
    fn order(&mut self) {
        let steps: Vec<(usize, usize)> = self
            .routes
            .iter()
            .flat_map(|route| route.windows(2).map(|pair| (pair[0], pair[1])))
            .collect();
        let mut before = vec![Vec::new(); self.vertices.len()];
        let mut after = vec![Vec::new(); self.vertices.len()];
        for (from, to) in steps {
            before[to].push(from);
            after[from].push(to);
        }
        for sweep in 0..SWEEPS {
            let forth = sweep % 2 == 0;
            let neighbours = if forth { &before } else { &after };
            let count = self.layers.len();
            for step in 0..count {
                let index = if forth { step } else { count - 1 - step };
                let places = self.places();
                let layer = &mut self.layers[index];
                // In hundredths, because integers sort.
                let key = |vertex: &usize| {
                    let around = &neighbours[*vertex];
                    if around.is_empty() {
                        places[*vertex] * 100
                    } else {
                        let sum: usize = around.iter().map(|other| places[*other] * 100).sum();
                        sum / around.len()
                    }
                };
                layer.sort_by_key(key);
            }
        }
    }

    /// Returns the position of each vertex within its layer.
    fn places(&self) -> Vec<usize> {
        let mut places = vec![0; self.vertices.len()];
        for layer in &self.layers {
            for (place, &vertex) in layer.iter().enumerate() {
                places[vertex] = place;
            }
        }
        places
    }
}
