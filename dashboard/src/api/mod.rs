//! REST: the same data as the pages, and everything that can be done.

mod agents;
mod control;
mod pulls;
mod read;

use shared::error::{Code, Error};

use crate::reply::Failure;

pub(crate) use agents::{
    MessageRequest, PublishReply, PublishRequest, ReviewRequest, SentReply, StopReply, launch,
    message, publish, resume, review, stop,
};
pub(crate) use control::{
    ControlReply, ControlRequest, KeysRequest, keys, release_control, take_control,
};
pub(crate) use pulls::{ChangeRequest, MergeRequest, close, merge};
pub(crate) use read::{
    Health, analyses, analysis, board, changes, diff, events, health, instance, instances, pull,
    pulls, screen, tasks, terminal,
};

/// Says that an address can't be used this way. `Allow` says how it can.
pub(crate) fn wrong_method() -> Failure {
    Failure(
        Error::new(
            Code::MethodNotAllowed,
            "this address is not for that method",
        )
        .hint("/api/openapi.json describes what there is."),
    )
}

/// A body without anything in it.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Nothing {}
