//! Messages: text owed to an agent, its delivery states, and why it waits (`WaitReason`).

use serde::Serialize;

use super::{InstanceId, MessageId, Timestamp};
use crate::closed_enum;

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
        /// Typed, and nothing proves that the agent has it. It is never typed again by itself.
        Unconfirmed = "unconfirmed",
        Dropped = "dropped",
    }
);

impl MessageState {
    /// Tells whether delivery still has something to do.
    pub const fn is_open(self) -> bool {
        match self {
            Self::Owed | Self::Typed => true,
            Self::Taken | Self::Unconfirmed | Self::Dropped => false,
        }
    }
}

closed_enum!(
    /// Why a message is not handed over at this moment.
    WaitReason, "reason to wait" {
        AgentEnded = "agent_ended",
        AgentStarting = "agent_starting",
        Busy = "busy",
        /// A headless agent is told at the end of its turn or with its next one.
        NextTurn = "next_turn",
        /// An agent whose terminal can't be reached asks at the end of its turn.
        StopHook = "stop_hook",
        DialogQuestion = "dialog_question",
        DialogOpen = "dialog_open",
        PersonTyping = "person_typing",
        Draft = "draft",
        /// The message itself lies in the input box, and it was not safe to press Enter.
        NotSubmitted = "not_submitted",
        NoInputBox = "no_input_box",
        ShellInTerminal = "shell_in_terminal",
        Proof = "proof",
    }
);

impl WaitReason {
    /// Returns the words for a person, to follow "waits for".
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::AgentEnded => "the agent to be resumed",
            Self::AgentStarting => "the agent to be ready",
            Self::Busy => "the end of its turn",
            Self::NextTurn => "the end of its turn, or its next one",
            Self::StopHook => "the end of its turn (Stop hook), or a look at codex://feedback",
            Self::DialogQuestion => "a person to answer its dialog",
            Self::DialogOpen => "a person to close its dialog",
            Self::PersonTyping => "a person who is typing in its terminal",
            Self::Draft => "the draft in its input box to be sent or deleted",
            Self::NotSubmitted => "a safe moment to press Enter: its text is in the input box",
            Self::NoInputBox => "its input box to be visible",
            Self::ShellInTerminal => "the agent to run again: its terminal shows a shell",
            Self::Proof => "proof that the agent has it",
        }
    }
}

closed_enum!(
    /// What proved that the agent has it.
    TakenBy, "proof of receipt" {
        PromptHook = "prompt_hook",
        StopHook = "stop_hook",
        SessionHook = "session_hook",
        Transcript = "transcript",
        /// The weakest: an agent without hooks showed it after Enter was pressed.
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
    pub waiting_for: Option<WaitReason>,
    pub created_at: Timestamp,
    pub typed_at: Option<Timestamp>,
    pub taken_at: Option<Timestamp>,
}
