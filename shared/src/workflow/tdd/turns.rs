//! The event stream of a headless turn, read while the agent writes it.

use crate::agent::{self, StreamEvent};
use crate::error::{Code, Error};
use crate::followed_file::FollowedFile;
use crate::model::InstanceId;
use crate::workflow::Context;

/// The stream of one turn.
pub(super) struct Stream {
    file: FollowedFile,
}

impl Stream {
    pub(super) fn of(context: &Context, id: &InstanceId, turn: u32) -> Self {
        let path = agent::stream_file(&context.turn_records(id), turn);
        Self {
            file: FollowedFile::from_start(path),
        }
    }

    /// Returns the events added since the last call.
    pub(super) fn read(&mut self) -> Result<Vec<StreamEvent>, Error> {
        let lines = self
            .file
            .read_new()
            .map_err(|error| Error::new(Code::Internal, error.to_string()))?;
        Ok(lines.lines().flat_map(agent::parse_stream).collect())
    }
}
