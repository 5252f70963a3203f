//! First connection of a launched agent's server: its row becomes `running`.

use super::adopt::is_command_of;
use crate::agent::{self, Caller};
use crate::error::{Code, Error};
use crate::model::{Instance, InstanceId, InstanceKind, Status, StatusEvent};
use crate::process;
use crate::store::{NewEvent, StoreError, Writer};
use crate::workflow::Context;

/// Records that a launched instance's server is up, and returns the instance.
pub async fn connect(
    context: &Context,
    id: &InstanceId,
    kind: InstanceKind,
) -> Result<InstanceId, Error> {
    let wanted = id.clone();
    let instance = context.store.read(move |r| r.instance(&wanted)).await?;
    if instance.kind != kind {
        let actual = instance.kind;
        return Err(Error::new(
            Code::InvalidArguments,
            format!("CODEX_INSTANCE_ID names `{id}`, a {actual} agent, but this server is for {kind} agents"),
        )
        .hint(format!("Register {} for it.", actual.server_name())));
    }
    check_caller(context, &instance)?;
    let (server, wanted) = (process::this_process(), id.clone());
    context
        .store
        .write(move |w| {
            w.set_server(&wanted, Some(&server))?;
            mark_running(w, &w.instance(&wanted)?)
        })
        .await?;
    Ok(id.clone())
}

/// Refuses to act as an agent for a nested Claude Code, which inherits the agent's environment.
fn check_caller(context: &Context, instance: &Instance) -> Result<(), Error> {
    let Some(session) = context.environment.claude_session_id() else {
        return Ok(());
    };
    let folder = context.claude_folder()?;
    let is_own = match agent::caller(&folder, instance.id.as_str(), instance.agent.as_ref()) {
        Caller::Own if is_command_of(context, agent::nearest_claude(&folder).as_ref()) => false,
        Caller::Own => true,
        Caller::Nested => false,
        Caller::Unknown => instance
            .claude_session_id
            .as_deref()
            .is_none_or(|own| own == session),
    };
    if is_own {
        return Ok(());
    }
    let id = &instance.id;
    Err(Error::new(
        Code::AnotherSession,
        format!("this server belongs to the Claude session {session}, which is not the session of {id}"),
    )
    .hint(format!(
        "Nothing was changed. A program that an agent starts cannot act as that agent: call the tool in the session of {id} itself."
    )))
}

/// Moves an agent on that was launched and has now been heard of.
pub(crate) fn mark_running(writer: &Writer<'_>, instance: &Instance) -> Result<(), StoreError> {
    if instance.status != Status::Started {
        return Ok(());
    }
    let mut changes = vec![writer.transition(&instance.id, StatusEvent::Connected)?];
    if let Some(coder) = &instance.parent_instance_id
        && writer.instance(coder)?.status == Status::WaitingReview
    {
        changes.push(writer.transition(coder, StatusEvent::ReviewerConnected)?);
    }
    writer.insert_event(&NewEvent::system(&instance.id, "connected", changes))
}
