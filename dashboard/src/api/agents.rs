//! Actions on agents: launch, message, review, stop, resume, publish; the workflow verbs of the command line.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use shared::error::Error;
use shared::model::pull_request::{MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS};
use shared::model::review::MAX_REVIEW_DESCRIPTION_CHARS;
use shared::model::{Instance, InstanceId, InstanceKind, MessageId, WaitReason};
use shared::workflow::{
    self, BaseWarning, CreatePr, Discarded, LaunchRequest, Published, RunningReview, Sent, Stopped,
    TddRequest,
};

use super::Nothing;
use crate::app::AppState;
use crate::extract::{Id, JsonOrForm};
use crate::record::{RecordedAction, run_recorded};
use crate::reply::{self, Failure};
use crate::view::{Card, Done, LaunchForm, LaunchKind, Section};
use crate::{load, pages};

/// The description of a review that a person requests without one.
const NO_DESCRIPTION: &str =
    "A person requested this review; the coder has not described the work.";

type Answer = Result<Response, Failure>;

/// A message to an agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct MessageRequest {
    #[schemars(length(min = 1, max = workflow::MAX_MESSAGE_CHARS))]
    text: String,
}

/// The outcome of a message.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SentReply {
    message_id: MessageId,
    /// Whether the agent has it.
    delivered: bool,
    /// What it waits for, if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting_for: Option<WaitReason>,
    /// Typed into its terminal, without proof that the agent has it.
    unconfirmed: bool,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ReviewRequest {
    /// What the reviewer should know.
    #[schemars(length(min = 1, max = MAX_REVIEW_DESCRIPTION_CHARS))]
    description: Option<String>,
}

/// The pull request to open.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct PublishRequest {
    #[schemars(length(min = 1, max = MAX_TITLE_CHARS))]
    title: String,
    #[schemars(length(min = 1, max = MAX_DESCRIPTION_CHARS))]
    description: String,
    #[serde(default)]
    draft: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PublishReply {
    pr_number: u64,
    pr_url: String,
    /// A remark for the author.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// An agent that was launched.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LaunchReply {
    #[serde(flatten)]
    card: Card,
    /// What the agent does not have of what is checked out in the repository.
    warnings: Vec<String>,
}

/// What is discarded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct DiscardRequest {
    /// `lost` as `GET` has said it. If more or other work would be lost by now, nothing is deleted.
    lost: String,
}

/// An agent whose work was discarded.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DiscardReply {
    card: Card,
    /// What was deleted.
    lost: String,
    /// What could not be deleted, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<String>,
}

/// An agent that was stopped.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StopReply {
    card: Card,
    /// The work that was kept, and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<String>,
}

async fn card(app: &AppState, id: &InstanceId) -> Result<Card, Error> {
    Ok(load::agent(app, id).await?.card)
}

fn page_of(id: &InstanceId) -> String {
    format!("/agents/{id}")
}

/// Launches an agent. A rejected form comes back with the values that were filled in.
pub(crate) async fn launch(State(app): State<AppState>, body: JsonOrForm<LaunchForm>) -> Answer {
    let form = body.value.clone();
    let form = if body.form { form.as_shown() } else { form };
    let launched = launch_agent(&app, form).await;
    let (instance, warnings) = match launched {
        Ok(launched) => launched,
        Err(error) if body.form => {
            let status = reply::status(error.code);
            let frame = app.frame(Section::Launch, "/launch".to_owned());
            let view = load::launch(&app, body.value, Some(error)).await?;
            let mut page = reply::html(&pages::launch(&view, &frame));
            *page.status_mut() = status;
            return Ok(page);
        }
        Err(error) => return Err(error.into()),
    };
    let answer = LaunchReply {
        card: card(&app, &instance.id).await?,
        warnings: warnings.iter().map(ToString::to_string).collect(),
    };
    let page = page_of(&instance.id);
    Ok(body.answer(StatusCode::CREATED, &answer, &page, Done::Launched))
}

async fn launch_agent(
    app: &AppState,
    form: LaunchForm,
) -> Result<(Instance, Vec<BaseWarning>), Error> {
    let (kind, name) = match form.kind {
        LaunchKind::Code => (InstanceKind::Coding, "code"),
        LaunchKind::Plan => (InstanceKind::Planning, "plan"),
        LaunchKind::Tdd => return Ok((begin_tdd(app, form).await?, Vec::new())),
    };
    let context = app.context_in(form.repository.as_deref()).await?;
    let task = form.task.as_deref().map(str::parse).transpose()?;
    let request = LaunchRequest {
        prompt: form.prompt,
        issue: form.issue,
        task,
        base: form.base,
        branch: form.branch,
        require_review: form.require_review,
        max_reviews: form.max_reviews,
        ..LaunchRequest::new(kind)
    };
    // Whatever is wrong with the repository, the launch says it better.
    let warnings = workflow::base_warnings(&context, &request).await;
    // The prompt is stored with the instance.
    let parameters = json!({
        "issue": request.issue,
        "task": request.task,
        "base": request.base,
        "branch": request.branch,
        "requireReview": request.require_review,
        "maxReviews": request.max_reviews,
    });
    let action = RecordedAction {
        name,
        parameters,
        instance: None,
        summary: |launched: &Instance| {
            (
                json!({ "instanceId": launched.id }),
                Some(launched.id.clone()),
            )
        },
    };
    let launched = run_recorded(app, action, move |run| async move {
        workflow::launch(&context, &run, request).await
    })
    .await?;
    Ok((launched, warnings.unwrap_or_default()))
}

/// Starts a TDD run, from a specification to a pull request, which another process drives.
async fn begin_tdd(app: &AppState, form: LaunchForm) -> Result<Instance, Error> {
    let unused = [
        ("issue", form.issue.is_some()),
        ("task", form.task.is_some()),
        ("base", form.base.is_some()),
    ];
    if let Some((name, _)) = unused.into_iter().find(|(_, given)| *given) {
        return Err(Error::argument(
            name,
            "is not used by a run from a specification",
        ));
    }
    let context = app.context_in(form.repository.as_deref()).await?;
    let most = form
        .max_reviews
        .unwrap_or(context.settings().review.max_review_cycles);
    if !(1..=workflow::MAX_REVIEWS).contains(&most) {
        return Err(Error::argument(
            "maxReviews",
            format!("must be a number from 1 to {}", workflow::MAX_REVIEWS),
        ));
    }
    let text = form.prompt.unwrap_or_default();
    let action = RecordedAction {
        name: "tdd",
        parameters: json!({ "maxReviews": most, "branch": form.branch }),
        instance: None,
        summary: |launched: &Instance| {
            (
                json!({ "instanceId": launched.id }),
                Some(launched.id.clone()),
            )
        },
    };
    run_recorded(app, action, move |run| async move {
        let path = workflow::keep_spec(&context, &text)?;
        let begun = async {
            let request = TddRequest {
                spec: workflow::read_spec(&path)?,
                max_reviews: most,
                branch: form.branch,
                cleanup: true,
            };
            workflow::begin_tdd(&context, &run, request).await
        };
        let begun = begun.await;
        if begun.is_err() {
            // Nothing refers to the file. A failed removal must not hide why the run was rejected.
            let _ = std::fs::remove_file(&path);
        }
        begun
    })
    .await
}

pub(crate) async fn message(
    State(app): State<AppState>,
    Id(id): Id,
    body: JsonOrForm<MessageRequest>,
) -> Answer {
    let action = RecordedAction {
        name: "send",
        parameters: json!({ "id": id }),
        instance: Some(id.clone()),
        summary: |sent: &Sent| (json!(sent), None),
    };
    let (context, target) = (app.context.clone(), id.clone());
    let text = body.value.text.clone();
    let sent = run_recorded(&app, action, move |run| async move {
        workflow::send(&context, &run, &target, &text).await
    })
    .await?;
    let done = if sent.delivered {
        Done::MessageTaken
    } else {
        Done::MessageWaits
    };
    let answer = SentReply {
        message_id: sent.message_id,
        delivered: sent.delivered,
        waiting_for: sent.waiting_for,
        unconfirmed: sent.unconfirmed,
    };
    Ok(body.answer(StatusCode::OK, &answer, &page_of(&id), done))
}

pub(crate) async fn review(
    State(app): State<AppState>,
    Id(id): Id,
    body: JsonOrForm<ReviewRequest>,
) -> Answer {
    let instance = app.instance(&id).await?;
    let context = app.context_of(&instance).await;
    let action = RecordedAction {
        name: "review",
        parameters: json!({ "id": id }),
        instance: Some(id.clone()),
        summary: |review: &RunningReview| (json!({ "reviewInstanceId": review.reviewer.id }), None),
    };
    let target = id.clone();
    let description = body.value.description.clone();
    let description = description.unwrap_or_else(|| NO_DESCRIPTION.to_owned());
    let running = run_recorded(&app, action, move |run| async move {
        workflow::request_review(&context, &run, &target, &description).await
    })
    .await?;
    let card = card(&app, &running.reviewer.id).await?;
    Ok(body.answer(StatusCode::OK, &card, &page_of(&id), Done::ReviewBegun))
}

pub(crate) async fn stop(
    State(app): State<AppState>,
    Id(id): Id,
    body: JsonOrForm<Nothing>,
) -> Answer {
    let instance = app.instance(&id).await?;
    let context = app.context_of(&instance).await;
    let action = RecordedAction {
        name: "stop",
        parameters: json!({ "id": id }),
        instance: Some(id.clone()),
        summary: |stopped: &Stopped| (json!({ "kept": stopped.kept }), None),
    };
    let target = id.clone();
    let stopped = run_recorded(&app, action, move |run| async move {
        workflow::stop(&context, &run, &target).await
    })
    .await?;
    let answer = StopReply {
        card: card(&app, &id).await?,
        kept: stopped.kept,
    };
    Ok(body.answer(StatusCode::OK, &answer, &page_of(&id), Done::Stopped))
}

/// Ends an agent and deletes its worktree and branch, also work that exists nowhere else.
pub(crate) async fn discard(
    State(app): State<AppState>,
    Id(id): Id,
    body: JsonOrForm<DiscardRequest>,
) -> Answer {
    let instance = app.instance(&id).await?;
    let context = app.context_of(&instance).await;
    let action = RecordedAction {
        name: "discard",
        parameters: json!({ "id": id }),
        instance: Some(id.clone()),
        summary: |done: &Discarded| (json!({ "lost": done.lost, "kept": done.kept }), None),
    };
    let (target, lost) = (id.clone(), body.value.lost.clone());
    let done = run_recorded(&app, action, move |run| async move {
        let named = workflow::confirmed_discard(&context, &target, &lost).await?;
        workflow::discard(&context, &run, &target, &named).await
    })
    .await?;
    let answer = DiscardReply {
        card: card(&app, &id).await?,
        lost: done.lost.to_string(),
        kept: done.kept,
    };
    Ok(body.answer(StatusCode::OK, &answer, &page_of(&id), Done::Discarded))
}

pub(crate) async fn resume(
    State(app): State<AppState>,
    Id(id): Id,
    body: JsonOrForm<Nothing>,
) -> Answer {
    let instance = app.instance(&id).await?;
    let context = app.context_of(&instance).await;
    let action = RecordedAction {
        name: "resume",
        parameters: json!({ "id": id }),
        instance: Some(id.clone()),
        summary: |resumed: &Instance| (json!({ "status": resumed.status }), None),
    };
    let target = id.clone();
    run_recorded(&app, action, move |run| async move {
        workflow::resume(&context, &run, &target).await
    })
    .await?;
    let card = card(&app, &id).await?;
    Ok(body.answer(StatusCode::OK, &card, &page_of(&id), Done::Resumed))
}

pub(crate) async fn publish(
    State(app): State<AppState>,
    Id(id): Id,
    body: JsonOrForm<PublishRequest>,
) -> Answer {
    let instance = app.instance(&id).await?;
    if instance.kind != InstanceKind::Coding {
        return Err(Error::new(
            shared::error::Code::IllegalState,
            "only the work of coding agents can be published here",
        )
        .into());
    }
    let context = app.context_of(&instance).await;
    let action = RecordedAction {
        name: "pr create",
        parameters: json!({ "id": id, "title": body.value.title, "draft": body.value.draft }),
        instance: Some(id.clone()),
        summary: |published: &Published| (json!({ "prUrl": published.url }), None),
    };
    let request = CreatePr {
        title: body.value.title.clone(),
        description: body.value.description.clone(),
        draft: body.value.draft,
    };
    let target = id.clone();
    let published = run_recorded(&app, action, move |run| async move {
        workflow::create_pr(&context, &run, &target, request).await
    })
    .await?;
    let answer = PublishReply {
        pr_number: published.number,
        pr_url: published.url,
        note: published.note,
    };
    let answer = body.answer(StatusCode::OK, &answer, &page_of(&id), Done::Published);
    Ok(answer.into_response())
}
