//! `resolve_conflict`: sends the coder of a conflicting pull request back to merge its base (`pr resolve`).

use super::moved_branch::moved_branch;
use super::pull_agent::{agent_of, coder_of_pull};
use super::standing::conflicting_files;
use crate::error::{Code, Error};
use crate::git::Repository;
use crate::model::pull_request::is_local_url;
use crate::model::{Instance, Mergeable, MessageId, MessageKind, PullRequest};
use crate::store::NewMessage;
use crate::workflow::agent_messages::{self, Conflict};
use crate::workflow::delivery::receipt::{Receipt, await_receipt};
use crate::workflow::forges::pull_backend::PullBackend;
use crate::workflow::instance::ownership::wait_until_unowned;
use crate::workflow::put_to_work::put_to_work;
use crate::workflow::review::reviewed_work::{belongs_to_run, is_headless};
use crate::workflow::review::send_back::{PERSON, next_step};
use crate::workflow::{Context, Run, Step};

/// A coder that was told to resolve a conflict. That is no review: no round is counted.
#[derive(Debug, Clone)]
pub struct ConflictSent {
    pub pull: PullRequest,
    pub coder: Instance,
    pub message: MessageId,
    pub receipt: Receipt,
    /// Files in conflict; empty if the forge does not say.
    pub files: Vec<String>,
    /// Whether the agent's session had ended and was started again.
    pub restarted: bool,
}

/// Tells the coder of a conflicting pull request to merge the base and resolve the conflict.
pub async fn resolve_conflict(
    context: &Context,
    run: &Run,
    number: u64,
) -> Result<ConflictSent, Error> {
    let repository = context.repository()?;
    let coder = coder_of_pull(context, run, number).await?;
    if is_headless(&coder) {
        return Err(belongs_to_run(&coder));
    }
    let forge = PullBackend::open(context, repository).await?;
    let pull = forge.get(context, repository, number).await?;
    let files = conflict(context, repository, &pull).await?;
    run.step(Step::SendingWorkBack)?;
    // Its session may be ending right now, because it has just published.
    wait_until_unowned(context, run, &coder.id).await?;
    let id = coder.id.clone();
    let (coder, reviews) = context
        .store
        .read(move |r| Ok((r.instance(&id)?, r.reviews(&id)?)))
        .await?;
    let is_local = is_local_url(&pull.url);
    let base = if is_local {
        pull.base_branch.clone()
    } else {
        format!("{}/{}", context.settings().forge.remote, pull.base_branch)
    };
    let message = MessageId::random();
    let conflict = Conflict {
        number,
        base: &base,
        fetch_first: !is_local,
        files: &files,
    };
    let new = NewMessage {
        body: agent_messages::conflict(&message, &conflict, next_step(&coder, &reviews)),
        id: message.clone(),
        instance: coder.id.clone(),
        sender: PERSON.to_owned(),
        kind: MessageKind::Feedback,
    };
    let restarted = put_to_work(context, run, &coder.id, &message, move |w, _| {
        w.insert_message(&new)
    })
    .await?;
    // It is committed: from here on no error may fail the call.
    let receipt = run
        .unless_cancelled(await_receipt(context, &coder.id, &message))
        .await;
    Ok(ConflictSent {
        pull,
        coder,
        message,
        receipt: receipt.unwrap_or(Receipt::Waiting(None)),
        files,
        restarted,
    })
}

/// Returns whether a pull request has an agent here that can be sent back to merge the base.
pub async fn can_resolve(context: &Context, pull: &PullRequest) -> Result<bool, Error> {
    let agent = agent_of(context, pull).await?;
    Ok(agent.is_some_and(|coder| !is_headless(&coder)))
}

/// Says how a conflicting pull request goes on whose agent cannot be sent back.
pub fn resolve_by_new_agent(pull: &PullRequest) -> String {
    let (number, base, branch) = (pull.number, &pull.base_branch, &pull.head_branch);
    format!(
        "A new agent merges `{base}` and resolves the conflict: `claude-codex code --branch {branch} --base {base} \"…\"`. By hand: merge `{base}` into `{branch}`, commit, then `claude-codex pr update {number}`."
    )
}

/// Returns the files in conflict; refuses a pull request that has no conflict, and says how that one goes on.
async fn conflict(
    context: &Context,
    repository: &Repository,
    pull: &PullRequest,
) -> Result<Vec<String>, Error> {
    let (number, base) = (pull.number, &pull.base_branch);
    let none = |hint: String| {
        Error::new(
            Code::NotAvailable,
            format!("pull request {number} has no conflict with `{base}`"),
        )
        .hint(hint)
    };
    if !is_local_url(&pull.url) {
        return match pull.mergeable {
            Some(Mergeable::Clean) => {
                Err(none(format!("`claude-codex pr merge {number}` merges it.")))
            }
            _ => Ok(Vec::new()),
        };
    }
    // What the agent has is the branch, which may be ahead of the pull request.
    let moved = moved_branch(context, repository, pull).await?;
    let head = match &moved {
        Some(moved) => moved.tip.clone(),
        None => repository.resolve(&pull.head_commit).await?,
    };
    let files = conflicting_files(context, repository, pull, &head).await?;
    match (files.is_empty(), moved) {
        (false, _) => Ok(files),
        (true, Some(_)) => Err(none(format!(
            "Its branch has commits that it lacks: `claude-codex pr update {number}` brings them in."
        ))),
        (true, None) => Err(none(format!("`claude-codex pr merge {number}` merges it."))),
    }
}
