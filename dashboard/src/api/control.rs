//! Typing into a terminal, by one person at a time.
//!
//! Who takes control is given a lease, and shows it in the header `x-codex-lease` to renew, to type and to
//! release. It ends by itself half a minute after the last renewal.

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

use crate::app::Shared;
use crate::record::{Deed, recorded};
use crate::reply::{Failure, Given, Id, Lease};
use crate::view::Controller;

/// What somebody is called who does not say.
const NOBODY: &str = "somebody";

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ControlRequest {
    /// What others see.
    #[schemars(length(min = 1, max = 80))]
    name: Option<String>,
    /// Take it from whoever has it.
    take_over: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ControlReply {
    controller: Controller,
    /// For the header `x-codex-lease`; nobody else learns it.
    lease: String,
}

/// What to type: exactly one of the three.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct KeysRequest {
    /// Characters, as from a keyboard; no line breaks.
    #[schemars(length(min = 1, max = 4000))]
    text: Option<String>,
    /// A key that is no character.
    key: Option<Key>,
    /// A text of several lines, as one paste.
    #[schemars(length(min = 1, max = 100_000))]
    paste: Option<String>,
}

pub(crate) async fn take_control(
    State(app): State<Shared>,
    Id(id): Id,
    lease: Option<Lease>,
    given: Given<ControlRequest>,
) -> Result<Json<ControlReply>, Failure> {
    let name = given.value.name.unwrap_or_else(|| NOBODY.to_owned());
    let take_over = given.value.take_over;
    let context = app.context.clone();
    let control = if let Some(Lease(lease)) = lease {
        // A renewal is not worth a record.
        workflow::take_control(&context, &id, &name, Some(&lease), take_over).await?
    } else {
        let deed = Deed {
            name: "take control",
            parameters: json!({ "id": id, "name": name }),
            instance: Some(id.clone()),
            summary: |_: &PaneControl| (json!({}), None),
        };
        recorded(&app, deed, move |_| async move {
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
    State(app): State<Shared>,
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
    State(app): State<Shared>,
    Id(id): Id,
    lease: Option<Lease>,
    given: Given<KeysRequest>,
) -> Result<StatusCode, Failure> {
    let typed = match given.value {
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
