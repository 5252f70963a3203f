//! Drawings of an architecture report: languages, layers, change coupling.

use analysis::ArchitectureReport;
use analysis::report::architecture::{CoupledFiles, Layer};
use maud::{Markup, html};

use super::{number, tiles};
use crate::plot::{Arc, Share, arcs, stacked_bar};

pub(super) fn drawings(report: &ArchitectureReport) -> Markup {
    let mut numbers = vec![
        ("packages", number(report.packages.total())),
        ("entry points", number(report.entry_points.total())),
    ];
    if let Some(graph) = &report.graph {
        numbers.push(("modules", number(graph.modules.total())));
        numbers.push(("imports between files", number(graph.file_imports)));
        numbers.push(("cycles", number(graph.cycles.total())));
    }
    let identity = &report.identity;
    let languages: Vec<Share> = identity
        .languages
        .iter()
        .map(|language| Share {
            name: language.language.clone(),
            amount: number(language.files),
        })
        .collect();
    html! {
        section.panel #identity-drawn {
            h2 { (identity.name) }
            @if let Some(summary) = &identity.summary { p { (summary) } }
            (stacked_bar(&languages, "files", "Share of each language in the files"))
        }
        (tiles(&numbers))
        @if let Some(graph) = &report.graph { (layers(&graph.layers)) }
        @if let Some(pairs) = &report.change_coupling { (coupling(pairs)) }
    }
}

/// Layers from the top, which nothing imports, to the bottom, which imports nothing.
fn layers(layers: &[Layer]) -> Markup {
    html! {
        @if !layers.is_empty() {
            section.panel #layers-drawn {
                h2 { "Layers" }
                p.muted { "Each folder or file imports only from the layers below it, cycles aside." }
                ol.layers {
                    @for layer in layers.iter().rev() {
                        li {
                            span.num.muted { (layer.layer) }
                            ul { @for area in &layer.modules { li.chip.mono { (area) } } }
                        }
                    }
                }
            }
        }
    }
}

fn coupling(pairs: &[CoupledFiles]) -> Markup {
    let pairs: Vec<Arc> = pairs
        .iter()
        .map(|pair| Arc {
            one: pair.one.clone(),
            other: pair.other.clone(),
            strength: pair.confidence,
            said: format!(
                "{} and {}: {} times together, {:.0} %",
                pair.one, pair.other, pair.together, pair.confidence
            ),
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
