//! Merging and closing pull requests.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use shared::error::Error;
use shared::model::{InstanceId, MergeMethod};
use shared::workflow::{self, ChangedPull, Context};

use crate::app::Shared;
use crate::load;
use crate::record::{Deed, recorded};
use crate::reply::{Failure, Given, Number};
use crate::view::Done;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct MergeRequest {
    /// Path of the repository; else the one that the dashboard was started in.
    repository: Option<String>,
    /// A merge commit, if nothing else is said.
    method: Option<MergeMethod>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ChangeRequest {
    /// Path of the repository; else the one that the dashboard was started in.
    repository: Option<String>,
}

pub(crate) async fn merge(
    State(app): State<Shared>,
    Number(number): Number,
    given: Given<MergeRequest>,
) -> Result<Response, Failure> {
    let method = given.value.method.unwrap_or(MergeMethod::Merge);
    let context = app.context_in(given.value.repository.as_deref()).await?;
    let deed = deed("pr merge", json!({ "number": number, "method": method }));
    let there = context.clone();
    let changed = recorded(&app, deed, move |run| async move {
        workflow::merge_pull(&there, &run, number, method).await
    })
    .await?;
    answered(&app, &context, &given, changed, Done::Merged).await
}

pub(crate) async fn close(
    State(app): State<Shared>,
    Number(number): Number,
    given: Given<ChangeRequest>,
) -> Result<Response, Failure> {
    let context = app.context_in(given.value.repository.as_deref()).await?;
    let deed = deed("pr close", json!({ "number": number }));
    let there = context.clone();
    let changed = recorded(&app, deed, move |run| async move {
        workflow::close_pull(&there, &run, number).await
    })
    .await?;
    answered(&app, &context, &given, changed, Done::Closed).await
}

fn deed(name: &'static str, parameters: serde_json::Value) -> Deed<ChangedPull> {
    Deed {
        name,
        parameters,
        instance: None,
        summary: |changed| (json!({ "state": changed.pull.state }), first_of(changed)),
    }
}

fn first_of(changed: &ChangedPull) -> Option<InstanceId> {
    Some(changed.instances.first()?.id.clone())
}

async fn answered<T>(
    app: &Shared,
    context: &Context,
    given: &Given<T>,
    changed: ChangedPull,
    done: Done,
) -> Result<Response, Failure> {
    let number = changed.pull.number;
    let card = load::pull_card(app, context, changed.pull).await?;
    let query = serde_urlencoded::to_string([("repository", &card.repository)])
        .map_err(|error| Error::argument("repository", error))?;
    let page = format!("/pulls/{number}?{query}");
    Ok(given.answer(StatusCode::OK, &card, &page, done))
}
