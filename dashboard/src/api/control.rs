//! Terminal control: a lease that lets one person at a time type into a terminal.
//!
//! Taking control returns a lease. Renewing, typing and releasing need it in the header `x-codex-lease`. It expires
//! half a minute after the last renewal.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use shared::error::Error;
use shared::store::PaneControl;
use shared::tmux::Key;
use shared::workflow::{self, Typed};

use crate::app::AppState;
use crate::extract::{Id, JsonOrForm, Lease};
use crate::record::{RecordedAction, run_recorded};
use crate::reply::Failure;
use crate::view::Controller;

/// The name of a person who gives none.
const ANONYMOUS: &str = "somebody";

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ControlRequest {
    /// The name that others see.
    #[schemars(length(min = 1, max = workflow::MAX_HOLDER_CHARS))]
    name: Option<String>,
    /// Take control from its present holder.
    take_over: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ControlReply {
    controller: Controller,
    /// For the header `x-codex-lease`; secret.
    lease: String,
}

/// What to type: exactly one of the three.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct KeysRequest {
    /// Characters, as from a keyboard; no line breaks.
    #[schemars(length(min = 1, max = workflow::MAX_TYPED_CHARS))]
    text: Option<String>,
    /// A key that is not a character, such as an arrow.
    key: Option<Key>,
    /// A text of several lines, as one paste.
    #[schemars(length(min = 1, max = workflow::MAX_PASTED_CHARS))]
    paste: Option<String>,
}

pub(crate) async fn take_control(
    State(app): State<AppState>,
    Id(id): Id,
    lease: Option<Lease>,
    body: JsonOrForm<ControlRequest>,
) -> Result<Json<ControlReply>, Failure> {
    let name = body.value.name.unwrap_or_else(|| ANONYMOUS.to_owned());
    let take_over = body.value.take_over;
    let context = app.context.clone();
    let control = if let Some(Lease(lease)) = lease {
        // Renewals are not recorded.
        workflow::take_control(&context, &id, &name, Some(&lease), take_over).await?
    } else {
        let action = RecordedAction {
            name: "take control",
            parameters: json!({ "id": id, "name": name }),
            instance: Some(id.clone()),
            summary: |_: &PaneControl| (json!({}), None),
        };
        run_recorded(&app, action, move |_| async move {
            workflow::take_control(&context, &id, &name, None, take_over).await
        })
        .await?
    };
    Ok(Json(ControlReply {
        controller: Controller {
            name: control.holder,
            until: control.until,
        },
        lease: control.lease,
    }))
}

pub(crate) async fn release_control(
    State(app): State<AppState>,
    Id(id): Id,
    lease: Option<Lease>,
) -> Result<StatusCode, Failure> {
    app.instance(&id).await?;
    if let Some(Lease(lease)) = lease {
        workflow::release_control(&app.context, &id, &lease).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn keys(
    State(app): State<AppState>,
    Id(id): Id,
    lease: Option<Lease>,
    body: JsonOrForm<KeysRequest>,
) -> Result<StatusCode, Failure> {
    let typed = match body.value {
        KeysRequest {
            text: Some(text),
            key: None,
            paste: None,
        } => Typed::Text(text),
        KeysRequest {
            text: None,
            key: Some(key),
            paste: None,
        } => Typed::Key(key),
        KeysRequest {
            text: None,
            key: None,
            paste: Some(text),
        } => Typed::Paste(text),
        KeysRequest { .. } => {
            let problem = "needs exactly one of `text`, `key` and `paste`";
            return Err(Error::argument("body", problem).into());
        }
    };
    let lease = lease.map(|lease| lease.0).unwrap_or_default();
    workflow::type_into(&app.context, &id, &lease, &typed).await?;
    Ok(StatusCode::NO_CONTENT)
}
