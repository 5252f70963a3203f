//! Actions on pull requests: merge, close, reopen, update and resolve.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use shared::error::Error;
use shared::model::{InstanceId, MergeMethod, PullRequest};
use shared::workflow::{
    self, ChangedPull, ConflictSent, Context, MergeTerms, NewCommits, UpdatedPull,
};

use crate::app::AppState;
use crate::extract::{JsonOrForm, Number};
use crate::load;
use crate::record::{RecordedAction, run_recorded};
use crate::reply::Failure;
use crate::view::Done;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct MergeRequest {
    /// Path of the repository; by default the one that the dashboard was started in.
    repository: Option<String>,
    /// By default a merge commit.
    method: Option<MergeMethod>,
    /// The commit that was seen: if the pull request has another, it is not merged.
    #[schemars(length(min = 40, max = 64))]
    commit: Option<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ChangeRequest {
    /// Path of the repository; by default the one that the dashboard was started in.
    pub(super) repository: Option<String>,
}

pub(crate) async fn merge(
    State(app): State<AppState>,
    Number(number): Number,
    body: JsonOrForm<MergeRequest>,
) -> Result<Response, Failure> {
    let method = body.value.method.unwrap_or(MergeMethod::Merge);
    let context = app.context_in(body.value.repository.as_deref()).await?;
    let terms = MergeTerms {
        method,
        new_commits: NewCommits::Refuse,
        commit: body.value.commit.clone(),
    };
    let parameters = json!({ "number": number, "method": method, "commit": terms.commit });
    let action = action("pr merge", parameters);
    let there = context.clone();
    let changed = run_recorded(&app, action, move |run| async move {
        workflow::merge_pull(&there, &run, number, &terms).await
    })
    .await?;
    answered(&app, &context, &body, changed, Done::Merged).await
}

pub(crate) async fn close(
    State(app): State<AppState>,
    Number(number): Number,
    body: JsonOrForm<ChangeRequest>,
) -> Result<Response, Failure> {
    let context = app.context_in(body.value.repository.as_deref()).await?;
    let action = action("pr close", json!({ "number": number }));
    let there = context.clone();
    let changed = run_recorded(&app, action, move |run| async move {
        workflow::close_pull(&there, &run, number).await
    })
    .await?;
    answered(&app, &context, &body, changed, Done::Closed).await
}

pub(crate) async fn update(
    State(app): State<AppState>,
    Number(number): Number,
    body: JsonOrForm<ChangeRequest>,
) -> Result<Response, Failure> {
    let context = app.context_in(body.value.repository.as_deref()).await?;
    let action = RecordedAction {
        name: "pr update",
        parameters: json!({ "number": number }),
        instance: None,
        summary: |updated: &UpdatedPull| (json!({ "newCommits": updated.new_commits }), None),
    };
    let there = context.clone();
    let updated = run_recorded(&app, action, move |run| async move {
        workflow::update_pull(&there, &run, number).await
    })
    .await?;
    answered_with(&app, &context, &body, updated.pull, Done::Updated).await
}

pub(crate) async fn resolve(
    State(app): State<AppState>,
    Number(number): Number,
    body: JsonOrForm<ChangeRequest>,
) -> Result<Response, Failure> {
    let context = app.context_in(body.value.repository.as_deref()).await?;
    let action = RecordedAction {
        name: "pr resolve",
        parameters: json!({ "number": number }),
        instance: None,
        summary: |sent: &ConflictSent| {
            let reply = json!({ "messageId": sent.message, "files": sent.files.len() });
            (reply, Some(sent.coder.id.clone()))
        },
    };
    let there = context.clone();
    let sent = run_recorded(&app, action, move |run| async move {
        Box::pin(workflow::resolve_conflict(&there, &run, number)).await
    })
    .await?;
    answered_with(&app, &context, &body, sent.pull, Done::ConflictSent).await
}

pub(crate) async fn reopen(
    State(app): State<AppState>,
    Number(number): Number,
    body: JsonOrForm<ChangeRequest>,
) -> Result<Response, Failure> {
    let context = app.context_in(body.value.repository.as_deref()).await?;
    let action = action("pr reopen", json!({ "number": number }));
    let there = context.clone();
    let changed = run_recorded(&app, action, move |run| async move {
        workflow::reopen_pull(&there, &run, number).await
    })
    .await?;
    answered(&app, &context, &body, changed, Done::Reopened).await
}

fn action(name: &'static str, parameters: serde_json::Value) -> RecordedAction<ChangedPull> {
    RecordedAction {
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
    app: &AppState,
    context: &Context,
    body: &JsonOrForm<T>,
    changed: ChangedPull,
    done: Done,
) -> Result<Response, Failure> {
    answered_with(app, context, body, changed.pull, done).await
}

async fn answered_with<T>(
    app: &AppState,
    context: &Context,
    body: &JsonOrForm<T>,
    pull: PullRequest,
    done: Done,
) -> Result<Response, Failure> {
    let number = pull.number;
    let card = load::pull_card(app, context, pull).await?;
    let query = serde_urlencoded::to_string([("repository", &card.repository)])
        .map_err(|error| Error::argument("repository", error))?;
    let page = format!("/pulls/{number}?{query}");
    Ok(body.answer(StatusCode::OK, &card, &page, done))
}
