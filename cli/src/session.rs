//! What most commands begin and end with: the surroundings put in order, the change recorded.

use std::time::Instant;

use serde_json::Value;
use shared::config::Environment;
use shared::error::Error;
use shared::model::{EventSource, InstanceId};
use shared::store::NewEvent;
use shared::workflow::{self, Context, Reconciled, Run, Unsettled};

use crate::output::{NAME, Output, WARNING};

/// Opens the surroundings and brings the database in line with what is really there.
pub(crate) async fn open(output: Output) -> Result<Context, Error> {
    open_in(Environment::of_process(), output).await
}

/// The same in other surroundings than those of the process.
pub(crate) async fn open_in(environment: Environment, output: Output) -> Result<Context, Error> {
    let context = Context::open(environment, &[]).await?;
    tell_ignored(&context, output);
    reconcile(&context, output).await;
    Ok(context)
}

/// Opens the surroundings only: for those that look with `workflow::look_around`.
pub(crate) async fn open_as_it_is(output: Output) -> Result<Context, Error> {
    let context = Context::open(Environment::of_process(), &[]).await?;
    tell_ignored(&context, output);
    Ok(context)
}

/// Tells what of the repository's own settings is ignored.
fn tell_ignored(context: &Context, output: Output) {
    if let Some(notice) = context.config.ignored.notice() {
        output.note("warning", WARNING, &notice);
    }
}

/// Brings the database in line.
pub(crate) async fn reconcile(context: &Context, output: Output) {
    tell(workflow::reconcile(context).await, output);
}

/// Tells what was put in order. Where that failed the command goes on: it may be the very one that helps.
pub(crate) fn tell(reconciled: Result<Reconciled, Error>, output: Output) {
    match reconciled {
        Ok(Reconciled { changes, unsettled }) => {
            for change in changes {
                let from = change
                    .from
                    .map(|from| format!("{from} → "))
                    .unwrap_or_default();
                let text = format!("{} is {from}{}", change.instance, change.to);
                output.note("note", NAME, &text);
            }
            for Unsettled { instance, error } in unsettled {
                let text = format!("{instance} can't be put in order: {}", error.message);
                output.note("warning", WARNING, &text);
            }
        }
        Err(error) => output.note("warning", WARNING, &error.message),
    }
}

/// A command that changes something, from its beginning to its record.
#[derive(Debug)]
pub(crate) struct Record {
    name: &'static str,
    parameters: Value,
    began: Instant,
}

impl Record {
    /// Begins a record; `parameters` hold nothing that could be a secret.
    pub(crate) fn begin(name: &'static str, parameters: Value) -> Self {
        Self {
            name,
            parameters,
            began: Instant::now(),
        }
    }

    /// Writes the record. That it can't be written does not undo what was done.
    pub(crate) async fn end<T>(
        self,
        context: &Context,
        run: &Run,
        instance: Option<&InstanceId>,
        result: &Result<T, Error>,
        summary: impl FnOnce(&T) -> Value,
        output: Output,
    ) {
        let event = NewEvent {
            instance: instance.cloned(),
            source: EventSource::Command,
            server: "claude-codex".to_owned(),
            name: self.name.to_owned(),
            parameters: self.parameters,
            result: result.as_ref().ok().map(summary),
            error_code: result.as_ref().err().map(|error| error.code.to_string()),
            status_changes: run.changes(),
            duration_ms: self.began.elapsed().as_secs_f64() * 1000.0,
        };
        if let Err(error) = context.store.write(move |w| w.insert_event(&event)).await {
            let text = format!("the command was not recorded: {error}");
            output.note("warning", WARNING, &text);
        }
    }
}
