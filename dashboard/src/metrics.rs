//! `GET /metrics`: Prometheus metrics in the text format.

use std::collections::BTreeMap;
use std::fmt::Write;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use shared::model::{ModelUsage, Price, Status, Usage};

use crate::app::AppState;
use crate::reply::Failure;

pub(crate) async fn metrics(State(app): State<AppState>) -> Result<Response, Failure> {
    let mut text = Text::default();
    let (statuses, messages, events, usage, bytes) = app
        .context
        .store
        .read(|r| {
            Ok((
                r.status_counts()?,
                r.message_totals()?,
                r.event_totals()?,
                r.usage_totals()?,
                r.database_bytes()?,
            ))
        })
        .await?;

    text.begin("codex_instances", "gauge", "Agents by status.");
    for status in Status::ALL {
        let count = statuses.get(status).copied().unwrap_or(0);
        text.line("codex_instances", &[("status", status.as_str())], count);
    }
    text.begin(
        "codex_messages",
        "gauge",
        "Messages to agents by state, and by the proof that one was taken.",
    );
    for (state, how, count) in &messages {
        let how = how.as_deref().unwrap_or("");
        text.line(
            "codex_messages",
            &[("state", state.as_str()), ("taken_by", how)],
            count,
        );
    }
    text.begin("codex_database_bytes", "gauge", "Size of the database.");
    text.line("codex_database_bytes", &[], bytes);

    let name = "codex_call_duration_seconds";
    text.begin(
        name,
        "summary",
        "Duration of tool calls, commands, hooks and system events.",
    );
    for total in &events {
        let labels = [
            ("source", total.source.as_str()),
            ("server", &total.server),
            ("name", &total.name),
            ("outcome", if total.failed { "error" } else { "ok" }),
        ];
        let seconds = total.milliseconds / 1000.0;
        text.line("codex_call_duration_seconds_count", &labels, total.count);
        text.line("codex_call_duration_seconds_sum", &labels, seconds);
    }

    text.usage(&usage, &app.context.settings().agent.prices);
    text.begin("codex_build_info", "gauge", "Version of Claude Codex.");
    text.line(
        "codex_build_info",
        &[("version", env!("CARGO_PKG_VERSION"))],
        1,
    );
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(CONTENT_TYPE, kind)], text.0).into_response())
}

#[derive(Debug, Default)]
struct Text(String);

impl Text {
    fn begin(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// Tokens by model and kind, and their estimated cost; models without a known price have none.
    fn usage(&mut self, used: &[ModelUsage], prices: &[Price]) {
        let mut models: BTreeMap<&str, Vec<ModelUsage>> = BTreeMap::new();
        for usage in used {
            models.entry(&usage.model).or_default().push(usage.clone());
        }
        let sums = models.iter().filter_map(|(model, used)| {
            let usage = Usage::of(used, None, prices)?;
            Some((*model, usage))
        });
        let sums: Vec<(&str, Usage)> = sums.collect();
        let name = "codex_tokens_total";
        self.begin(name, "counter", "Tokens that agents have used.");
        for (model, usage) in &sums {
            for (kind, count) in usage.tokens.by_kind() {
                self.line(name, &[("model", model), ("kind", kind)], count);
            }
        }
        let name = "codex_cost_usd_total";
        self.begin(
            name,
            "counter",
            "Estimated cost of those tokens by list prices.",
        );
        for (model, usage) in &sums {
            if let Some(cost) = usage.cost_usd {
                self.line(name, &[("model", model)], cost);
            }
        }
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        self.0.push_str(name);
        for (number, (label, text)) in labels.iter().enumerate() {
            self.0.push(if number == 0 { '{' } else { ',' });
            let _ = write!(self.0, "{label}=\"{}\"", escaped(text));
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}");
    }
}

/// Escapes the value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_follow_the_text_format() {
        let mut text = Text::default();
        text.line("a", &[], 1);
        text.line("b", &[("c", "x\"y\\z\n"), ("d", "")], 0.5);
        assert_eq!(text.0, "a 1\nb{c=\"x\\\"y\\\\z\\n\",d=\"\"} 0.5\n");
    }
}
