//! What a person does with agents: the same verbs as the command line's.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use shared::error::Error;
use shared::model::{Instance, InstanceId, InstanceKind, MessageId, WaitReason};
use shared::workflow::{
    self, CreatePr, Order, Published, RunningReview, Sent, Stopped, TddRequest,
};

use super::Nothing;
use crate::app::Shared;
use crate::html;
use crate::record::{Deed, recorded};
use crate::reply::{self, Failure, Given, Id, Manner};
use crate::view::{Card, Done, LaunchForm, LaunchKind, Section};
use crate::{load, pages};

/// What stands in place of a coder's own words.
const NO_DESCRIPTION: &str = "A person asked for this review; the coder has said nothing about it.";

type Answer = Result<Response, Failure>;

/// A text for an agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct MessageRequest {
    #[schemars(length(min = 1, max = 100_000))]
    text: String,
}

/// What became of a message.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SentReply {
    message_id: MessageId,
    /// Whether the agent has it.
    delivered: bool,
    /// What it waits for, if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting_for: Option<WaitReason>,
    /// Typed, and nothing proves that the agent has it.
    unconfirmed: bool,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ReviewRequest {
    /// What the reviewer should know.
    #[schemars(length(min = 1, max = 20_000))]
    description: Option<String>,
}

/// A pull request as its author wants it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct PublishRequest {
    #[schemars(length(min = 1, max = 256))]
    title: String,
    #[schemars(length(min = 1, max = 60_000))]
    description: String,
    #[serde(default)]
    draft: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PublishReply {
    pr_number: u64,
    pr_url: String,
    /// Something the author should know beside that.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// An agent that was ended.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StopReply {
    card: Card,
    /// What of its work was kept, and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<String>,
}

async fn card(app: &Shared, id: &InstanceId) -> Result<Card, Error> {
    Ok(load::agent(app, id).await?.card)
}

fn page_of(id: &InstanceId) -> String {
    format!("/agents/{id}")
}

/// Launches an agent. A form that is refused comes back with what was filled in.
pub(crate) async fn launch(State(app): State<Shared>, given: Given<LaunchForm>) -> Answer {
    let launched = launch_agent(&app, given.value.clone()).await;
    let instance = match launched {
        Ok(instance) => instance,
        Err(error) if given.form => {
            let status = reply::status(error.code);
            let manner = Manner {
                fragment: false,
                done: None,
                url: "/launch".to_owned(),
            };
            let frame = html::frame(&app, Section::Launch, manner, app.changes.version());
            let view = load::launch(&app, given.value, Some(error)).await?;
            let mut page = reply::html(&pages::launch(&view, &frame));
            *page.status_mut() = status;
            return Ok(page);
        }
        Err(error) => return Err(error.into()),
    };
    let card = card(&app, &instance.id).await?;
    let page = page_of(&instance.id);
    Ok(given.answer(StatusCode::CREATED, &card, &page, Done::Launched))
}

async fn launch_agent(app: &Shared, form: LaunchForm) -> Result<Instance, Error> {
    let (kind, name) = match form.kind {
        LaunchKind::Code => (InstanceKind::Coding, "code"),
        LaunchKind::Plan => (InstanceKind::Planning, "plan"),
        LaunchKind::Tdd => return begin_tdd(app, form).await,
    };
    let context = app.context_in(form.repository.as_deref()).await?;
    let task = form.task.as_deref().map(str::parse).transpose()?;
    let order = Order {
        prompt: form.prompt,
        issue: form.issue,
        task,
        base: form.base,
        branch: form.branch,
        require_review: form.require_review,
        max_reviews: form.max_reviews,
        ..Order::of(kind)
    };
    // The prompt is kept with the instance.
    let parameters = json!({
        "issue": order.issue,
        "task": order.task,
        "base": order.base,
        "branch": order.branch,
        "requireReview": order.require_review,
        "maxReviews": order.max_reviews,
    });
    let deed = Deed {
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
    recorded(app, deed, move |run| async move {
        let request = workflow::prepare(&context, order).await?;
        workflow::launch(&context, &run, request).await
    })
    .await
}

/// Begins a run from a specification to a pull request, which another process drives.
async fn begin_tdd(app: &Shared, form: LaunchForm) -> Result<Instance, Error> {
    let given = [
        ("issue", form.issue.is_some()),
        ("task", form.task.is_some()),
        ("base", form.base.is_some()),
    ];
    if let Some((name, _)) = given.into_iter().find(|(_, given)| *given) {
        return Err(Error::argument(
            name,
            "means nothing to a run from a specification",
        ));
    }
    let context = app.context_in(form.repository.as_deref()).await?;
    let most = form
        .max_reviews
        .unwrap_or(context.settings().review.max_review_cycles);
    if !(1..=workflow::MOST_REVIEWS).contains(&most) {
        return Err(Error::argument(
            "maxReviews",
            format!("is a number from 1 to {}", workflow::MOST_REVIEWS),
        ));
    }
    let text = form.prompt.unwrap_or_default();
    let deed = Deed {
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
    recorded(app, deed, move |run| async move {
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
            // Nothing names it. That it can't be removed is no reason to hide why the run was refused.
            let _ = std::fs::remove_file(&path);
        }
        begun
    })
    .await
}

pub(crate) async fn message(
    State(app): State<Shared>,
    Id(id): Id,
    given: Given<MessageRequest>,
) -> Answer {
    let deed = Deed {
        name: "send",
        parameters: json!({ "id": id }),
        instance: Some(id.clone()),
        summary: |sent: &Sent| (json!(sent), None),
    };
    let (context, target) = (app.context.clone(), id.clone());
    let text = given.value.text.clone();
    let sent = recorded(&app, deed, move |run| async move {
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
    Ok(given.answer(StatusCode::OK, &answer, &page_of(&id), done))
}

pub(crate) async fn review(
    State(app): State<Shared>,
    Id(id): Id,
    given: Given<ReviewRequest>,
) -> Answer {
    let instance = app.instance(&id).await?;
    let context = app.context_of(&instance).await;
    let deed = Deed {
        name: "review",
        parameters: json!({ "id": id }),
        instance: Some(id.clone()),
        summary: |review: &RunningReview| (json!({ "reviewInstanceId": review.reviewer.id }), None),
    };
    let target = id.clone();
    let description = given.value.description.clone();
    let description = description.unwrap_or_else(|| NO_DESCRIPTION.to_owned());
    let running = recorded(&app, deed, move |run| async move {
        workflow::request_review(&context, &run, &target, &description).await
    })
    .await?;
    let card = card(&app, &running.reviewer.id).await?;
    Ok(given.answer(StatusCode::OK, &card, &page_of(&id), Done::ReviewBegun))
}

pub(crate) async fn stop(State(app): State<Shared>, Id(id): Id, given: Given<Nothing>) -> Answer {
    let instance = app.instance(&id).await?;
    let context = app.context_of(&instance).await;
    let deed = Deed {
        name: "stop",
        parameters: json!({ "id": id }),
        instance: Some(id.clone()),
        summary: |stopped: &Stopped| (json!({ "kept": stopped.kept }), None),
    };
    let target = id.clone();
    let stopped = recorded(&app, deed, move |run| async move {
        workflow::stop(&context, &run, &target).await
    })
    .await?;
    let answer = StopReply {
        card: card(&app, &id).await?,
        kept: stopped.kept,
    };
    Ok(given.answer(StatusCode::OK, &answer, &page_of(&id), Done::Stopped))
}

pub(crate) async fn resume(State(app): State<Shared>, Id(id): Id, given: Given<Nothing>) -> Answer {
    let instance = app.instance(&id).await?;
    let context = app.context_of(&instance).await;
    let deed = Deed {
        name: "resume",
        parameters: json!({ "id": id }),
        instance: Some(id.clone()),
        summary: |resumed: &Instance| (json!({ "status": resumed.status }), None),
    };
    let target = id.clone();
    recorded(&app, deed, move |run| async move {
        workflow::resume(&context, &run, &target).await
    })
    .await?;
    let card = card(&app, &id).await?;
    Ok(given.answer(StatusCode::OK, &card, &page_of(&id), Done::Resumed))
}

pub(crate) async fn publish(
    State(app): State<Shared>,
    Id(id): Id,
    given: Given<PublishRequest>,
) -> Answer {
    let instance = app.instance(&id).await?;
    if instance.kind != InstanceKind::Coding {
        return Err(Error::new(
            shared::error::Code::IllegalState,
            "only the work of coding agents is published by a person",
        )
        .into());
    }
    let context = app.context_of(&instance).await;
    let deed = Deed {
        name: "pr create",
        parameters: json!({ "id": id, "title": given.value.title, "draft": given.value.draft }),
        instance: Some(id.clone()),
        summary: |published: &Published| (json!({ "prUrl": published.url }), None),
    };
    let request = CreatePr {
        title: given.value.title.clone(),
        description: given.value.description.clone(),
        draft: given.value.draft,
    };
    let target = id.clone();
    let published = recorded(&app, deed, move |run| async move {
        workflow::create_pr(&context, &run, &target, request).await
    })
    .await?;
    let answer = PublishReply {
        pr_number: published.number,
        pr_url: published.url,
        note: published.note,
    };
    let answer = given.answer(StatusCode::OK, &answer, &page_of(&id), Done::Published);
    Ok(answer.into_response())
}
