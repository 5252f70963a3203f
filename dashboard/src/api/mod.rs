//! Handlers of the REST API: the data of the pages, and all actions.

mod agents;
mod answer;
mod control;
mod pulls;
mod read;
mod review;
mod tasks;

pub(crate) use agents::{
    DiscardReply, DiscardRequest, LaunchReply, MessageRequest, PublishReply, PublishRequest,
    ReviewRequest, SentReply, StopReply, discard, launch, message, publish, resume, review, stop,
};
pub(crate) use answer::{AnswerReply, AnswerRequest, answer};
pub(crate) use control::{
    ControlReply, ControlRequest, KeysRequest, keys, release_control, take_control,
};
pub(crate) use pulls::{ChangeRequest, MergeRequest, close, merge, reopen, resolve, update};
pub(crate) use read::{
    Health, MAX_HISTORY, activity, analyses, analysis, board, changes, diff, discarding, events,
    health, instance, instances, pull, pulls, screen, tasks, terminal,
};
pub(crate) use review::{
    ApproveReply, ApproveRequest, ChangesReply, ChangesRequest, CommentRequest, approve,
    approve_pull, comment, comments, pull_comment, pull_comments, remove_comment,
    remove_pull_comment, request_changes, request_pull_changes,
};
pub(crate) use tasks::{
    MoveRequest, TaskRequest, add_task, cancel_task, close_task, edit_task, reopen_task,
};

/// An empty body.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Nothing {}
