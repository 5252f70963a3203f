//! The vocabulary: what exists and which moves are allowed. No I/O.

mod closed_enum;
pub mod event;
pub mod hidden;
pub mod id;
pub mod instance;
pub mod message;
pub mod phase;
pub mod pull_request;
pub mod review;
pub mod secret;
pub mod secrets;
pub mod status;
pub mod task;
pub mod tdd;
pub mod text;
pub mod timestamp;

pub use closed_enum::UnknownVariant;
pub use event::{EventSource, StatusChange};
pub use id::{InstanceId, InvalidId, MessageId, TaskId};
pub use instance::{BootTime, Instance, InstanceKind, LaunchStep, Origin, ProcessMark};
pub use message::{Message, MessageKind, MessageState, TakenBy, WaitReason};
pub use phase::{Alteration, FileKind, Phase, Ruling, ToolKind};
pub use pull_request::{MergeMethod, NewPullRequest, PullRequest, PullState};
pub use review::{Finding, Review, Severity, Verdict};
pub use secret::Secret;
pub use status::{IllegalTransition, Status, StatusEvent};
pub use task::{Priority, Task, TaskStatus};
pub use tdd::{TddResult, TddRole, TddRun, TddStatus, TddStep, WorktreeInfo};
pub use timestamp::{seconds_since_1970, time_of_seconds};
