//! Drives a TDD run from its start, or from where it stopped, to its result.

use serde_json::json;

use super::rounds::{Outcome, Rounds};
use super::{Audience, TddNews, TddSpec};
use crate::config::Cleanup;
use crate::error::{Code, Error};
use crate::git::{GitError, Repository};
use crate::model::tdd::new_run_id;
use crate::model::{
    InstanceId, InstanceKind, SessionMode, StatusEvent, TddResult, TddRun, TddStatus, Timestamp,
};
use crate::process;
use crate::store::NewTddRun;
use crate::workflow::forges::pull_backend::PullBackend;
use crate::workflow::instance::agent_files;
use crate::workflow::instance::facts::worktree_folder;
use crate::workflow::instance::ownership::wait_until_unowned;
use crate::workflow::lifecycle::finish::finish_with_reviewer;
use crate::workflow::lifecycle::launch::preflight;
use crate::workflow::lifecycle::launch_request::ResolvedLaunch;
use crate::workflow::lifecycle::reconcile::reconcile_to_act;
use crate::workflow::lifecycle::remove_worktree::summarize;
use crate::workflow::{Context, Run, Step};

/// What is wanted of a run.
#[derive(Debug, Clone)]
pub struct TddRequest {
    pub spec: TddSpec,
    pub max_reviews: u32,
    pub branch: Option<String>,
    pub cleanup: bool,
}

/// Takes a specification to a pull request, or as far as it gets.
///
/// What can be found out beforehand is an error, and nothing was made. After that the run is recorded,
/// and whatever becomes of it is its result; only if the caller goes it is left as it is, to be resumed.
pub async fn start_tdd(
    context: &Context,
    run: &Run,
    request: TddRequest,
    audience: Audience<'_>,
) -> Result<TddResult, Error> {
    let (repository, id) = record(context, run, request).await?;
    Box::pin(drive(context, run, repository, &id, audience, false)).await
}

/// Checks whatever can be checked beforehand, and records the run as this process's.
pub(super) async fn record(
    context: &Context,
    run: &Run,
    request: TddRequest,
) -> Result<(Repository, InstanceId), Error> {
    run.step(Step::CheckingRepository)?;
    let repository = context.repository()?.clone();
    let id = new_run_id(Timestamp::now())?;
    let branch = request.branch.unwrap_or_else(|| format!("tdd/{id}"));
    let launch = launch_request(&request.spec.text, &branch, None, request.max_reviews);
    let start = preflight(context, &repository, &launch).await?;
    agent_files::check(context, InstanceKind::Review).await?;
    if repository.branch_tip(&start.base).await?.is_none() {
        return Err(Error::new(
            Code::NoBranch,
            "HEAD is detached: the pull request needs a branch to go to",
        )
        .hint("Check out the branch that the work is for, then run it again."));
    }
    PullBackend::open(context, &repository).await?;
    let new = NewTddRun {
        repository: Context::repository_key(repository.root()),
        spec_path: request.spec.path.to_string_lossy().into_owned(),
        original_spec: request.spec.text,
        max_iterations: request.max_reviews,
        branch_name: branch,
        base_branch: start.base,
        worktree_path: worktree_folder(context, &repository)
            .join(id.as_str())
            .to_string_lossy()
            .into_owned(),
        cleanup: request.cleanup,
        owner: process::this_process(),
        id: id.clone(),
    };
    context.store.write(move |w| w.insert_tdd_run(&new)).await?;
    Ok((repository, id))
}

/// Takes a run up at the step it was in.
pub async fn resume_tdd(
    context: &Context,
    run: &Run,
    id: &InstanceId,
    max_reviews: Option<u32>,
    audience: Audience<'_>,
) -> Result<TddResult, Error> {
    let wanted = id.clone();
    let seen = context.store.read(move |r| r.tdd_run(&wanted)).await?;
    if seen.status == TddStatus::Completed {
        return Ok(success(&seen, seen.pr_url.clone()));
    }
    if let Some(owner) = seen.owner.as_ref().filter(|owner| process::is_alive(owner)) {
        return Err(Error::new(
            Code::IllegalState,
            format!("the run {id} is under way in process {}", owner.pid),
        )
        .hint(format!(
            "`claude-codex logs {id} --follow` shows what its coder does."
        )));
    }
    run.step(Step::CheckingRepository)?;
    let context = &context.of(&seen.repository).await?;
    let repository = context.repository()?.clone();
    reconcile_to_act(context).await?;
    context.tmux.check().await?;
    agent_files::check(context, InstanceKind::Coding).await?;
    agent_files::check(context, InstanceKind::Review).await?;
    let (me, most) = (
        process::this_process(),
        max_reviews.unwrap_or(seen.max_iterations),
    );
    let mine = context
        .store
        .write(move |w| w.claim_tdd_run(&seen, &me, most))
        .await?;
    if !mine {
        return Err(Error::new(
            Code::IllegalState,
            format!("another process has just taken the run {id} up"),
        )
        .hint("`claude-codex tdd list` shows where it is."));
    }
    Box::pin(drive(context, run, repository, id, audience, true)).await
}

/// Returns how the coder of a run is launched.
pub(super) fn launch_request(
    spec: &str,
    branch: &str,
    base: Option<String>,
    max_reviews: u32,
) -> ResolvedLaunch {
    ResolvedLaunch {
        kind: InstanceKind::Coding,
        session_mode: SessionMode::Headless,
        prompt: spec.to_owned(),
        issue: None,
        task: None,
        base,
        branch: Some(branch.to_owned()),
        // The reviewer publishes; a coder that does so itself would skip the review.
        require_review: Some(true),
        max_reviews: Some(max_reviews),
    }
}

async fn drive(
    context: &Context,
    run: &Run,
    repository: Repository,
    id: &InstanceId,
    audience: Audience<'_>,
    resumed: bool,
) -> Result<TddResult, Error> {
    let tdd = load(context, id).await?;
    audience(&TddNews::Run { run: &tdd, resumed });
    let rounds = Rounds {
        context,
        run,
        repository,
        id: id.clone(),
        audience,
    };
    let ended = Box::pin(rounds.play()).await;
    let tdd = load(context, id).await?;
    match ended {
        Ok(Outcome::Published { url }) => {
            complete(&rounds, &tdd, &url).await?;
            Ok(success(&tdd, Some(url)))
        }
        Ok(Outcome::LimitReached { feedback }) => {
            let most = tdd.max_iterations;
            let error = format!(
                "all {most} review rounds are used and changes are still asked for. The last feedback:\n\n{feedback}"
            );
            let reason = format!("all {most} review rounds are used");
            give_up(&rounds, &tdd, StatusEvent::Terminated, reason, error).await
        }
        Err(error) if error.code == Code::Cancelled => {
            let wanted = id.clone();
            context
                .store
                .write(move |w| w.release_tdd_run(&wanted))
                .await?;
            Err(Error::new(
                Code::Cancelled,
                format!("the run {id} was left in the middle; an agent that has its turn goes on with it"),
            )
            .hint(format!(
                "`claude-codex tdd resume {id}` takes it up again, `claude-codex stop {id}` ends its agents."
            ))
            .details(json!({ "taskId": id })))
        }
        Err(error) if !resumed && rounds.coder().await?.is_none() => {
            // A launch that fails leaves nothing behind, and this was its first.
            let wanted = id.clone();
            context
                .store
                .write(move |w| w.delete_tdd_run(&wanted))
                .await?;
            Err(error)
        }
        Err(error) => {
            let reason = error.message.clone();
            let text = match &error.hint {
                Some(hint) => format!("{} {hint}", ended_sentence(&error.message)),
                None => error.message,
            };
            give_up(&rounds, &tdd, StatusEvent::Failed, reason, text).await
        }
    }
}

fn ended_sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with(['.', '!', '?', ':']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

async fn load(context: &Context, id: &InstanceId) -> Result<TddRun, Error> {
    let wanted = id.clone();
    Ok(context.store.read(move |r| r.tdd_run(&wanted)).await?)
}

fn success(tdd: &TddRun, url: Option<String>) -> TddResult {
    TddResult {
        success: true,
        pr_url: url,
        iterations: tdd.current_iteration,
        task_id: tdd.task_id.clone(),
        error: None,
    }
}

/// Records that the pull request stands, and puts the worktree away: its commits are on the forge.
///
/// A failed cleanup is only reported: the run itself has succeeded.
async fn complete(rounds: &Rounds<'_>, tdd: &TddRun, url: &str) -> Result<(), Error> {
    let context = rounds.context;
    let (id, address) = (tdd.task_id.clone(), url.to_owned());
    context
        .store
        .write(move |w| w.end_tdd_run(&id, TddStatus::Completed, Some(&address), None))
        .await?;
    (rounds.audience)(&TddNews::Published { url });
    let path = tdd.worktree_info.path.display();
    let settings = context.settings_of(rounds.repository.root());
    let automatic = settings.is_some_and(|settings| settings.resources.cleanup == Cleanup::Auto);
    let left = if !tdd.cleanup || !automatic {
        Some(format!("the worktree stays in {path}"))
    } else {
        match put_worktree_away(rounds, tdd).await {
            Ok(left) => left,
            Err(error) => Some(format!("the worktree stays in {path}: {error}")),
        }
    };
    if let Some(what) = left {
        (rounds.audience)(&TddNews::LeftBehind { what: &what });
    }
    Ok(())
}

/// Removes the coder's worktree unless something in it is nowhere else; its branch stays for the
/// pull request. Says what was kept.
async fn put_worktree_away(rounds: &Rounds<'_>, tdd: &TddRun) -> Result<Option<String>, Error> {
    let (context, repository) = (rounds.context, &rounds.repository);
    wait_until_unowned(context, rounds.run, &tdd.task_id).await?;
    let path = &tdd.worktree_info.path;
    if !path.exists() {
        return Ok(None);
    }
    match repository.remove_worktree(path, None).await {
        Ok(None) => {}
        Ok(Some(unsaved)) => {
            return Ok(Some(format!(
                "kept the worktree {}: {}",
                path.display(),
                summarize(&unsaved)
            )));
        }
        Err(error @ GitError::WorktreeLocked { .. }) => return Ok(Some(format!("kept: {error}"))),
        Err(error) => return Err(error.into()),
    }
    let id = tdd.task_id.clone();
    let coder = context.store.read(move |r| r.instance(&id)).await?;
    agent_files::forget_trust(context, &coder).await?;
    Ok(None)
}

/// Ends the run's agents and records why; work that exists nowhere else is kept.
async fn give_up(
    rounds: &Rounds<'_>,
    tdd: &TddRun,
    event: StatusEvent,
    reason: String,
    error: String,
) -> Result<TddResult, Error> {
    let context = rounds.context;
    let coder = rounds.coder().await?;
    if coder.is_some_and(|coder| coder.status.is_live()) {
        finish_with_reviewer(context, &tdd.task_id, event, reason).await?;
        let id = tdd.task_id.clone();
        let note = context
            .store
            .read(move |r| Ok(r.instance(&id)?.note.sentence()))
            .await?;
        if let Some(note) = note {
            (rounds.audience)(&TddNews::LeftBehind { what: &note });
        }
    }
    let (id, text) = (tdd.task_id.clone(), error.clone());
    context
        .store
        .write(move |w| w.end_tdd_run(&id, TddStatus::Failed, None, Some(&text)))
        .await?;
    Ok(TddResult {
        success: false,
        pr_url: None,
        iterations: tdd.current_iteration,
        task_id: tdd.task_id.clone(),
        error: Some(error),
    })
}
