//! Reports of planners: drawings of what can be drawn, and tables of everything else.

mod architecture;
mod codebase;
mod tables;

use maud::{Markup, html};
use serde_json::Value;

use super::icons::icon;
use super::layout::Page;
use super::time::ago;
use super::words::pill;
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
                                td data-label="Made" { (ago(&report.at)) span.muted { " ago" } }
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
                p.lead { (capitalised(&view.summary.depth)) " analysis, made " (ago(&view.summary.at)) " ago" }
            }
        }
        @match view.summary.scope.as_str() {
            "codebase" => (codebase::drawings(report)),
            "architecture" => (architecture::drawings(report)),
            _ => {},
        }
        (numbers_of(report, &view.summary.scope))
        (sections(report))
    };
    Page::new(
        format!("{} analysis", capitalised(&view.summary.scope)),
        content,
    )
    .render(frame)
}

/// The numbers that stand at the top of reports that have no drawings.
fn numbers_of(report: &Value, scope: &str) -> Markup {
    match scope {
        "dependencies" => {
            let sum = |name: &str| {
                let all = report["ecosystems"].as_array().into_iter().flatten();
                all.filter_map(|ecosystem| ecosystem[name].as_f64())
                    .sum::<f64>()
            };
            tiles(&[
                ("direct", sum("direct")),
                ("locked", sum("locked")),
                ("in several versions", sum("duplicates")),
                ("perhaps unused", listed(&report["unused"])),
                ("conflicts", listed(&report["conflicts"])),
            ])
        }
        "issues" => tiles(&[
            ("open issues", number(&report["issues"])),
            ("pull requests", number(&report["pulls"])),
            ("stale", number(&report["stale"])),
            ("ready", listed(&report["ready"])),
            ("blocked", listed(&report["blocked"])),
            ("marks in the code", listed(&report["todos"])),
        ]),
        _ => html! {},
    }
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

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

/// How many entries a listing has, also of those that were left out.
fn listed(value: &Value) -> f64 {
    let items = value["items"].as_array().map_or(0, Vec::len);
    let items = u32::try_from(items).unwrap_or(u32::MAX);
    f64::from(items) + number(&value["omitted"])
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value["items"].as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
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
