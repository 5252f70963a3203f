//! The event of a notification: what a command reads on standard input and a webhook gets.

use serde::Serialize;

use crate::model::hidden::drop_hidden_in_line;
use crate::model::secrets::redacted;
use crate::model::{Instance, InstanceId, InstanceKind, Status, TaskId, Timestamp};
use crate::workflow::attention::Attention;

/// An agent needs a person.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Event {
    /// One line for people: who, and what they should do.
    pub text: String,
    instance: InstanceId,
    #[serde(rename = "type")]
    kind: InstanceKind,
    status: Status,
    attention: Attention,
    repository: String,
    branch: Option<String>,
    task_id: Option<TaskId>,
    issue_number: Option<u64>,
    at: Timestamp,
}

impl Event {
    pub(super) fn new(instance: &Instance, attention: &Attention) -> Self {
        let sentence = redacted(&attention.sentence());
        Self {
            text: drop_hidden_in_line(&format!("{}: {sentence}", instance.id)),
            instance: instance.id.clone(),
            kind: instance.kind,
            status: instance.status,
            attention: attention.clone(),
            repository: instance.repository.to_string_lossy().into_owned(),
            branch: instance.branch_name.clone(),
            task_id: instance.task_id.clone(),
            issue_number: instance.issue_number,
            at: Timestamp::now(),
        }
    }
}
