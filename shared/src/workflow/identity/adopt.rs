//! Adoption: a row for a Claude Code session that a person started, from its first tool call to its end.
//!
//! One Claude session is one row of a kind, for the one process that has it open. Its row ends with its server; the same
//! session finds it again.

use crate::agent::{self, Wanted};
use crate::error::{Code, Error};
use crate::git::{Head, Repository};
use crate::model::id::Subject;
use crate::model::{
    Instance, InstanceId, InstanceKind, LaunchStep, Note, Origin, ProcessMark, SessionMode, Status,
    StatusChange, StatusEvent,
};
use crate::process;
use crate::store::{NewEvent, NewInstance, Reader, StoreError, Writer};
use crate::workflow::instance::facts::unused_id;
use crate::workflow::review_round::not_a_reviewer;
use crate::workflow::terminal::pane::pane_of_this_process;
use crate::workflow::{Context, Run};

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
    match adopt_session(context, kind, Unknown::IsRecorded).await? {
        Taken::In(adopted, changes) => {
            for change in changes {
                run.changed(change);
            }
            Ok(adopted)
        }
        Taken::Elsewhere(id, process, session) => Err(open_elsewhere(&id, process, &session)),
        Taken::Nothing => Err(not_a_reviewer()),
    }
}

/// Goes on with the row that the session of this server has already; records nothing new.
///
/// Claude Code starts another server when a session comes back (`claude --resume`) or connects again (`/mcp`), and
/// what waits for the session must not wait for its next tool call.
pub async fn adopt_again(
    context: &Context,
    kind: InstanceKind,
) -> Result<Option<InstanceId>, Error> {
    // Without a database there is no row, and none is made.
    if !context.store.path().exists() || context.repository().is_err() {
        return Ok(None);
    }
    let Client { session, agent } = Client::of_this_process(context)?;
    let Some(session) = session else {
        return Ok(None);
    };
    let is_known = context
        .store
        .read(move |r| r.is_adopted(&session, agent.as_ref()))
        .await?;
    if !is_known {
        return Ok(None);
    }
    Ok(match adopt_session(context, kind, Unknown::IsLeft).await? {
        Taken::In(adopted, _) => Some(adopted.id),
        Taken::Elsewhere(..) | Taken::Nothing => None,
    })
}

/// What becomes of a session that has no row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    IsRecorded,
    IsLeft,
}

enum Taken {
    In(Adopted, Vec<StatusChange>),
    /// Another process has the session open, as this instance.
    Elsewhere(InstanceId, u32, String),
    Nothing,
}

async fn adopt_session(
    context: &Context,
    kind: InstanceKind,
    unknown: Unknown,
) -> Result<Taken, Error> {
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
        // Another program below Claude Code doesn't have its terminal.
        Ok(pane) => pane
            .filter(|_| client.session.is_some())
            .map(|pane| pane.to_string()),
        Err(error) => {
            tracing::info!(code = %error.code, %error, "no pane to type into");
            None
        }
    };
    let mut new = NewInstance {
        id: InstanceId::coding(&subject, 1),
        kind,
        origin: Origin::Adopted,
        session_mode: SessionMode::Interactive,
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
    let taken = context
        .store
        .write(move |w| {
            if let Some((id, process, session)) = open_in_another(w, &new, agent.as_ref())? {
                return Ok(Taken::Elsewhere(id, process, session));
            }
            let known = known(w, &new, agent.as_ref(), unknown)?;
            let fresh = known.is_none();
            let mut changes = Vec::new();
            let id = match known {
                Some(known) => {
                    changes.extend(continue_row(w, &known, &new)?);
                    known.id
                }
                // A review is given to a reviewer when it is launched; nobody else has one.
                None if kind == InstanceKind::Review || unknown == Unknown::IsLeft => {
                    return Ok(Taken::Nothing);
                }
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
            // A call records what it has changed by itself.
            if unknown == Unknown::IsLeft && !changes.is_empty() {
                w.insert_event(&NewEvent::system(&id, "session_back", changes.clone()))?;
            }
            Ok(Taken::In(Adopted { id, fresh }, changes))
        })
        .await?;
    Ok(taken)
}

/// Returns the instance that another living process has this session open as.
///
/// `claude -p -c` in a session continues the same session, and so does a person who resumes an agent's session by hand.
fn open_in_another(
    reader: &Reader<'_>,
    new: &NewInstance,
    agent: Option<&ProcessMark>,
) -> Result<Option<(InstanceId, u32, String)>, StoreError> {
    let (Some(session), Some(agent)) = (&new.claude_session_id, agent) else {
        return Ok(None);
    };
    let mut rows = reader.launched_in_session(session)?;
    rows.extend(reader.adopted_in_worktree(new.kind, &new.worktree_path.to_string_lossy())?);
    Ok(rows
        .into_iter()
        .filter(|instance| instance.claude_session_id.as_ref() == Some(session))
        .find_map(|instance| {
            let own = instance.agent?;
            let elsewhere = own != *agent && process::is_alive(&own);
            elsewhere.then(|| (instance.id, own.pid, session.clone()))
        }))
}

fn open_elsewhere(id: &InstanceId, process: u32, session: &str) -> Error {
    Error::new(
        Code::AnotherSession,
        format!("another Claude Code (process {process}) has this session open, as {id}"),
    )
    .hint(format!(
        "Nothing was changed. Call the tool there, or end it first; `claude --resume {session} --fork-session` begins a session of its own. A Claude Code that {id} starts cannot act as {id}."
    ))
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
        let folder = context.claude_folder()?;
        let agent = agent::nearest_claude(&folder).filter(|_| given.is_some());
        if given.is_none() || is_command_of(context, agent.as_ref()) {
            return Ok(Self {
                session: None,
                agent: None,
            });
        }
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

/// Tells whether a command of Claude Code's Bash tool has started this server: then its client is another program, which
/// inherits the id of a session that is not its own.
pub(crate) fn is_command_of(context: &Context, claude: Option<&ProcessMark>) -> bool {
    claude.is_some_and(|claude| context.environment.claude_of_command() == Some(claude.pid))
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
    unknown: Unknown,
) -> Result<Option<Instance>, StoreError> {
    let here = reader.adopted_in_worktree(new.kind, &new.worktree_path.to_string_lossy())?;
    let is_same_session = |instance: &Instance| {
        new.claude_session_id.is_some() && instance.claude_session_id == new.claude_session_id
    };
    // A client without sessions is known by its worktree alone.
    let is_same_client = |instance: &Instance| {
        new.claude_session_id.is_none()
            && instance.claude_session_id.is_none()
            && !instance.server.as_ref().is_some_and(process::is_alive)
    };
    let is_same_process = |instance: &Instance| agent.is_some() && instance.agent.as_ref() == agent;
    let rank = |instance: &Instance| {
        let own = match instance.status {
            status if status.is_live() => Some(0),
            Status::PrCreated if instance.branch_name == new.branch_name => Some(1),
            Status::Failed | Status::Terminated => Some(2),
            _ => None,
        };
        if is_same_session(instance) {
            own
        } else if is_same_process(instance) || is_same_client(instance) {
            // Its process had another session before: `/resume`, or `/clear`.
            own.map(|own| own + 3)
        } else {
            let is_free = unknown == Unknown::IsRecorded;
            (is_free && instance.status.is_live() && is_gone(instance)).then_some(6)
        }
    };
    // Newest first among equals.
    Ok(here
        .into_iter()
        .filter_map(|instance| Some((rank(&instance)?, instance)))
        .min_by_key(|(rank, _)| *rank)
        .map(|(_, instance)| instance))
}

/// Goes on with a row: one that has ended is brought back to life.
fn continue_row(
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
    writer.set_note(&known.id, &Note::default())?;
    Ok(vec![
        writer.transition(&known.id, StatusEvent::Resumed)?,
        writer.transition(&known.id, StatusEvent::Connected)?,
    ])
}

/// Tells whether neither server nor agent of an adopted session lives any more.
pub(crate) fn is_gone(instance: &Instance) -> bool {
    let is_dead = |mark: &ProcessMark| !process::is_alive(mark);
    instance.origin == Origin::Adopted
        && instance.server.as_ref().is_some_and(is_dead)
        && instance.agent.as_ref().is_none_or(is_dead)
}

/// Returns the move that the end of an adopted session means, and why.
///
/// A coder whose review is under way stays: the verdict is kept for when its session comes back.
pub(crate) fn end_of_session(status: Status) -> Option<(StatusEvent, &'static str)> {
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

/// Tells whether an adopted instance has to be adopted anew: its row has ended or lost its server, or the process that has
/// the session has gone on to another one.
pub async fn needs_adoption(context: &Context, id: &InstanceId) -> Result<bool, Error> {
    let (id, session) = (id.clone(), Client::of_this_process(context)?.session);
    let is_present = context
        .store
        .read(move |r| {
            if !r.instance_exists(&id)? {
                return Ok(false);
            }
            let instance = r.instance(&id)?;
            let served = instance.server.as_ref().is_some_and(process::is_alive);
            let is_same = session.is_none() || instance.claude_session_id == session;
            Ok(instance.status.is_live() && served && is_same)
        })
        .await?;
    Ok(!is_present)
}

/// Returns the instance with the session that its Claude Code has now: after `/clear` it is another one.
///
/// Only the server that serves the instance knows. A session that has a row of its own stays with that.
pub(crate) async fn in_present_session(
    context: &Context,
    instance: Instance,
) -> Result<Instance, Error> {
    let is_own = instance.server.as_ref() == Some(&process::this_process());
    if instance.origin != Origin::Adopted || !is_own {
        return Ok(instance);
    }
    let session = Client::of_this_process(context)?.session;
    let Some(session) =
        session.filter(|session| Some(session) != instance.claude_session_id.as_ref())
    else {
        return Ok(instance);
    };
    let instance = context
        .store
        .write(move |w| {
            let worktree = instance.worktree_path.to_string_lossy();
            let here = w.adopted_in_worktree(instance.kind, &worktree)?;
            if !here
                .iter()
                .any(|other| other.claude_session_id.as_ref() == Some(&session))
            {
                w.set_claude_session(&instance.id, &session)?;
            }
            w.instance(&instance.id)
        })
        .await?;
    Ok(instance)
}

/// Ends the row of an adopted session, because the server that asks is about to end.
pub async fn end_adopted(context: &Context, id: &InstanceId) -> Result<(), Error> {
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
            w.set_note(&id, &Note::because(reason))?;
            w.insert_event(&NewEvent::system(&id, "session_ended", vec![change]))
        })
        .await?;
    Ok(())
}

/// Removes the row of a session whose only call was refused, unless something has come of it.
pub async fn forget_unused(context: &Context, id: &InstanceId) -> Result<(), Error> {
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
