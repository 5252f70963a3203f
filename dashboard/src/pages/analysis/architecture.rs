//! What the repository is made of, in which layers, and what changes together.

use maud::{Markup, html};
use serde_json::Value;

use super::{items, listed, number, text, tiles};
use crate::plot::{Arc, Share, arcs, stacked_bar};

pub(super) fn drawings(report: &Value) -> Markup {
    let graph = &report["graph"];
    let mut numbers = vec![
        ("packages", listed(&report["packages"])),
        ("entry points", listed(&report["entryPoints"])),
    ];
    if graph.is_object() {
        numbers.push(("modules", listed(&graph["modules"])));
        numbers.push(("imports between files", number(&graph["fileImports"])));
        numbers.push(("cycles", listed(&graph["cycles"])));
    }
    let languages: Vec<Share> = report["identity"]["languages"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|language| Share {
            name: text(&language["language"]).to_owned(),
            amount: number(&language["files"]),
        })
        .collect();
    html! {
        section.panel #identity-drawn {
            h2 { (text(&report["identity"]["name"])) }
            @if let Some(summary) = report["identity"]["summary"].as_str() { p { (summary) } }
            (stacked_bar(&languages, "files", "Share of each language in the files"))
        }
        (tiles(&numbers))
        (layers(graph))
        (coupling(&report["changeCoupling"]))
    }
}

/// Layers from the top, which nothing imports, to the ground, on which everything stands.
fn layers(graph: &Value) -> Markup {
    let layers: Vec<&Value> = items(&graph["layers"]).collect();
    html! {
        @if !layers.is_empty() {
            section.panel #layers-drawn {
                h2 { "Layers" }
                p.muted { "Each module imports only from the layers below it, cycles aside." }
                ol.layers {
                    @for layer in layers.iter().rev() {
                        li {
                            span.num.muted { (number(&layer["layer"])) }
                            ul { @for module in layer["modules"].as_array().into_iter().flatten() { li.chip.mono { (text(module)) } } }
                        }
                    }
                }
            }
        }
    }
}

fn coupling(listing: &Value) -> Markup {
    let pairs: Vec<Arc> = items(listing)
        .map(|pair| {
            let (one, other) = (text(&pair["one"]), text(&pair["other"]));
            let (together, confidence) = (number(&pair["together"]), number(&pair["confidence"]));
            Arc {
                one: one.to_owned(),
                other: other.to_owned(),
                strength: confidence,
                said: format!("{one} and {other}: {together} times together, {confidence:.0} %"),
            }
        })
        .collect();
    html! {
        @if !pairs.is_empty() {
            section.panel #coupling-drawn {
                h2 { "Coupling" }
                p.muted { "Files that change in the same commits though neither imports the other." }
                (arcs(&pairs, "Pairs of files that change together; the table below lists them"))
            }
        }
    }
}
