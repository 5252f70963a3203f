//! `claude-codex pr merge`, `pr close` and `pr reopen`

use serde_json::{Value, json};
use shared::error::Error;
use shared::model::InstanceId;
use shared::workflow::{self, ChangedPull, Context, MergeTerms, Run};

use super::list::state_style;
use crate::command_context::{self, EventRecord};
use crate::commands::sync::print_synced;
use crate::failure::Failure;
use crate::output::{NAME, Output};
use crate::progress::Progress;
use crate::text::harmless;

pub(super) async fn merge(number: u64, terms: MergeTerms, output: Output) -> Result<(), Failure> {
    let parameters = json!({ "number": number, "method": terms.method, "commit": terms.commit });
    let work = async |context: &Context, run: &Run| {
        workflow::merge_pull(context, run, number, &terms).await
    };
    change("pr merge", parameters, work, output).await
}

pub(super) async fn close(number: u64, output: Output) -> Result<(), Failure> {
    let work =
        async |context: &Context, run: &Run| workflow::close_pull(context, run, number).await;
    change("pr close", json!({ "number": number }), work, output).await
}

pub(super) async fn reopen(number: u64, output: Output) -> Result<(), Failure> {
    let work =
        async |context: &Context, run: &Run| workflow::reopen_pull(context, run, number).await;
    change("pr reopen", json!({ "number": number }), work, output).await
}

async fn change(
    name: &'static str,
    parameters: Value,
    work: impl AsyncFnOnce(&Context, &Run) -> Result<ChangedPull, Error>,
    output: Output,
) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let (run, progress) = Progress::start(output);
    let record = EventRecord::begin(name, parameters);
    let result = work(&context, &run).await;
    progress.finish(&result);
    let id = result.as_ref().ok().and_then(first_instance);
    let summary = |changed: &ChangedPull| json!({ "state": changed.pull.state });
    record
        .end(&context, &run, id.as_ref(), &result, summary, output)
        .await;
    let changed = result?;
    if output.is_json() {
        return output.document(&changed);
    }
    let pull = &changed.pull;
    let style = state_style(pull.state);
    output.print(&format!(
        "{NAME}#{}{NAME:#} is {style}{}{style:#}: {} into {}\n",
        pull.number,
        pull.state,
        harmless(&pull.head_branch),
        harmless(&pull.base_branch),
    ))?;
    print_synced(&changed.instances, output)
}

fn first_instance(changed: &ChangedPull) -> Option<InstanceId> {
    Some(changed.instances.first()?.id.clone())
}
