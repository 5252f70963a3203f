//! Request, reply and function of `create_pr`, which two servers offer under different descriptions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Call;
use crate::error::{Code, Error};
use crate::model::text::{check_block, check_line};

/// The pull request to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CreatePrRequest {
    /// Title of the pull request, one line.
    #[schemars(length(min = 1, max = 256))]
    pub title: String,
    /// Body of the pull request, in Markdown: what changes, why, how it was checked.
    #[schemars(length(min = 1, max = 60_000))]
    pub description: String,
    /// Whether to open it as a draft. Default: false.
    #[serde(default)]
    pub draft: bool,
}

/// The pull request that now stands.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatePrReply {
    /// Address of the pull request.
    pub pr_url: String,
    /// Number of the pull request in its repository.
    pub pr_number: u64,
    /// What happened and what comes next.
    pub message: String,
}

pub async fn create_pr(_call: Call, request: CreatePrRequest) -> Result<CreatePrReply, Error> {
    check_line(&request.title, 256).map_err(|problem| Error::argument("title", problem))?;
    check_block(&request.description, 60_000)
        .map_err(|problem| Error::argument("description", problem))?;
    Err(Error::new(
        Code::NotAvailable,
        "create_pr is not available in this version",
    )
    .hint("Push the branch and open the pull request by hand."))
}
