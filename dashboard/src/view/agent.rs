//! One agent with everything about it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use shared::model::{
    EventSource, InstanceId, MessageId, MessageKind, MessageState, Severity, StatusChange, TakenBy,
    Verdict, WaitReason,
};

use super::{Card, ControlView, DiffView, IgnoredSettings};

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentView {
    pub card: Card,
    pub worktree: String,
    /// Whether the worktree still is there.
    pub has_worktree: bool,
    pub base_branch: String,
    /// What it was asked to do, as given.
    pub prompt: String,
    /// Why it failed, or what of it was kept and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What of its repository's own settings and prompts is ignored until the person has trusted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignored: Option<IgnoredSettings>,
    /// Newest last; only the last ones (`/events?instance=ID` has all).
    pub timeline: Vec<TimelineEntry>,
    /// Newest last.
    pub messages: Vec<MessageView>,
    /// Oldest first; of a reviewer, the one round that it is for.
    pub rounds: Vec<RoundView>,
    /// For a terminal; absent where there is none of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attach_command: Option<String>,
    pub actions: Vec<Action>,
    pub control: ControlView,
    pub version: u64,
}

impl AgentView {
    /// Returns whether an action is possible now, and why not.
    pub fn action(&self, key: ActionKey) -> Option<&Action> {
        self.actions.iter().find(|action| action.key == key)
    }
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineEntry {
    pub id: i64,
    pub at: String,
    pub source: EventSource,
    pub server: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    pub changes: Vec<StatusChange>,
    pub duration_ms: f64,
    pub parameters: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
}

/// A text to the agent, and where it is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageView {
    pub id: MessageId,
    pub kind: MessageKind,
    pub state: MessageState,
    pub from: String,
    /// The beginning of it.
    pub excerpt: String,
    pub at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typed_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_by: Option<TakenBy>,
    /// What an owed one waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<WaitReason>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoundView {
    pub round: u32,
    pub verdict: Verdict,
    pub coder: InstanceId,
    pub reviewer: InstanceId,
    pub commit: String,
    /// What the coder said when asking.
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    pub findings: Vec<FindingView>,
    pub requested_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingView {
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub severity: Severity,
    pub message: String,
}

/// What a person may do with an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActionKey {
    /// `POST /api/instances/{id}/messages`, field `text`.
    Message,
    /// `POST /api/instances/{id}/review`, field `description` (optional).
    Review,
    /// `POST /api/instances/{id}/stop`.
    Stop,
    /// `POST /api/instances/{id}/resume`.
    Resume,
    /// `POST /api/instances/{id}/pull`, fields `title`, `description`, `draft`.
    Pull,
    /// `POST /api/instances/{id}/control`.
    Control,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Action {
    pub key: ActionKey,
    pub allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

/// What an agent has changed so far.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentDiffView {
    pub card: Card,
    pub diff: DiffView,
}
