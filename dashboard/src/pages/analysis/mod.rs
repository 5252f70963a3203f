//! The pages of analysis reports: the list, and one report as drawings and tables.

mod architecture;
mod codebase;
mod tables;

use analysis::report::dependencies::EcosystemCounts;
use analysis::{DependencyReport, IssueReport};
use maud::{Markup, html};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::icons::icon;
use super::labels::pill;
use super::layout::Page;
use super::time::ago;
use crate::plot::grouped;
use crate::view::{AnalysisList, AnalysisView, Frame};
use tables::sections;

pub fn analyses(view: &AnalysisList, frame: &Frame) -> Markup {
    let content = html! {
        div.head {
            div {
                h1 { "Analysis" }
                p.lead { "Reports that planners have made with " code { "analyze_repository" } }
            }
        }
        @if view.reports.is_empty() {
            p.nothing { "There is none yet. " a href="/launch?kind=plan" { "Launch a planner" } ": it begins with one." }
        } @else {
            section.panel aria-label="List of reports" {
                table.list {
                    thead { tr { th { "Report" } th { "Depth" } th { "Made" } th.num { "Size" } } }
                    tbody {
                        @for report in &view.reports {
                            tr #{ "report-" (report.id) } data-card {
                                td.main-cell data-label="Report" {
                                    a.row-link href={ "/analysis/" (report.id) } { (icon(scope_icon(&report.scope))) strong { (capitalised(&report.scope)) } " " span.muted.mono { (report.id) } }
                                }
                                td data-label="Depth" { (pill("ended", &report.depth)) }
                                td data-label="Made" { (ago(report.at)) span.muted { " ago" } }
                                td.num data-label="Size" { (report.bytes.div_ceil(1024)) " KB" }
                            }
                        }
                    }
                }
            }
        }
    };
    Page::new("Analysis", content).render(frame)
}

pub fn analysis(view: &AnalysisView, frame: &Frame) -> Markup {
    let report = &view.report;
    let content = html! {
        nav.crumbs aria-label="Where you are" { a href="/analysis" { "Analysis" } span { (view.summary.id) } }
        div.head {
            div {
                h1 { (capitalised(&view.summary.scope)) }
                p.lead { (capitalised(&view.summary.depth)) " analysis, made " (ago(view.summary.at)) " ago" }
            }
        }
        (drawings(report, &view.summary.scope))
        (sections(report))
    };
    Page::new(
        format!("{} analysis", capitalised(&view.summary.scope)),
        content,
    )
    .render(frame)
}

/// Drawings and numbers that stand at the top; a report of another release may have another shape, and then there are none.
fn drawings(report: &Value, scope: &str) -> Markup {
    let nothing = html! {};
    match scope {
        "codebase" => read(report).map_or(nothing, |report| codebase::drawings(&report)),
        "architecture" => read(report).map_or(nothing, |report| architecture::drawings(&report)),
        "dependencies" => read(report).map_or(nothing, |report| dependencies(&report)),
        "issues" => read(report).map_or(nothing, |report| issues(&report)),
        _ => nothing,
    }
}

fn read<R: DeserializeOwned>(report: &Value) -> Option<R> {
    R::deserialize(report).ok()
}

fn dependencies(report: &DependencyReport) -> Markup {
    let sum = |count: fn(&EcosystemCounts) -> u32| {
        let counts = report.ecosystems.iter().map(count);
        counts.map(f64::from).sum::<f64>()
    };
    tiles(&[
        ("direct", sum(|ecosystem| ecosystem.direct)),
        ("locked", sum(|ecosystem| ecosystem.locked)),
        ("in several versions", sum(|ecosystem| ecosystem.duplicates)),
        ("unused", number(report.unused.total())),
        ("conflicts", sum(|ecosystem| ecosystem.conflicts)),
    ])
}

fn issues(report: &IssueReport) -> Markup {
    // What is unknown is no zero.
    let mut numbers: Vec<(&str, f64)> = [
        ("open issues", report.issues),
        ("pull requests", report.pulls),
        (
            "stale",
            report.issues.or(report.pulls).map(|_| report.stale),
        ),
    ]
    .into_iter()
    .filter_map(|(name, count)| Some((name, f64::from(count?))))
    .collect();
    numbers.extend([
        ("ready", number(report.ready.total())),
        ("blocked", number(report.blocked.total())),
        ("marks in the code", number(report.todos.total())),
    ]);
    tiles(&numbers)
}

/// Large numbers with small names.
fn tiles(tiles: &[(&str, f64)]) -> Markup {
    html! {
        dl.tiles {
            @for (name, number) in tiles {
                div { dt { (name) } dd { (grouped(*number)) } }
            }
        }
    }
}

/// Counts of a report are far below what a float can't tell apart.
fn number(count: u64) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}

fn scope_icon(scope: &str) -> &'static str {
    match scope {
        "architecture" => "planning",
        "dependencies" => "link",
        "issues" => "tasks",
        _ => "analysis",
    }
}

fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + characters.as_str()
    })
}
