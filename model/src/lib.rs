//! The vocabulary: what exists and which moves are allowed. No I/O.

mod activity;
mod closed_enum;
pub mod ending;
pub mod event;
pub mod hidden;
pub mod id;
pub mod instance;
mod instance_kind;
pub mod message;
mod note;
pub mod open_work;
pub mod phase;
mod plural;
pub mod price;
pub mod pull_request;
pub mod review;
pub mod secret;
pub mod secrets;
pub mod status;
pub mod task;
pub mod tdd;
pub mod text;
mod timestamp;
pub mod tokens;
pub mod toolchain;
pub mod usage;

pub use activity::{ActivityItem, ActivityKind};
pub use closed_enum::UnknownVariant;
pub use ending::Ending;
pub use event::{EventSource, StatusChange};
pub use id::{InstanceId, InvalidId, MessageId, TaskId};
pub use instance::{
    BootTime, Instance, LaunchStep, Origin, PermissionMode, ProcessMark, SessionMode,
};
pub use instance_kind::InstanceKind;
pub use message::{Message, MessageKind, MessageState, TakenBy, WaitReason};
pub use note::{Kept, Note, Unsaved};
pub use open_work::{Missing, OpenIssue, OpenWork, OpenWorkSource};
pub use phase::{Alteration, FileKind, Phase, Ruling, ToolKind};
pub use plural::{counted, plural};
pub use price::Price;
pub use pull_request::{
    BaseProblem, MergeMethod, Mergeable, NewPullRequest, PullRequest, PullState,
};
pub use review::{DraftComment, Finding, Review, Severity, Verdict};
pub use secret::Secret;
pub use status::{IllegalTransition, Status, StatusEvent};
pub use task::{Priority, Task, TaskStatus};
pub use tdd::{TddResult, TddRole, TddRun, TddStatus, TddStep, WorktreeInfo};
pub use timestamp::{InvalidTimestamp, Timestamp};
pub use tokens::Tokens;
pub use usage::{ContextSize, ContextUse, ModelUsage, Usage};
