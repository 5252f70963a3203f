//! The context of a command: opens repository and database, runs reconcile, records the command as an event.

use serde_json::Value;
use shared::config::Environment;
use shared::error::Error;
use shared::model::{EventSource, InstanceId};
use shared::workflow::{self, Context, EventRecorder, Reconciled, Run, Unsettled};

use crate::output::{NAME, Output, WARNING};

/// Opens the context of the current directory and reconciles the database with processes, sessions and worktrees.
pub(crate) async fn open(output: Output) -> Result<Context, Error> {
    open_in(Environment::current(), output).await
}

/// Like [`open`], for another environment than that of the process.
pub(crate) async fn open_in(environment: Environment, output: Output) -> Result<Context, Error> {
    let context = Context::open(environment, &[]).await?;
    warn_of_ignored_settings(&context, output);
    reconcile(&context, output).await;
    Ok(context)
}

/// Opens the context without reconciling, for commands whose workflow verb reconciles by itself.
pub(crate) async fn open_without_reconcile(output: Output) -> Result<Context, Error> {
    let context = Context::open(Environment::current(), &[]).await?;
    warn_of_ignored_settings(&context, output);
    Ok(context)
}

/// Warns about settings of the repository that are ignored because it is not trusted.
fn warn_of_ignored_settings(context: &Context, output: Output) {
    if let Some(notice) = context.config.ignored.notice() {
        output.note("warning", WARNING, &notice);
    }
}

/// Reconciles the database, and reports the changes.
pub(crate) async fn reconcile(context: &Context, output: Output) {
    report_reconciled(workflow::reconcile(context).await, output);
}

/// Reports what reconcile changed. A failure is only a warning, because the command may be the one that repairs it.
pub(crate) fn report_reconciled(reconciled: Result<Reconciled, Error>, output: Output) {
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
                let text = format!("{instance} could not be reconciled: {}", error.message);
                output.note("warning", WARNING, &text);
            }
        }
        Err(error) => output.note("warning", WARNING, &error.message),
    }
}

/// The event that a command records when it ends.
#[derive(Debug)]
pub(crate) struct EventRecord(EventRecorder);

impl EventRecord {
    pub(crate) fn begin(name: &'static str, parameters: Value) -> Self {
        let source = EventSource::Command;
        Self(EventRecorder::begin(
            source,
            "claude-codex",
            name,
            parameters,
        ))
    }

    /// Writes the event. A failure to write is only a warning, because the command itself is done.
    pub(crate) async fn end<T>(
        mut self,
        context: &Context,
        run: &Run,
        instance: Option<&InstanceId>,
        result: &Result<T, Error>,
        summary: impl FnOnce(&T) -> Value,
        output: Output,
    ) {
        self.0.set_instance(instance.cloned());
        let result = result.as_ref().map(summary);
        if let Err(error) = run.record(&context.store, self.0, result).await {
            let text = format!("the command was not recorded: {error}");
            output.note("warning", WARNING, &text);
        }
    }
}
