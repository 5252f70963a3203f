//! View of one agent: card, timeline, messages, review rounds, possible actions.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use shared::model::{
    Ending, EventSource, MessageId, MessageKind, MessageState, StatusChange, TakenBy, Timestamp,
    WaitReason,
};

use super::{ActivityView, Card, ControlView, DiffView, IgnoredSettings, ReviewView, RoundView};

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentView {
    pub card: Card,
    pub worktree: String,
    /// Whether the worktree still exists.
    pub has_worktree: bool,
    pub base_branch: String,
    /// Its prompt, as given.
    pub prompt: String,
    /// Why it failed, or which of its work was kept and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// How its last session ended, with its last screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// Settings and prompts of its repository that are ignored until a person trusts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignored: Option<IgnoredSettings>,
    /// Newest last; only the last ones (`/events?instance=ID` has all).
    pub timeline: Vec<TimelineEntry>,
    /// What it last said, ran and changed (`/api/instances/ID/activity` has more).
    pub activity: ActivityView,
    /// Newest last.
    pub messages: Vec<MessageView>,
    /// Oldest first; of a reviewer, its one round.
    pub rounds: Vec<RoundView>,
    /// The command that attaches a terminal; absent if a person started the agent.
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

/// One event.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineEntry {
    pub id: i64,
    pub at: Timestamp,
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

/// A message to the agent, and its delivery.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageView {
    pub id: MessageId,
    pub kind: MessageKind,
    pub state: MessageState,
    pub from: String,
    /// The beginning of the text.
    pub excerpt: String,
    pub at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typed_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_by: Option<TakenBy>,
    /// What an undelivered message waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<WaitReason>,
}

/// An action that a person may take on an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActionKey {
    /// `POST /api/instances/{id}/messages`, field `text`.
    Message,
    /// `POST /api/instances/{id}/review`, field `description` (optional).
    Review,
    /// `POST /api/instances/{id}/stop`.
    Stop,
    /// `POST /api/instances/{id}/discard`; `GET` says what is lost.
    Discard,
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

/// What is lost if an agent's work is discarded.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiscardView {
    pub card: Card,
    /// All that is deleted, in a sentence.
    pub lost: String,
    /// Whether work is among it that exists nowhere else.
    pub is_lost: bool,
    /// That work, in words.
    pub work: String,
    pub version: u64,
}

/// What an agent has changed so far.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentDiffView {
    pub card: Card,
    /// Of the commit that is reviewed, or of the worktree as it is.
    pub diff: DiffView,
    /// A coder's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewView>,
}
