//! The work that a person reviews: which agent, which commit, and whether it can still be changed.

use crate::error::{Code, Error};
use crate::git::{Oid, Repository};
use crate::model::hidden::drop_hidden;
use crate::model::pull_request::is_local_url;
use crate::model::text::check_block;
use crate::model::{Instance, InstanceId, InstanceKind, SessionMode, Status};
use crate::workflow::Context;
use crate::workflow::forges::local::published_head;

/// Checks what a person says, which may be nothing.
pub(super) fn checked(field: &'static str, text: &str, most: usize) -> Result<String, Error> {
    let text = drop_hidden(text);
    match text.trim() {
        "" => Ok(String::new()),
        text => check_block(text, most).map_err(|problem| Error::argument(field, problem)),
    }
}

/// Returns a coder whose work a person may send back or approve.
pub(super) async fn coder_to_review(context: &Context, id: &InstanceId) -> Result<Instance, Error> {
    let wanted = id.clone();
    let coder = context.store.read(move |r| r.instance(&wanted)).await?;
    check_reviewable_by_person(&coder)?;
    Ok(coder)
}

/// Checks that the work of an agent is a coder's and can still be changed.
fn check_reviewable_by_person(coder: &Instance) -> Result<(), Error> {
    let id = &coder.id;
    if coder.kind != InstanceKind::Coding {
        return Err(Error::argument(
            "id",
            format!(
                "names a {} agent: only coding agents are reviewed",
                coder.kind
            ),
        )
        .hint(format!(
            "`claude-codex send {id} \"…\"` sends it a message."
        )));
    }
    let number = coder.pr_number.unwrap_or_default();
    match coder.status {
        Status::PrMerged => Err(Error::new(
            Code::PullRequestNotOpen,
            format!("pull request {number} is merged"),
        )
        .hint("What is left to do is new work: `claude-codex code \"…\"`.")),
        Status::PrClosed => Err(Error::new(
            Code::PullRequestNotOpen,
            format!("pull request {number} is closed"),
        )
        .hint(format!("`claude-codex pr reopen {number}` opens it again."))),
        Status::CreatingPr => Err(Error::new(
            Code::NotAvailable,
            format!("`{id}` is publishing its work right now"),
        )
        .hint("Nothing was changed. Try again in a moment.")),
        _ => Ok(()),
    }
}

/// Checks that a person may comment on an agent's work and send it back.
pub fn check_send_back(coder: &Instance) -> Result<(), Error> {
    check_reviewable_by_person(coder)?;
    if is_headless(coder) {
        return Err(belongs_to_run(coder));
    }
    Ok(())
}

/// Checks that a person may approve of an agent's work.
pub fn check_approve(coder: &Instance) -> Result<(), Error> {
    check_reviewable_by_person(coder)?;
    if coder.status.is_live() && is_headless(coder) {
        return Err(belongs_to_run(coder));
    }
    Ok(())
}

/// Error for the coder of a TDD run, which takes its turns from the run alone.
pub(crate) fn belongs_to_run(coder: &Instance) -> Error {
    let id = &coder.id;
    let error = Error::new(
        Code::NotAvailable,
        format!("`{id}` belongs to a TDD run, whose coder takes its work from the run alone"),
    );
    match (&coder.branch_name, coder.status) {
        (Some(branch), Status::PrCreated) => error.hint(format!(
            "A new agent continues its branch: `claude-codex code --branch {branch} --base {} \"…\"`.",
            coder.base_branch
        )),
        _ => error.hint(format!(
            "`claude-codex tdd resume {id}` continues the run, `claude-codex show {id}` says where it is."
        )),
    }
}

pub(crate) fn is_headless(coder: &Instance) -> bool {
    coder.session_mode == SessionMode::Headless
}

/// Returns the commit that a person sees: the head of the open pull request, or what is committed on the branch.
pub(crate) async fn reviewed_commit(context: &Context, coder: &Instance) -> Result<Oid, Error> {
    let repository = Repository::at(&coder.repository).await?;
    let published = published_head(context, coder).await?;
    if coder.status == Status::PrCreated
        && let Some(head) = &published
    {
        return Ok(head.clone());
    }
    if coder.worktree_path.exists() {
        return Ok(repository.head_commit(&coder.worktree_path).await?);
    }
    let tip = match &coder.branch_name {
        Some(branch) => repository.branch_tip(branch).await?,
        None => None,
    };
    let pushed = match (&coder.branch_name, &coder.pr_url) {
        (Some(branch), Some(url)) if !is_local_url(url) => {
            let there = context.of(&coder.repository).await?;
            let remote = there.settings().forge.remote.clone();
            let known = format!("refs/remotes/{remote}/{branch}");
            match repository.read_ref(&known).await? {
                None if tip.is_none() => return Err(commits_not_here(coder, &remote, branch)),
                pushed => pushed,
            }
        }
        _ => None,
    };
    match tip.or(published).or(pushed) {
        Some(tip) => Ok(tip),
        None => Ok(repository.resolve(&coder.base_branch).await?),
    }
}

/// Error for a pull request whose commits are on GitHub alone.
fn commits_not_here(coder: &Instance, remote: &str, branch: &str) -> Error {
    Error::new(
        Code::NotAvailable,
        format!(
            "the commits of `{}` are not in this repository any more",
            coder.id
        ),
    )
    .hint(format!(
        "`git fetch {remote} {branch}:refs/remotes/{remote}/{branch}` brings them, then try again."
    ))
}
