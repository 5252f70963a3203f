//! Turns of a run's agents: asking for them, and following them to their end.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::PathBuf;

use crate::agent::{self, StreamEvent};
use crate::error::{Code, Error};
use crate::model::InstanceId;
use crate::workflow::Context;

/// How much of a stream is read at a time.
const PIECE: u64 = 4 << 20;

/// What an agent prints, read as it comes.
pub(super) struct Stream {
    path: PathBuf,
    position: u64,
    /// The beginning of a line whose end was not there yet.
    rest: Vec<u8>,
}

impl Stream {
    pub(super) fn of(context: &Context, id: &InstanceId, turn: u32) -> Self {
        Self {
            path: agent::stream_file(&context.turn_records(id), turn),
            position: 0,
            rest: Vec::new(),
        }
    }

    /// Returns what was added since the last time.
    pub(super) fn read(&mut self) -> Result<Vec<StreamEvent>, Error> {
        let unreadable = |source: std::io::Error| {
            Error::new(
                Code::Internal,
                format!("cannot read {}: {source}", self.path.display()),
            )
        };
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unreadable(error)),
        };
        file.seek(SeekFrom::Start(self.position))
            .map_err(unreadable)?;
        let read = file
            .take(PIECE)
            .read_to_end(&mut self.rest)
            .map_err(unreadable)?;
        self.position += read as u64;
        let whole = self.rest.iter().rposition(|byte| *byte == b'\n');
        let rest = self.rest.split_off(whole.map_or(0, |end| end + 1));
        let lines = std::mem::replace(&mut self.rest, rest);
        let lines = String::from_utf8_lossy(&lines);
        Ok(lines.lines().flat_map(agent::parse_stream).collect())
    }
}
