//! Launch of an agent, in recorded steps: row → worktree → files → session.
//!
//! Each step is recorded in the row before it is taken, so that [`super::undo`] knows what may have to be rolled back:
//! here after a failure, or by `reconcile` after a crash.

use std::collections::BTreeMap;
use std::path::PathBuf;

use uuid::Uuid;

use super::base::checked_out_here;
use super::continued_branch;
use super::first_moments::{settled, watch_first_moments};
use super::launch_request::{LaunchRequest, ResolvedLaunch, resolve};
use super::remove_worktree::continues_branch;
use super::undo::undo;
use crate::agent::{self, Handover, LAUNCH_ID, Session};
use crate::error::{Code, Error};
use crate::git::{Checkout, GitError, Repository};
use crate::model::id::Subject;
use crate::model::{
    Instance, InstanceId, InstanceKind, LaunchStep, Origin, ProcessMark, SessionMode, Status,
    StatusChange, TaskStatus,
};
use crate::process;
use crate::store::{NewInstance, NewStart, StoreError, Writer};
use crate::tmux::{NewSession, Size};
use crate::workflow::instance::agent_files;
use crate::workflow::instance::agent_files::Briefing;
use crate::workflow::instance::facts::{
    record_step, session_name, unused_id, worktree_folder, worktree_label,
};
use crate::workflow::instance::headless::{ask_for_turn, tdd_run_of};
use crate::workflow::instance::ownership::release;
use crate::workflow::{Context, Run, Step};

/// Launches an agent and returns once it is up, or its first moments are over. A failure leaves nothing behind.
pub async fn launch(
    context: &Context,
    run: &Run,
    request: LaunchRequest,
) -> Result<Instance, Error> {
    let resolved = resolve(context, request).await?;
    let launched = launch_as(context, run, resolved, None).await?;
    settled(context, &launched.id).await
}

/// Launches an agent under a name of the caller's choice, if it has one.
pub(crate) async fn launch_as(
    context: &Context,
    run: &Run,
    request: ResolvedLaunch,
    id: Option<InstanceId>,
) -> Result<Instance, Error> {
    run.step(Step::CheckingRepository)?;
    let repository = context.repository()?.clone();
    let start = preflight(context, &repository, &request).await?;
    let instance = record(context, run, &repository, &start, request, id).await?;
    let built = build(context, run, &repository, &instance, &Briefing::default()).await;
    if let Err(error) = built {
        let error = because_ended(context, &instance.id, error).await?;
        if let Err(left) = undo(context, &instance.id).await {
            tracing::warn!(instance = %instance.id, %left, "a failed launch could not be undone");
            release(context, &instance.id).await?;
        }
        return Err(error);
    }
    let id = instance.id.clone();
    Ok(context.store.read(move |r| r.instance(&id)).await?)
}

/// Finds out whether a launch can begin, before anything is made.
pub(crate) async fn preflight(
    context: &Context,
    repository: &Repository,
    request: &ResolvedLaunch,
) -> Result<Start, Error> {
    let root = repository.root();
    if root.to_str().is_none() {
        // Rows keep paths as text, so the worktree would not be found again.
        return Err(GitError::InvalidPath {
            path: root.to_owned(),
        }
        .into());
    }
    let start = Start::find(context, repository, request).await?;
    context.tmux.check().await?;
    agent_files::check(context, request.kind).await?;
    Ok(start)
}

/// Where a branch begins.
pub(crate) struct Start {
    pub(crate) base: String,
    commit: String,
    /// Whether the branch was there before.
    continues: bool,
}

impl Start {
    async fn find(
        context: &Context,
        repository: &Repository,
        request: &ResolvedLaunch,
    ) -> Result<Self, Error> {
        if let Some(branch) = &request.branch {
            crate::git::check_branch(branch)?;
            // A TDD run makes the branch that it works on.
            if request.session_mode == SessionMode::Interactive
                && repository.branch_exists(branch).await?
            {
                let base = request.base.as_deref();
                let from = continued_branch::start(context, repository, branch, base).await?;
                return Ok(Self {
                    base: from.base,
                    commit: from.commit,
                    continues: true,
                });
            }
            refuse_existing(repository, branch).await?;
        }
        let (base, revision) = match &request.base {
            Some(base) => (base.clone(), base.clone()),
            None => checked_out_here(context, repository).await?,
        };
        let commit = repository.resolve(&revision).await?;
        Ok(Self {
            base,
            commit: commit.as_str().to_owned(),
            continues: false,
        })
    }
}

async fn refuse_existing(repository: &Repository, branch: &str) -> Result<(), Error> {
    if repository.branch_exists(branch).await? {
        return Err(GitError::BranchExists {
            name: branch.to_owned(),
        }
        .into());
    }
    Ok(())
}

/// Inserts the row, with this process as its owner: from here on every process sees the launch.
async fn record(
    context: &Context,
    run: &Run,
    repository: &Repository,
    start: &Start,
    request: ResolvedLaunch,
    id: Option<InstanceId>,
) -> Result<Instance, Error> {
    let settings = context.settings();
    let limit = settings.resources.max_concurrent_instances;
    let prefix = settings.coding.branch_prefix.clone();
    let folder = worktree_folder(context, repository);
    let claude = settings.agent.command.is_empty();
    let continues = start.continues;
    let subject = match &request.issue {
        Some(issue) => Subject::Issue(issue.number),
        None => Subject::Text(request.prompt.clone()),
    };
    let new = NewInstance {
        id: InstanceId::coding(&subject, 1),
        kind: request.kind,
        origin: Origin::Launched,
        session_mode: request.session_mode,
        repository: Context::repository_key(repository.root()),
        worktree_path: PathBuf::new(),
        branch_name: request.branch,
        base_branch: start.base.clone(),
        base_commit: Some(start.commit.clone()),
        tmux_session: None,
        tmux_pane: None,
        claude_session_id: claude.then(|| Uuid::new_v4().to_string()),
        issue_number: request.issue.as_ref().map(|issue| issue.number),
        task_id: request.task,
        parent_instance_id: None,
        prompt: request.prompt,
        require_review: request
            .require_review
            .unwrap_or(settings.coding.require_review),
        max_reviews: request
            .max_reviews
            .unwrap_or(settings.review.max_review_cycles),
        launch_step: LaunchStep::Row,
        owner: Some(process::this_process()),
    };
    let instance = context
        .store
        .write(move |w| {
            let id = match id {
                Some(id) => id,
                None => unused_id(w, new.kind, &subject)?,
            };
            let branch = match new.kind {
                InstanceKind::Coding => {
                    Some(new.branch_name.clone().unwrap_or(format!("{prefix}{id}")))
                }
                // They read; a branch of their own would only be in the way.
                InstanceKind::Planning | InstanceKind::Review => None,
            };
            start_task(w, &new)?;
            let named = NewInstance {
                worktree_path: folder.join(id.as_str()),
                branch_name: branch,
                tmux_session: Some(id.to_string()),
                id,
                ..new
            };
            let made = w.insert_instance(&named, Some(limit))?;
            if continues {
                w.set_continues_branch(&made.id)?;
            }
            Ok(made)
        })
        .await?;
    run.changed(StatusChange {
        instance: instance.id.clone(),
        from: None,
        to: Status::Started,
    });
    Ok(instance)
}

/// Marks the task as begun; one that has to wait, or is done, is refused.
fn start_task(writer: &Writer<'_>, new: &NewInstance) -> Result<(), StoreError> {
    let Some(id) = &new.task_id else {
        return Ok(());
    };
    let task = writer.task(&new.repository, id)?;
    if !task.ready {
        return Err(StoreError::TaskNotReady {
            id: id.clone(),
            status: task.status,
        });
    }
    writer.set_task_status(id, TaskStatus::InProgress)
}

/// Takes the steps after the row. If the future is dropped, the row says which step may be half done.
pub(crate) async fn build(
    context: &Context,
    run: &Run,
    repository: &Repository,
    instance: &Instance,
    briefing: &Briefing,
) -> Result<(), Error> {
    let commit = instance.base_commit.as_deref().unwrap_or("HEAD");
    let checkout = match &instance.branch_name {
        Some(name) if continues_branch(context, &instance.id).await? => {
            continued_branch::free(context, repository, name).await?;
            Checkout::ExistingBranch { name: name.clone() }
        }
        Some(name) => {
            // Checked before the step is recorded: undo deletes the branch, so it must be ours.
            refuse_existing(repository, name).await?;
            Checkout::NewBranch {
                name: name.clone(),
                at: commit.to_owned(),
            }
        }
        None => Checkout::Detached {
            at: commit.to_owned(),
        },
    };
    if instance.worktree_path.exists() {
        return Err(GitError::PathTaken {
            path: instance.worktree_path.clone(),
        }
        .into());
    }
    make_worktree(context, run, repository, instance, checkout).await?;
    run.unless_cancelled(start_agent(
        context,
        run,
        repository,
        instance,
        SessionStart::New,
        briefing,
    ))
    .await
}

/// Creates an agent's worktree and labels it with the row's id and creation time.
pub(crate) async fn make_worktree(
    context: &Context,
    run: &Run,
    repository: &Repository,
    instance: &Instance,
    checkout: Checkout,
) -> Result<(), Error> {
    run.step(Step::MakingWorktree)?;
    record_step(context, instance, LaunchStep::Worktree).await?;
    let path = &instance.worktree_path;
    let folder = path.parent().filter(|folder| !folder.exists());
    let cancelled = run.cancel_token().cancelled();
    repository
        .add_worktree_until(path, checkout, cancelled)
        .await?;
    if let Some(made) = folder {
        repository.hide_folder(made).await?;
    }
    Ok(repository.label_worktree(path, &worktree_label(instance))?)
}

/// Whether an agent begins or goes on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SessionStart {
    New,
    Resume,
}

/// Writes the agent's files and starts its session; what `launch` and `resume` have in common.
pub(crate) async fn start_agent(
    context: &Context,
    run: &Run,
    repository: &Repository,
    instance: &Instance,
    how: SessionStart,
    briefing: &Briefing,
) -> Result<(), Error> {
    run.step(Step::WritingAgentFiles)?;
    record_step(context, instance, LaunchStep::Files).await?;
    let session = instance
        .claude_session_id
        .as_deref()
        .and_then(|id| Uuid::parse_str(id).ok())
        .unwrap_or_else(Uuid::new_v4);
    let session = match how {
        SessionStart::New => Session::New(session),
        SessionStart::Resume => Session::Resume(session),
    };
    let (command, file) = match instance.session_mode {
        SessionMode::Interactive => {
            let file = agent_files::write(context, repository, instance, session, briefing).await?;
            ("exec-agent", file)
        }
        SessionMode::Headless => {
            let folder = context.agent_folder(&instance.id);
            agent::prepare_turns(&folder)?;
            // A resumed agent gets its turn from the run, once its session exists.
            if matches!(how, SessionStart::New) {
                let tdd = tdd_run_of(context, &instance.id).await?;
                ask_for_turn(context, repository, instance, &tdd, session, briefing).await?;
            }
            ("host-agent", folder)
        }
    };

    run.step(Step::StartingSession)?;
    let handover = Handover::make(&context.agent_folder(&instance.id))?;
    let argv = vec![
        context.own_program("claude-codex")?.into_os_string(),
        command.into(),
        file.into_os_string(),
    ];
    let launch = Uuid::new_v4().to_string();
    let start = NewStart {
        tmux_socket: context.tmux.socket().map(ToString::to_string),
        launch_id: launch.clone(),
        at: process::boot_time(),
    };
    let id = instance.id.clone();
    let begun = context
        .store
        .write(move |w| {
            let now = w.instance(&id)?;
            if !now.status.is_live() || now.owner != Some(process::this_process()) {
                return Ok(None);
            }
            w.begin_session(&id, &start)?;
            w.delete_ending(&id)?;
            w.instance(&id).map(Some)
        })
        .await?;
    let instance = begun.ok_or_else(|| was_ended(&instance.id))?;
    let pane = context
        .terminals(&instance)
        .create(&NewSession {
            name: session_name(&instance)?,
            directory: instance.worktree_path.clone(),
            argv,
            environment: vec![(LAUNCH_ID.to_owned(), launch)],
            size: Size::default(),
        })
        .await?;
    // The environment has tokens in it, so it goes through a pipe and not through tmux.
    let of_person = agent::clean(context.environment.variables(), &BTreeMap::new());
    handover.give(&of_person).await?;
    let agent = process::mark(pane.pid);
    record_agent(context, &instance, agent.clone()).await?;
    run.step(Step::WaitingForAgent)?;
    watch_first_moments(context, &instance, agent.as_ref()).await?;
    stand(context, &instance).await
}

/// Records the process of an agent: its server and its hooks are told from others by it, from their first request on.
async fn record_agent(
    context: &Context,
    instance: &Instance,
    agent: Option<ProcessMark>,
) -> Result<(), Error> {
    let (id, launched) = (instance.id.clone(), instance.launch_id.clone());
    context
        .store
        .write(move |w| {
            let now = w.instance(&id)?;
            // A fast agent may already be published or finished, and then its row belongs to that process.
            if now.launch_id == launched && now.status.is_live() {
                w.set_agent(&id, agent.as_ref())?;
            }
            Ok(())
        })
        .await?;
    Ok(())
}

/// Ends a launch: everything stands, and the row is nobody's. An error if the agent was stopped meanwhile.
async fn stand(context: &Context, instance: &Instance) -> Result<(), Error> {
    let (id, launched) = (instance.id.clone(), instance.launch_id.clone());
    let stands = context
        .store
        .write(move |w| {
            let now = w.instance(&id)?;
            if now.launch_id != launched
                || matches!(now.status, Status::Terminated | Status::Failed)
            {
                return Ok(false);
            }
            if now.status.is_live() {
                w.set_launch_step(&id, LaunchStep::Ready)?;
            }
            if now.owner == Some(process::this_process()) {
                w.set_owner(&id, None)?;
            }
            Ok(true)
        })
        .await?;
    if stands {
        Ok(())
    } else {
        Err(was_ended(&instance.id))
    }
}

/// Returns why a launch failed: if the agent was stopped meanwhile, the error is only a consequence of that.
async fn because_ended(context: &Context, id: &InstanceId, error: Error) -> Result<Error, Error> {
    let wanted = id.clone();
    let is_ended = context
        .store
        .read(move |r| Ok(!r.instance_exists(&wanted)? || !r.instance(&wanted)?.status.is_live()))
        .await?;
    Ok(if is_ended { was_ended(id) } else { error })
}

/// Error for an agent that was stopped during its launch.
fn was_ended(id: &InstanceId) -> Error {
    Error::new(
        Code::Cancelled,
        format!("`{id}` was ended while it was being started"),
    )
}
