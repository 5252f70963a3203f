//! How much there is of what, where it changes most, and how complex it is.

use maud::{Markup, html};
use serde_json::Value;

use super::{items, number, text, tiles};
use crate::plot::{Point, Share, columns, scatter, stacked_bar};

/// Points that are drawn.
const POINTS: usize = 60;

pub(super) fn drawings(report: &Value) -> Markup {
    let history = &report["history"];
    let mut numbers = vec![
        ("files", number(&report["totals"]["files"])),
        ("lines of code", number(&report["totals"]["lines"]["code"])),
    ];
    if history.is_object() {
        numbers.push(("commits", number(&history["commits"])));
        numbers.push(("authors", number(&history["authors"])));
        numbers.push(("bus factor", number(&history["busFactor"])));
    }
    if report["complexity"].is_object() {
        numbers.push(("functions", number(&report["complexity"]["functions"])));
    }
    html! {
        (tiles(&numbers))
        (languages(&report["languages"]))
        (hotspots(history))
        (tests(&report["tests"]))
        (complexity(&report["complexity"]))
    }
}

fn languages(listing: &Value) -> Markup {
    let shares: Vec<Share> = items(listing)
        .map(|language| Share {
            name: text(&language["language"]).to_owned(),
            amount: number(&language["lines"]["code"]),
        })
        .collect();
    html! {
        @if !shares.is_empty() {
            section.panel #languages-drawn {
                h2 { "Languages" }
                (stacked_bar(&shares, "lines", "Share of each language in the lines of code"))
            }
        }
    }
}

fn hotspots(history: &Value) -> Markup {
    let points: Vec<Point> = items(&history["hotspots"])
        .take(POINTS)
        .map(|spot| Point {
            name: text(&spot["path"]).to_owned(),
            x: number(&spot["code"]),
            y: number(&spot["churn"]),
            weight: number(&spot["score"]),
        })
        .collect();
    html! {
        @if !points.is_empty() {
            section.panel #hotspots-drawn {
                h2 { "Hotspots" }
                p.muted { "Large files that change much: where work and mistakes gather." }
                (scatter(&points, "lines of code", "lines changed", "Files by their size and by how much they changed"))
            }
        }
    }
}

fn tests(tests: &Value) -> Markup {
    let shares = [
        Share {
            name: "production code".to_owned(),
            amount: number(&tests["productionCode"]),
        },
        Share {
            name: "test code".to_owned(),
            amount: number(&tests["testCode"]),
        },
    ];
    html! {
        @if tests.is_object() {
            section.panel #tests-drawn {
                h2 { "Tests" }
                (stacked_bar(&shares, "lines", "Share of test code"))
            }
        }
    }
}

fn complexity(complexity: &Value) -> Markup {
    let bands: Vec<Share> = complexity["distribution"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|band| Share {
            name: match band["to"].as_u64() {
                Some(to) => format!("{}–{to}", band["from"]),
                None => format!("{} and more", band["from"]),
            },
            amount: number(&band["functions"]),
        })
        .collect();
    html! {
        @if !bands.is_empty() {
            section.panel #complexity-drawn {
                h2 { "Complexity of functions" }
                p.muted { "How many functions have how many ways through them." }
                (columns(&bands, "Functions by their cyclomatic complexity"))
            }
        }
    }
}
