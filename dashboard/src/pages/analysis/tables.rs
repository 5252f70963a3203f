//! Renders any report as tables: lists become rows, other values become name and value.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::capitalised;
use crate::plot::{grouped, shortened};

/// Rows of one table that are shown.
const MAX_ROWS: usize = 200;
/// Columns of one table; an entry with more is told as text.
const MAX_COLUMNS: usize = 8;

/// Each part of a report under its own heading, folded.
pub(super) fn sections(report: &Value) -> Markup {
    let Some(fields) = report.as_object() else {
        return html! { pre.text { (report) } };
    };
    // How deep it looked stands at the top of the page.
    let fields = fields.iter().filter(|(name, _)| *name != "depth");
    let (simple, large): (Vec<_>, Vec<_>) =
        fields.partition(|(_, value)| !value.is_object() && !value.is_array());
    html! {
        @if !simple.is_empty() {
            section.panel { h2 { "In short" } (pairs(&simple)) }
        }
        h2.divider { "Everything in the report" }
        @for (name, value) in large {
            @if !is_empty(value) {
                details.panel.section #{ "section-" (name) } {
                    summary { h2 { (readable(name)) } span.count { (size(value)) } }
                    (part(value, 0))
                }
            }
        }
    }
}

fn part(value: &Value, depth: usize) -> Markup {
    // Reports are a few levels deep; a hostile one may be deeper than any page.
    if depth > 5 {
        return html! { span.small { (shortened(&value.to_string(), 300)) } };
    }
    if let Some((entries, omitted)) = listing(value) {
        return html! {
            (table(entries, depth))
            @if omitted > 0 { p.empty { "and " (omitted) " more that the report left out" } }
        };
    }
    match value {
        Value::Array(entries) => table(entries, depth),
        Value::Object(fields) => object(fields, depth),
        simple => html! { (cell(simple)) },
    }
}

fn object(fields: &Map<String, Value>, depth: usize) -> Markup {
    let (simple, large): (Vec<_>, Vec<_>) = fields
        .iter()
        .partition(|(_, value)| !value.is_object() && !value.is_array());
    html! {
        @if !simple.is_empty() { (pairs(&simple)) }
        @for (name, value) in large {
            @if !is_empty(value) {
                h3 { (readable(name)) }
                (part(value, depth + 1))
            }
        }
    }
}

fn pairs(fields: &[(&String, &Value)]) -> Markup {
    html! {
        dl.values { @for (name, value) in fields { div { dt { (readable(name)) } dd { (cell(value)) } } } }
    }
}

fn table(entries: &[Value], depth: usize) -> Markup {
    let columns = columns(entries);
    if columns.is_empty() || columns.len() > MAX_COLUMNS {
        return html! {
            ul.entries {
                @for entry in entries.iter().take(MAX_ROWS) {
                    li { @if entry.is_object() || entry.is_array() { (part(entry, depth + 1)) } @else { (cell(entry)) } }
                }
            }
        };
    }
    html! {
        div.scroll tabindex="0" role="region" aria-label="Table" {
            table.list {
                thead { tr { @for name in &columns { th.num[is_number(entries, name)] { (readable(name)) } } } }
                tbody {
                    @for entry in entries.iter().take(MAX_ROWS) {
                        tr { @for name in &columns { td.num[is_number(entries, name)] data-label=(readable(name)) { (cell(&entry[*name])) } } }
                    }
                }
            }
        }
        @if entries.len() > MAX_ROWS { p.empty { "and " (entries.len() - MAX_ROWS) " more" } }
    }
}

/// The names of all fields that entries have, in the order in which they first occur.
fn columns(entries: &[Value]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for entry in entries.iter().take(MAX_ROWS) {
        let Some(fields) = entry.as_object() else {
            return Vec::new();
        };
        for name in fields.keys() {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    names
}

fn is_number(entries: &[Value], name: &str) -> bool {
    entries.iter().take(5).any(|entry| entry[name].is_number())
}

fn cell(value: &Value) -> Markup {
    match value {
        Value::Null => html! { span.muted { "–" } },
        Value::Bool(yes) => html! { (if *yes { "yes" } else { "no" }) },
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(0.0);
            let whole = number.fract() == 0.0;
            html! { (if whole { grouped(number) } else { format!("{number:.1}") }) }
        }
        Value::String(text) if text.contains('/') && !text.contains(' ') => {
            html! { span.mono.path { (shortened(text, 300)) } }
        }
        Value::String(text) => html! { (shortened(text, 300)) },
        Value::Array(entries) => html! {
            @for (index, entry) in entries.iter().take(12).enumerate() {
                @if index > 0 { ", " }
                (cell(entry))
            }
            @if entries.len() > 12 { " …" }
        },
        Value::Object(fields) => html! {
            @for (index, (name, field)) in fields.iter().take(8).enumerate() {
                @if index > 0 { ", " }
                span.muted { (readable(name)) " " }
                (cell(field))
            }
        },
    }
}

/// A list with a note of how much was left out, as reports write them.
fn listing(value: &Value) -> Option<(&[Value], u64)> {
    let fields = value.as_object()?;
    let entries = fields.get("items")?.as_array()?;
    let omitted = fields.get("omitted").map_or(Some(0), Value::as_u64)?;
    (fields.len() <= 2).then_some((entries, omitted))
}

fn is_empty(value: &Value) -> bool {
    match listing(value) {
        Some((entries, omitted)) => entries.is_empty() && omitted == 0,
        None => {
            value.as_array().is_some_and(Vec::is_empty)
                || value.as_object().is_some_and(Map::is_empty)
        }
    }
}

fn size(value: &Value) -> String {
    match (listing(value), value.as_array()) {
        (Some((entries, omitted)), _) => (entries.len() as u64 + omitted).to_string(),
        (None, Some(entries)) => entries.len().to_string(),
        (None, None) => String::new(),
    }
}

/// `largestFiles` as `Largest files`.
fn readable(name: &str) -> String {
    let mut words = String::new();
    for character in name.chars() {
        if character.is_uppercase() {
            words.push(' ');
        }
        words.extend(character.to_lowercase());
    }
    capitalised(&words)
}
