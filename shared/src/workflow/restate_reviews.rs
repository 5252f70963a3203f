//! The summary of reviews in the body of an open pull request, brought up to date when a person decides.

use super::pull_text;
use crate::model::pull_request::is_local_url;
use crate::model::{InstanceId, PullState};
use crate::store::{StoreError, Writer};
use crate::workflow::Context;

/// Says in the body of a coder's open pull request what a person has just decided about this commit, if it stands for that: a
/// later commit is published with what was decided about it. On GitHub nothing is written.
pub(crate) fn restate_reviews(
    writer: &Writer<'_>,
    coder: &InstanceId,
    commit: &str,
) -> Result<(), StoreError> {
    let coder = writer.instance(coder)?;
    let is_local = coder.pr_url.as_deref().is_some_and(is_local_url);
    let Some(number) = coder.pr_number.filter(|_| is_local) else {
        return Ok(());
    };
    let key = Context::repository_key(&coder.repository);
    let pull = match writer.pull_request(&key, number) {
        Err(StoreError::PullRequestNotFound { .. }) => return Ok(()),
        found => found?,
    };
    if pull.state != PullState::Open || pull.head_commit != commit {
        return Ok(());
    }
    match pull_text::with_summary(&pull.body, &coder, &writer.reviews(&coder.id)?) {
        Some(body) => writer.set_pull_request_body(&key, number, &body),
        None => Ok(()),
    }
}
