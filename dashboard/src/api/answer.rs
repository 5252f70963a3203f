//! Answers the dialog of an agent: one of its choices, and only of the dialog that was seen.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use shared::workflow::{self, DialogAnswer};

use crate::app::AppState;
use crate::extract::{Id, JsonOrForm};
use crate::record::{RecordedAction, run_recorded};
use crate::reply::Failure;
use crate::view::Done;

/// The answer to a dialog.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct AnswerRequest {
    /// The dialog's `fingerprint`.
    #[schemars(length(min = 1, max = 64))]
    dialog: String,
    /// The number of a choice.
    #[schemars(range(min = 1, max = 9))]
    choice: u32,
    /// For forms: go back to the board.
    #[serde(default)]
    stay: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AnswerReply {
    /// The choice in words.
    answered: String,
}

pub(crate) async fn answer(
    State(app): State<AppState>,
    Id(id): Id,
    body: JsonOrForm<AnswerRequest>,
) -> Result<Response, Failure> {
    let action = RecordedAction {
        name: "answer",
        parameters: json!({ "id": id, "choice": body.value.choice }),
        instance: Some(id.clone()),
        summary: |answered: &String| (json!({ "answered": answered }), None),
    };
    let (context, target) = (app.context.clone(), id.clone());
    let given = DialogAnswer {
        dialog: body.value.dialog.clone(),
        choice: body.value.choice,
    };
    let answered = run_recorded(&app, action, move |run| async move {
        workflow::answer_dialog(&context, &run, &target, &given).await
    })
    .await?;
    let page = if body.value.stay {
        "/".to_owned()
    } else {
        format!("/agents/{id}")
    };
    let reply = AnswerReply { answered };
    Ok(body.answer(StatusCode::OK, &reply, &page, Done::Answered))
}
