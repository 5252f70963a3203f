//! Turns of a run's agents: asking for them, and following them to their end.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::PathBuf;

use crate::agent::{self, Conduct, Session, StreamEvent, Template, Turn};
use crate::error::{Code, Error};
use crate::git::Repository;
use crate::model::{Instance, InstanceId, InstanceKind, TddRun};
use crate::workflow::Context;
use crate::workflow::agent_files::{self, Briefing, Role};

/// How much of a stream is read at a time.
const PIECE: u64 = 4 << 20;

/// Asks for an agent's turn: the coder's that the run is at, or a reviewer's only one.
pub(in crate::workflow) async fn ask(
    context: &Context,
    repository: &Repository,
    instance: &Instance,
    tdd: &TddRun,
    session: Session,
    briefing: &Briefing,
) -> Result<(), Error> {
    let records = context.turn_records(&instance.id);
    let folder = context.agent_folder(&instance.id);
    let of_coder;
    let (number, template, task, briefing) = if instance.kind == InstanceKind::Coding {
        of_coder = Briefing {
            round: tdd.current_iteration.to_string(),
            max_rounds: tdd.max_iterations.to_string(),
            ..Briefing::default()
        };
        (tdd.turn, Template::TddCoder, tdd.prompt.as_str(), &of_coder)
    } else {
        let number = agent::last_turn(&folder, &records) + 1;
        let task = instance.prompt.as_str();
        (number, Template::TddReviewer, task, briefing)
    };
    let role = Role {
        template,
        conduct: Conduct::Headless,
        task,
    };
    let prepared =
        agent_files::prepare(context, repository, instance, session, briefing, &role).await?;
    let turn = Turn {
        launch: agent::Launch::read(&prepared.files.launch)?,
        input: prepared.files.input,
        records,
        log: context.log_file(&instance.id),
    };
    agent::ask_for_turn(&folder, number, &turn)?;
    Ok(())
}

/// Tells whether an agent has a turn that has not ended.
pub(in crate::workflow) fn is_under_way(context: &Context, id: &InstanceId) -> Result<bool, Error> {
    let records = context.turn_records(id);
    let number = agent::last_turn(&context.agent_folder(id), &records);
    Ok(number > 0 && agent::turn_end(&records, number)?.is_none())
}

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
