//! Text owed to an agent.

use serde::Serialize;

use super::closed_enum::closed_enum;
use super::{InstanceId, MessageId};

closed_enum!(
    /// Why an agent is told something.
    MessageKind, "kind of message" {
        Feedback = "feedback",
        ReviewLost = "review_lost",
        LimitReached = "limit_reached",
        /// From a person, by `claude-codex send`; or news that asks for nothing.
        Note = "note",
    }
);

closed_enum!(
    /// How far a message has come.
    MessageState, "message state" {
        Owed = "owed",
        Typed = "typed",
        Taken = "taken",
        Dropped = "dropped",
    }
);

closed_enum!(
    /// What proved that the agent has it.
    TakenBy, "proof of receipt" {
        PromptHook = "prompt_hook",
        StopHook = "stop_hook",
        SessionHook = "session_hook",
        Transcript = "transcript",
        /// The weakest: an agent without hooks showed it.
        Screen = "screen",
    }
);

/// One text owed to an agent, and where it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    pub id: MessageId,
    pub instance_id: InstanceId,
    pub sender: String,
    pub kind: MessageKind,
    pub body: String,
    pub state: MessageState,
    pub taken_by: Option<TakenBy>,
    pub attempts: u32,
    pub waiting_for: Option<String>,
    pub created_at: String,
    pub typed_at: Option<String>,
    pub taken_at: Option<String>,
}
