//! Drawings of a codebase report: sizes, hotspots, complexity.

use analysis::CodebaseReport;
use analysis::report::codebase::{ComplexityReport, LanguageSize, TestShare};
use analysis::report::history::HistoryReport;
use maud::{Markup, html};

use super::{number, tiles};
use crate::plot::{Point, Share, columns, scatter, stacked_bar};

/// Points that are drawn.
const MAX_POINTS: usize = 60;

pub(super) fn drawings(report: &CodebaseReport) -> Markup {
    let mut numbers = vec![
        ("files", number(report.totals.files)),
        ("lines of code", number(report.totals.lines.code)),
    ];
    if let Some(history) = &report.history {
        numbers.push(("commits", number(history.commits)));
        numbers.push(("authors", number(history.authors)));
        if let Some(bus_factor) = history.bus_factor {
            numbers.push(("bus factor", number(bus_factor)));
        }
    }
    if let Some(complexity) = &report.complexity {
        numbers.push(("functions", number(complexity.functions)));
    }
    html! {
        (tiles(&numbers))
        (languages(&report.languages))
        @if let Some(history) = &report.history { (hotspots(history)) }
        (tests(&report.tests))
        @if let Some(complexity) = &report.complexity { (distribution(complexity)) }
    }
}

fn languages(languages: &[LanguageSize]) -> Markup {
    let shares: Vec<Share> = languages
        .iter()
        .map(|language| Share {
            name: language.language.clone(),
            amount: number(language.size.lines.code),
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

fn hotspots(history: &HistoryReport) -> Markup {
    let points: Vec<Point> = history
        .hotspots
        .iter()
        .take(MAX_POINTS)
        .map(|spot| Point {
            name: spot.path.clone(),
            x: number(spot.code),
            y: number(spot.churn),
            weight: spot.score,
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

fn tests(tests: &TestShare) -> Markup {
    let shares = [
        Share {
            name: "production code".to_owned(),
            amount: number(tests.production_code),
        },
        Share {
            name: "test code".to_owned(),
            amount: number(tests.test_code),
        },
    ];
    html! {
        section.panel #tests-drawn {
            h2 { "Tests" }
            (stacked_bar(&shares, "lines", "Share of test code"))
        }
    }
}

fn distribution(complexity: &ComplexityReport) -> Markup {
    let bands: Vec<Share> = complexity
        .distribution
        .iter()
        .map(|band| Share {
            name: match band.to {
                Some(to) => format!("{}–{to}", band.from),
                None => format!("{} and more", band.from),
            },
            amount: number(band.functions),
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
