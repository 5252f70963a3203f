//! Taking in a session that nobody launched.

use super::{Context, Run};
use crate::error::{Code, Error};
use crate::git::{Head, Repository};
use crate::model::id::Subject;
use crate::model::instance::ProcessMark;
use crate::model::{InstanceId, InstanceKind, LaunchStep, Origin, StatusChange, StatusEvent};
use crate::process;
use crate::store::{NewInstance, Reader, StoreError};

/// Returns the instance of the place we run in, recording one if there is none yet.
///
/// A worktree has one instance of each kind for each Claude session; a session that comes back finds
/// its own again.
pub async fn adopt(context: &Context, run: &Run, kind: InstanceKind) -> Result<InstanceId, Error> {
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
        tmux_pane: context.environment.tmux_pane().map(str::to_owned),
        claude_session_id: context.environment.claude_session_id().map(str::to_owned),
        issue_number: None,
        task_id: None,
        parent_instance_id: None,
        prompt: String::new(),
        require_review: settings.coding.require_review,
        max_reviews: settings.review.max_review_cycles,
        launch_step: LaunchStep::Ready,
        owner: None,
    };
    let server = process::this_process();
    let (id, changes) = context
        .store
        .write(move |w| {
            if let Some(known) = resident(w, &new)? {
                if let Some(session) = &new.claude_session_id {
                    w.set_claude_session(&known, session)?;
                }
                w.set_tmux_pane(&known, new.tmux_pane.as_deref())?;
                w.set_server(&known, Some(&server))?;
                return Ok((known, Vec::new()));
            }
            new.id = unused_id(w, kind, &subject)?;
            w.insert_instance(&new, None)?;
            w.set_server(&new.id, Some(&server))?;
            let connected = w.transition(&new.id, StatusEvent::Connected)?;
            let adopted = StatusChange {
                from: None,
                ..connected
            };
            Ok((new.id, vec![adopted]))
        })
        .await?;
    for change in changes {
        run.changed(change);
    }
    Ok(id)
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

/// Finds who of this kind lives here already: the same Claude session, or one whose server is gone.
fn resident(reader: &Reader<'_>, new: &NewInstance) -> Result<Option<InstanceId>, StoreError> {
    let here = reader.live_in_worktree(new.kind, &new.worktree_path.to_string_lossy())?;
    let known = here.into_iter().find(|instance| {
        let same_session =
            new.claude_session_id.is_some() && instance.claude_session_id == new.claude_session_id;
        let server_gone = instance
            .server
            .as_ref()
            .is_none_or(|server: &ProcessMark| !process::is_alive(server));
        same_session || (instance.origin == Origin::Adopted && server_gone)
    });
    Ok(known.map(|instance| instance.id))
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
