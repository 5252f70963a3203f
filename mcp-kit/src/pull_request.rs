//! The tool `create_pr`, which two servers offer with different descriptions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Call;
use shared::error::Error;
use shared::model::pull_request::{MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS, is_local_url};
use shared::workflow::{self, CreatePr, PublishOutcome, Published};

/// The pull request to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CreatePrRequest {
    /// Title of the pull request, one line.
    #[schemars(length(min = 1, max = MAX_TITLE_CHARS))]
    pub title: String,
    /// Body of the pull request, in Markdown: what changes, why, and how it was tested.
    #[schemars(length(min = 1, max = MAX_DESCRIPTION_CHARS))]
    pub description: String,
    /// Whether to open it as a draft. Default: false.
    #[serde(default)]
    pub draft: bool,
}

/// The pull request as it is now.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatePrReply {
    /// URL of the pull request.
    pub pr_url: String,
    /// Number of the pull request in its repository.
    pub pr_number: u64,
    /// What happened and what to do next.
    pub message: String,
}

pub async fn create_pr(call: Call, request: CreatePrRequest) -> Result<CreatePrReply, Error> {
    let context = call.context().await?;
    let author = call.instance().await?;
    let published = workflow::create_pr(
        &context,
        call.run(),
        &author,
        CreatePr {
            title: request.title,
            description: request.description,
            draft: request.draft,
        },
    )
    .await?;
    Ok(CreatePrReply {
        message: message(&published, published.coder.id != author),
        pr_url: published.url,
        pr_number: published.number,
    })
}

fn message(published: &Published, by_reviewer: bool) -> String {
    let (number, coder) = (published.number, &published.coder);
    let what = match published.outcome {
        PublishOutcome::Created => "was opened",
        PublishOutcome::Updated => "was already open and has been updated",
        PublishOutcome::Unchanged => "is up to date",
    };
    let branch = coder.branch_name.as_deref().unwrap_or_default();
    let mut text = if by_reviewer {
        format!("Approved. Pull request #{number} of {} ", coder.id)
    } else {
        format!("Pull request #{number} ")
    };
    text += &format!(
        "({branch} into {}) {what}: {}.",
        coder.base_branch, published.url
    );
    if is_local_url(&published.url) {
        text += &format!(
            " It is stored in this repository: a person can read it with `claude-codex pr show {number}` and merge it with `claude-codex pr merge {number}`."
        );
    }
    if let Some(note) = &published.note {
        text += &format!(" {note}");
    }
    text += if by_reviewer {
        " Your review is done; end your turn."
    } else {
        " Your work is done; end your turn."
    };
    text
}
