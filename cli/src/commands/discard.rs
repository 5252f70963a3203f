//! `--discard` of `claude-codex stop` and `clean`: deletes agents' work after one question that names what is lost.

use std::io::{self, BufRead, IsTerminal};

use serde::Serialize;
use serde_json::json;
use shared::error::{Code, Error};
use shared::model::{Instance, InstanceId};
use shared::workflow::{self, Context, Discarded, Discarding};

use super::several::Results;
use crate::command_context::EventRecord;
use crate::failure::Failure;
use crate::output::{NAME, Output, WARNING};
use crate::progress::Progress;
use crate::text::harmless;

#[derive(Serialize)]
struct Document {
    #[serde(flatten)]
    instance: Instance,
    lost: Discarding,
    kept: Option<String>,
}

/// Deletes the work of these agents, if the person says so: on the terminal, or by `--yes`.
pub(super) async fn discard(
    context: &Context,
    ids: &[InstanceId],
    yes: bool,
    output: Output,
) -> Result<(), Failure> {
    let mut losses = Vec::new();
    for id in ids {
        losses.push((id, workflow::preview_discard(context, id).await?));
    }
    if !yes && !is_wanted(&losses, output)? {
        output.print("Nothing was deleted.\n")?;
        return Err(Failure::Reported);
    }
    let mut results = Results::default();
    for (id, named) in &losses {
        let (run, progress) = Progress::start(output);
        let record = EventRecord::begin("discard", json!({ "id": id }));
        let result = workflow::discard(context, &run, id, named).await;
        progress.finish(&result);
        let summary = |done: &Discarded| json!({ "lost": done.lost, "kept": done.kept });
        record
            .end(context, &run, Some(id), &result, summary, output)
            .await;
        let document = result.map(|done| Document {
            instance: done.instance,
            lost: done.lost,
            kept: done.kept,
        });
        results.add(id, document, |done| print(done, output), output)?;
    }
    results.finish(output)
}

fn print(done: &Document, output: Output) -> Result<(), Failure> {
    let lost = harmless(&done.lost.to_string());
    output.print(&format!(
        "{NAME}{}{NAME:#}: deleted {lost}\n",
        done.instance.id
    ))?;
    if let Some(kept) = &done.kept {
        output.note("note", WARNING, kept);
    }
    Ok(())
}

/// Asks once, and names what is lost.
fn is_wanted(losses: &[(&InstanceId, Discarding)], output: Output) -> Result<bool, Failure> {
    if output.is_json() || !io::stdin().is_terminal() {
        let named = losses.iter().map(|(id, lost)| format!("{id}: {lost}"));
        let named = named.collect::<Vec<_>>().join("\n");
        return Err(Error::new(
            Code::InvalidArguments,
            format!("there is no terminal to ask on; this would delete\n{named}"),
        )
        .hint("Nothing was deleted. `--yes` deletes it without a question.")
        .into());
    }
    output.print("This deletes\n")?;
    for (id, lost) in losses {
        let lost = harmless(&lost.to_string());
        output.print(&format!(
            "  {NAME}{id}{NAME:#}: {WARNING}{lost}{WARNING:#}\n"
        ))?;
    }
    output.print("Delete it? [y/N] ")?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}
