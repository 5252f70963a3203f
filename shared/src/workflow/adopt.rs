//! Taking in a session that nobody launched, and letting it go.
//!
//! One Claude session is one row of a kind. Its row ends with its server; the same session finds it again.

use super::request_changes::not_a_reviewer;
use super::terminal::pane_of_this_process;
use super::{Context, Run};
use crate::agent::{self, Wanted};
use crate::error::{Code, Error};
use crate::git::{Head, Repository};
use crate::model::id::Subject;
use crate::model::{
    Instance, InstanceId, InstanceKind, LaunchStep, Origin, ProcessMark, Status, StatusChange,
    StatusEvent,
};
use crate::process;
use crate::store::{NewEvent, NewInstance, Reader, StoreError, Writer};

/// The instance of a session that nobody launched.
#[derive(Debug, Clone)]
pub struct Adopted {
    pub id: InstanceId,
    /// Whether its row was made just now; if the call is refused, it goes again.
    pub fresh: bool,
}

/// Why the row of an adopted session has ended.
const SESSION_ENDED: &str = "its session has ended";

/// Returns the instance of the place we run in, recording one if there is none yet.
pub async fn adopt(context: &Context, run: &Run, kind: InstanceKind) -> Result<Adopted, Error> {
    let repository = context.repository()?;
    let Some(worktree) = repository.worktree() else {
        return Err(Error::new(
            Code::NotARepository,
            format!("{} is a bare repository", repository.root().display()),
        )
        .hint("Run the session inside a worktree of it."));
    };
    let head = repository.head(worktree).await?;
    let branch = head.branch().map(str::to_owned);
    let base_commit = match head {
        Head::Unborn(_) => None,
        Head::Branch(_) | Head::Detached(_) => {
            Some(repository.head_commit(worktree).await?.as_str().to_owned())
        }
    };
    let base_branch = base_of(repository, branch.as_deref()).await?;
    let subject = Subject::Text(branch.clone().unwrap_or_else(|| "detached".to_owned()));
    let settings = context.settings();
    let client = Client::of_this_process(context)?;
    let pane = match pane_of_this_process(context).await {
        Ok(pane) => pane.map(|pane| pane.to_string()),
        Err(error) => {
            tracing::info!(code = %error.code, %error, "no pane to type into");
            None
        }
    };
    let mut new = NewInstance {
        id: InstanceId::coding(&subject, 1),
        kind,
        origin: Origin::Adopted,
        repository: Context::repository_key(repository.root()),
        worktree_path: worktree.to_owned(),
        branch_name: branch,
        base_branch,
        base_commit,
        tmux_session: None,
        tmux_pane: pane,
        claude_session_id: client.session,
        issue_number: None,
        task_id: None,
        parent_instance_id: None,
        prompt: String::new(),
        require_review: settings.coding.require_review,
        max_reviews: settings.review.max_review_cycles,
        launch_step: LaunchStep::Ready,
        owner: None,
    };
    let (server, agent) = (process::this_process(), client.agent);
    let adopted = context
        .store
        .write(move |w| {
            let known = known(w, &new, agent.as_ref())?;
            let fresh = known.is_none();
            let mut changes = Vec::new();
            let id = match known {
                Some(known) => {
                    changes.extend(take_up(w, &known, &new)?);
                    known.id
                }
                // A review is given to a reviewer when it is launched; nobody else has one.
                None if kind == InstanceKind::Review => return Ok(None),
                None => {
                    new.id = unused_id(w, kind, &subject)?;
                    w.insert_instance(&new, None)?;
                    let connected = w.transition(&new.id, StatusEvent::Connected)?;
                    changes.push(StatusChange {
                        from: None,
                        ..connected
                    });
                    new.id.clone()
                }
            };
            w.set_server(&id, Some(&server))?;
            w.set_agent(&id, agent.as_ref())?;
            Ok(Some((Adopted { id, fresh }, changes)))
        })
        .await?;
    let (adopted, changes) = adopted.ok_or_else(not_a_reviewer)?;
    for change in changes {
        run.changed(change);
    }
    Ok(adopted)
}

/// The program that started this server.
struct Client {
    session: Option<String>,
    /// The Claude Code process; none for other clients.
    agent: Option<ProcessMark>,
}

impl Client {
    fn of_this_process(context: &Context) -> Result<Self, Error> {
        let given = context.environment.claude_session_id().map(str::to_owned);
        if given.is_none() {
            return Ok(Self {
                session: None,
                agent: None,
            });
        }
        let folder = context.claude_folder()?;
        let agent = agent::nearest_claude(&folder);
        // After `/clear` the process has another session than when it started this server.
        let present = agent
            .as_ref()
            .and_then(|agent| i32::try_from(agent.pid).ok())
            .and_then(|pid| agent::find_session(&folder, Wanted::Process(pid)));
        let session = present.map(|session| session.session_id.to_string());
        Ok(Self {
            session: session.or(given),
            agent,
        })
    }
}

/// Returns the branch that the work here is to be compared with. Without a remote that says so, a
/// branch is work on main or master, not on itself.
async fn base_of(repository: &Repository, branch: Option<&str>) -> Result<String, Error> {
    let default = repository.default_branch().await?;
    if let Some(default) = default
        && Some(default.as_str()) != branch
    {
        return Ok(default);
    }
    for name in ["main", "master"] {
        if Some(name) != branch && repository.branch_tip(name).await?.is_some() {
            return Ok(name.to_owned());
        }
    }
    Ok(branch.unwrap_or("HEAD").to_owned())
}

/// Finds the row to go on with: this session's own, or one in this worktree whose session is gone.
fn known(
    reader: &Reader<'_>,
    new: &NewInstance,
    agent: Option<&ProcessMark>,
) -> Result<Option<Instance>, StoreError> {
    let mut here = reader.open_in_worktree(new.kind, &new.worktree_path.to_string_lossy())?;
    if new.kind == InstanceKind::Review {
        here.retain(|instance| instance.parent_instance_id.is_some());
    }
    let is_own = |instance: &Instance| {
        // A client without sessions is known by its worktree alone.
        let is_same_client = instance.origin == Origin::Adopted
            && new.claude_session_id.is_none()
            && instance.claude_session_id.is_none()
            && !instance.server.as_ref().is_some_and(process::is_alive);
        let is_same_session =
            new.claude_session_id.is_some() && instance.claude_session_id == new.claude_session_id;
        let is_same_process = agent.is_some() && instance.agent.as_ref() == agent;
        is_same_client || is_same_session || is_same_process
    };
    let rank = |instance: &Instance| match (is_own(instance), instance.status) {
        (true, status) if status.is_live() => Some(0),
        (true, Status::PrCreated) if instance.branch_name == new.branch_name => Some(1),
        (true, Status::Failed | Status::Terminated) if instance.origin == Origin::Adopted => {
            Some(2)
        }
        (false, status) if status.is_live() && is_gone(instance) => Some(3),
        _ => None,
    };
    // Newest first among equals.
    Ok(here
        .into_iter()
        .filter_map(|instance| Some((rank(&instance)?, instance)))
        .min_by_key(|(rank, _)| *rank)
        .map(|(_, instance)| instance))
}

/// Goes on with a row: one that has ended is brought back to life.
fn take_up(
    writer: &Writer<'_>,
    known: &Instance,
    new: &NewInstance,
) -> Result<Vec<StatusChange>, StoreError> {
    if let Some(session) = &new.claude_session_id {
        writer.set_claude_session(&known.id, session)?;
    }
    writer.set_tmux_pane(&known.id, new.tmux_pane.as_deref())?;
    if !matches!(known.status, Status::Failed | Status::Terminated) {
        return Ok(Vec::new());
    }
    writer.set_branch(&known.id, new.branch_name.as_deref())?;
    writer.set_note(&known.id, None)?;
    Ok(vec![
        writer.transition(&known.id, StatusEvent::Resumed)?,
        writer.transition(&known.id, StatusEvent::Connected)?,
    ])
}

/// Tells whether neither server nor agent of an adopted session lives any more.
pub(super) fn is_gone(instance: &Instance) -> bool {
    let is_dead = |mark: &ProcessMark| !process::is_alive(mark);
    instance.origin == Origin::Adopted
        && instance.server.as_ref().is_some_and(is_dead)
        && instance.agent.as_ref().is_none_or(is_dead)
}

/// Returns the move that the end of an adopted session means, and why.
///
/// A coder whose review is under way stays: the verdict is kept for when its session comes back.
pub(super) fn end_of_session(status: Status) -> Option<(StatusEvent, &'static str)> {
    match status {
        Status::Started | Status::Running | Status::FeedbackReceived => {
            Some((StatusEvent::Terminated, SESSION_ENDED))
        }
        Status::WaitingReview
        | Status::UnderReview
        | Status::CreatingPr
        | Status::PrCreated
        | Status::PrMerged
        | Status::PrClosed
        | Status::Completed
        | Status::Failed
        | Status::Terminated => None,
    }
}

/// Tells whether an adopted instance has to be adopted anew: its row has ended, or lost its server.
pub async fn is_without_server(context: &Context, id: &InstanceId) -> Result<bool, Error> {
    let id = id.clone();
    let has_server = context
        .store
        .read(move |r| {
            if !r.instance_exists(&id)? {
                return Ok(false);
            }
            let instance = r.instance(&id)?;
            let served = instance.server.as_ref().is_some_and(process::is_alive);
            Ok(instance.status.is_live() && served)
        })
        .await?;
    Ok(!has_server)
}

/// Ends the row of an adopted session, because the server that asks is about to end.
pub async fn leave(context: &Context, id: &InstanceId) -> Result<(), Error> {
    let id = id.clone();
    context
        .store
        .write(move |w| {
            let instance = w.instance(&id)?;
            let is_own = instance.server.as_ref() == Some(&process::this_process());
            let Some((event, reason)) = end_of_session(instance.status) else {
                return Ok(());
            };
            if !is_own || instance.origin != Origin::Adopted {
                return Ok(());
            }
            let change = w.transition(&id, event)?;
            w.set_note(&id, Some(reason))?;
            w.insert_event(&NewEvent::system(&id, "session_ended", vec![change]))
        })
        .await?;
    Ok(())
}

/// Removes the row of a session whose only call was refused, unless something has come of it.
pub async fn forget(context: &Context, id: &InstanceId) -> Result<(), Error> {
    let id = id.clone();
    context
        .store
        .write(move |w| {
            let used = w.instance(&id)?.status != Status::Running
                || !w.reviews(&id)?.is_empty()
                || !w.messages(&id)?.is_empty()
                || w.has_created_tasks(&id)?;
            if !used {
                w.delete_instance(&id)?;
            }
            Ok(())
        })
        .await?;
    Ok(())
}

/// Returns the first id of a subject that was never used.
pub(super) fn unused_id(
    reader: &Reader<'_>,
    kind: InstanceKind,
    subject: &Subject,
) -> Result<InstanceId, StoreError> {
    let mut attempt = 1;
    loop {
        let id = match kind {
            InstanceKind::Coding => InstanceId::coding(subject, attempt),
            InstanceKind::Planning => InstanceId::planning(subject, attempt),
            InstanceKind::Review => InstanceId::review(&InstanceId::coding(subject, 1), attempt),
        };
        if !reader.instance_exists(&id)? {
            return Ok(id);
        }
        attempt += 1;
    }
}
