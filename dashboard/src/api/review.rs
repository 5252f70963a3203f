//! A person's review: line comments, request changes, approve; of an agent's work or of a pull request.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shared::error::Error;
use shared::model::review::{MAX_FEEDBACK_CHARS, MAX_FINDING_CHARS, MAX_FINDING_FILE_CHARS};
use shared::model::{DraftComment, InstanceId, MessageId, WaitReason};
use shared::workflow::{self, Approval, Approved, Context, FeedbackSent, NewComment, Receipt, Run};

use crate::app::AppState;
use crate::extract::{CommentOf, Id, JsonOrForm, Number, Query, RepositoryQuery};
use crate::record::{RecordedAction, run_recorded};
use crate::reply::Failure;
use crate::view::Done;

type Answer = Result<Response, Failure>;

/// A comment on a line, which nobody is told before it is sent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct CommentRequest {
    /// Path of the repository, for a pull request; by default the one that the dashboard was started in.
    #[serde(default)]
    repository: Option<String>,
    /// Path of the file, from the top of the repository.
    #[schemars(length(min = 1, max = MAX_FINDING_FILE_CHARS))]
    file: String,
    /// A line that the reviewed commit has, counted from 1.
    #[schemars(range(min = 1))]
    line: u32,
    #[schemars(length(min = 1, max = MAX_FINDING_CHARS))]
    text: String,
    /// The commit that the line was seen in; by default the one that the work has now.
    #[serde(default)]
    #[schemars(length(min = 40, max = 64), regex(pattern = "^[0-9a-f]+$"))]
    commit: Option<String>,
}

/// What is to be changed.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ChangesRequest {
    /// Path of the repository, for a pull request; by default the one that the dashboard was started in.
    repository: Option<String>,
    /// May be left out if comments are pending.
    #[schemars(length(max = MAX_FEEDBACK_CHARS))]
    text: Option<String>,
}

/// What is approved.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ApproveRequest {
    /// Path of the repository, for a pull request; by default the one that the dashboard was started in.
    #[serde(default)]
    repository: Option<String>,
    /// The commit that was seen: if the work has moved since, it is not approved.
    #[schemars(length(min = 40, max = 64))]
    commit: String,
    #[serde(default)]
    #[schemars(length(max = MAX_FEEDBACK_CHARS))]
    text: Option<String>,
}

/// What became of a request for changes.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangesReply {
    instance_id: InstanceId,
    message_id: MessageId,
    /// Counted among the rounds of a person.
    round: u32,
    /// How many line comments it has.
    comments: u64,
    /// Whether the agent's session had ended and was started again.
    restarted: bool,
    /// Whether the agent has it.
    delivered: bool,
    /// What it waits for, if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting_for: Option<WaitReason>,
}

/// Work that is approved.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApproveReply {
    instance_id: InstanceId,
    /// Exactly this commit.
    commit: String,
}

/// Whose work is reviewed, and the page that shows it.
pub(crate) struct Reviewed {
    context: Context,
    coder: InstanceId,
    page: String,
}

async fn of_agent(app: &AppState, id: InstanceId) -> Result<Reviewed, Error> {
    let instance = app.instance(&id).await?;
    Ok(Reviewed {
        context: app.context_of(&instance).await,
        page: format!("/agents/{id}/diff"),
        coder: id,
    })
}

async fn of_pull(app: &AppState, number: u64, repository: Option<&str>) -> Result<Reviewed, Error> {
    let context = app.context_in(repository).await?;
    let coder = workflow::coder_of_pull(&context, &Run::unattended(), number).await?;
    let key = Context::repository_key(context.repository()?.root());
    let query = serde_urlencoded::to_string([("repository", &key)])
        .map_err(|error| Error::argument("repository", error))?;
    Ok(Reviewed {
        context,
        coder: coder.id,
        page: format!("/pulls/{number}?{query}"),
    })
}

pub(crate) async fn comments(
    State(app): State<AppState>,
    Id(id): Id,
) -> Result<Json<Vec<DraftComment>>, Failure> {
    Ok(Json(workflow::draft_comments(&app.context, &id).await?))
}

pub(crate) async fn pull_comments(
    State(app): State<AppState>,
    Number(number): Number,
    Query(query): Query<RepositoryQuery>,
) -> Result<Json<Vec<DraftComment>>, Failure> {
    let of = of_pull(&app, number, query.repository.as_deref()).await?;
    Ok(Json(
        workflow::draft_comments(&of.context, &of.coder).await?,
    ))
}

pub(crate) async fn comment(
    State(app): State<AppState>,
    Id(id): Id,
    body: JsonOrForm<CommentRequest>,
) -> Answer {
    let of = of_agent(&app, id).await?;
    add_comment(of, body).await
}

pub(crate) async fn pull_comment(
    State(app): State<AppState>,
    Number(number): Number,
    body: JsonOrForm<CommentRequest>,
) -> Answer {
    let of = of_pull(&app, number, body.value.repository.as_deref()).await?;
    add_comment(of, body).await
}

async fn add_comment(of: Reviewed, body: JsonOrForm<CommentRequest>) -> Answer {
    let new = NewComment {
        file: body.value.file.clone(),
        line: body.value.line,
        body: body.value.text.clone(),
        commit: body.value.commit.clone(),
    };
    let pending = workflow::comment(&of.context, &Run::unattended(), &of.coder, new).await?;
    let place = pending.last().map_or(of.page.clone(), |draft| {
        format!("{}#draft-{}", of.page, draft.id)
    });
    Ok(body.answer(StatusCode::CREATED, &pending, &place, Done::Commented))
}

pub(crate) async fn remove_comment(
    State(app): State<AppState>,
    CommentOf { of, comment }: CommentOf<InstanceId>,
    body: JsonOrForm<super::ChangeRequest>,
) -> Answer {
    let of = of_agent(&app, of).await?;
    remove(of, comment, &body).await
}

pub(crate) async fn remove_pull_comment(
    State(app): State<AppState>,
    CommentOf {
        of: Number(of),
        comment,
    }: CommentOf<Number>,
    Query(query): Query<RepositoryQuery>,
    body: JsonOrForm<super::ChangeRequest>,
) -> Answer {
    let repository = query.repository.as_deref();
    let repository = repository.or(body.value.repository.as_deref());
    let of = of_pull(&app, of, repository).await?;
    remove(of, comment, &body).await
}

async fn remove<T>(of: Reviewed, comment: i64, body: &JsonOrForm<T>) -> Answer {
    let left = workflow::remove_comment(&of.context, &of.coder, comment).await?;
    Ok(body.answer(StatusCode::OK, &left, &of.page, Done::CommentRemoved))
}

pub(crate) async fn request_changes(
    State(app): State<AppState>,
    Id(id): Id,
    body: JsonOrForm<ChangesRequest>,
) -> Answer {
    let of = of_agent(&app, id).await?;
    let parameters = json!({ "id": of.coder });
    send_back(&app, of, parameters, body).await
}

pub(crate) async fn request_pull_changes(
    State(app): State<AppState>,
    Number(number): Number,
    body: JsonOrForm<ChangesRequest>,
) -> Answer {
    let of = of_pull(&app, number, body.value.repository.as_deref()).await?;
    send_back(&app, of, json!({ "number": number }), body).await
}

async fn send_back(
    app: &AppState,
    of: Reviewed,
    parameters: Value,
    body: JsonOrForm<ChangesRequest>,
) -> Answer {
    let action = RecordedAction {
        name: "pr request-changes",
        parameters,
        instance: Some(of.coder.clone()),
        summary: |sent: &FeedbackSent| {
            (
                json!({ "messageId": sent.message, "round": sent.round }),
                None,
            )
        },
    };
    let text = body.value.text.clone().unwrap_or_default();
    let page = of.page.clone();
    let sent = run_recorded(app, action, move |run| async move {
        Box::pin(workflow::send_back(
            &of.context,
            &run,
            &of.coder,
            &text,
            Vec::new(),
        ))
        .await
    })
    .await?;
    let done = match sent.receipt {
        Receipt::Taken => Done::SentBack,
        Receipt::Unconfirmed | Receipt::Waiting(_) => Done::SentBackWaits,
    };
    let answer = ChangesReply {
        instance_id: sent.coder.id,
        message_id: sent.message,
        round: sent.round,
        comments: sent.comments as u64,
        restarted: sent.restarted,
        delivered: sent.receipt == Receipt::Taken,
        waiting_for: match sent.receipt {
            Receipt::Waiting(reason) => reason,
            Receipt::Taken | Receipt::Unconfirmed => None,
        },
    };
    Ok(body.answer(StatusCode::OK, &answer, &page, done))
}

pub(crate) async fn approve(
    State(app): State<AppState>,
    Id(id): Id,
    body: JsonOrForm<ApproveRequest>,
) -> Answer {
    let of = of_agent(&app, id).await?;
    let parameters = json!({ "id": of.coder });
    approve_work(&app, of, parameters, body).await
}

pub(crate) async fn approve_pull(
    State(app): State<AppState>,
    Number(number): Number,
    body: JsonOrForm<ApproveRequest>,
) -> Answer {
    let of = of_pull(&app, number, body.value.repository.as_deref()).await?;
    approve_work(&app, of, json!({ "number": number }), body).await
}

async fn approve_work(
    app: &AppState,
    of: Reviewed,
    parameters: Value,
    body: JsonOrForm<ApproveRequest>,
) -> Answer {
    let action = RecordedAction {
        name: "pr approve",
        parameters,
        instance: Some(of.coder.clone()),
        summary: |approved: &Approved| (json!({ "commit": approved.commit }), None),
    };
    let approval = Approval {
        note: body.value.text.clone().unwrap_or_default(),
        commit: Some(body.value.commit.clone()),
    };
    let page = of.page.clone();
    let approved = run_recorded(app, action, move |run| async move {
        Box::pin(workflow::approve(&of.context, &run, &of.coder, approval)).await
    })
    .await?;
    let answer = ApproveReply {
        instance_id: approved.coder.id,
        commit: approved.commit,
    };
    Ok(body.answer(StatusCode::OK, &answer, &page, Done::Approved))
}
