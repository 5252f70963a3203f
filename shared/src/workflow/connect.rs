//! The first sign of life of a launched agent.

use super::Context;
use crate::error::{Code, Error};
use crate::model::{Instance, InstanceId, InstanceKind, Status, StatusEvent};
use crate::process;
use crate::store::{NewEvent, StoreError, Writer};

/// Records that a launched instance's server is up, and returns the instance.
pub async fn connect(
    context: &Context,
    id: &InstanceId,
    kind: InstanceKind,
) -> Result<InstanceId, Error> {
    let server = process::this_process();
    let wanted = id.clone();
    let connected = context
        .store
        .write(move |w| {
            let instance = w.instance(&wanted)?;
            if instance.kind != kind {
                return Ok(Err(instance.kind));
            }
            w.set_server(&wanted, Some(&server))?;
            came_to_life(w, &instance)?;
            Ok(Ok(()))
        })
        .await?;
    match connected {
        Ok(()) => Ok(id.clone()),
        Err(actual) => Err(Error::new(
            Code::InvalidArguments,
            format!("CODEX_INSTANCE_ID names `{id}`, a {actual} agent, but this server is for {kind} agents"),
        )
        .hint(format!("Register {} for it.", actual.server_name()))),
    }
}

/// Moves an agent on that was launched and has now been heard of.
pub(super) fn came_to_life(writer: &Writer<'_>, instance: &Instance) -> Result<(), StoreError> {
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
