//! Drawings of graphs: layout, escaping, any graph.

use proptest::prelude::*;

use super::layout::layout;
use super::*;

fn node(title: &str) -> Node {
    Node {
        title: title.to_owned(),
        note: "high".to_owned(),
        class: "ready",
        link: "#t".to_owned(),
    }
}

#[test]
fn what_waits_stands_right_of_what_it_waits_for() {
    // 0 → 1 → 2, and 0 → 2, which passes through the layer of 1.
    let placed = layout(4, &[(0, 1), (1, 2), (0, 2)]);
    let layer = |vertex: usize| {
        placed
            .layers
            .iter()
            .position(|layer| layer.contains(&vertex))
            .unwrap()
    };
    assert_eq!((layer(0), layer(1), layer(2), layer(3)), (0, 1, 2, 0));
    assert_eq!(placed.routes.iter().map(Vec::len).max(), Some(3));
    for route in &placed.routes {
        let layers: Vec<usize> = route.iter().map(|&vertex| layer(vertex)).collect();
        assert!(
            layers.windows(2).all(|pair| pair[0] + 1 == pair[1]),
            "{layers:?}"
        );
    }
}

#[test]
fn neighbours_are_put_across_from_each_other() {
    // Crossed as given: 0 → 3 and 1 → 2.
    let placed = layout(4, &[(0, 3), (1, 2)]);
    let place = |vertex: usize| {
        let layer = placed
            .layers
            .iter()
            .find(|layer| layer.contains(&vertex))
            .unwrap();
        layer.iter().position(|&other| other == vertex).unwrap()
    };
    assert_eq!(place(0) < place(1), place(3) < place(2));
}

#[test]
fn drawings_escape_what_they_name() {
    let hostile = "<script>alert(1)</script>\" onload=\"x";
    let drawings = [
        graph(&[node(hostile), node("b")], &[(0, 1)], hostile),
        stacked_bar(
            &[Share {
                name: hostile.to_owned(),
                amount: 1.0,
            }],
            "lines",
            hostile,
        ),
        columns(
            &[Share {
                name: hostile.to_owned(),
                amount: 1.0,
            }],
            hostile,
        ),
        scatter(
            &[Point {
                name: hostile.to_owned(),
                x: 1.0,
                y: 1.0,
                weight: 1.0,
            }],
            hostile,
            hostile,
            hostile,
        ),
        arcs(
            &[Arc {
                one: hostile.to_owned(),
                other: "b".to_owned(),
                strength: 1.0,
                said: hostile.to_owned(),
            }],
            hostile,
        ),
    ];
    for drawing in drawings {
        let svg = drawing.into_string();
        assert!(svg.starts_with("<svg"), "{svg}");
        assert!(
            !svg.contains("<script") && !svg.contains("\" onload"),
            "{svg}"
        );
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}

#[test]
fn numbers_and_names_fit() {
    assert_eq!(grouped(1_234_567.0), "1,234,567");
    assert_eq!(grouped(999.4), "999");
    assert_eq!(shortened("éééé", 3), "éé…");
    assert_eq!(
        shortened_path("shared/src/workflow/deliver.rs", 20),
        "…/deliver.rs"
    );
}

proptest! {
    #[test]
    fn any_graph_can_be_drawn(count in 0_usize..12, edges in proptest::collection::vec((0_usize..14, 0_usize..14), 0..40)) {
        let nodes: Vec<Node> = (0..count).map(|number| node(&number.to_string())).collect();
        let svg = graph(&nodes, &edges, "tasks").into_string();
        prop_assert_eq!(svg.matches("graph-box").count(), count);
    }
}
