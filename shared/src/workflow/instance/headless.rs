//! Turns of headless agents, which belong to a TDD run and run one `claude -p` for each turn.

use super::agent_files;
use super::agent_files::{Briefing, Role};
use crate::agent::{self, Session, Template, Turn};
use crate::error::{Code, Error};
use crate::git::Repository;
use crate::model::{Instance, InstanceId, InstanceKind, TddRun};
use crate::workflow::Context;

/// Returns the TDD run of a headless agent.
pub(crate) async fn tdd_run_of(context: &Context, agent: &InstanceId) -> Result<TddRun, Error> {
    let wanted = agent.clone();
    let run = context.store.read(move |r| r.tdd_run_of(&wanted)).await?;
    run.ok_or_else(|| {
        Error::new(
            Code::Internal,
            format!("`{agent}` is headless, but its TDD run is not recorded"),
        )
    })
}

/// Asks for an agent's turn: the coder's that the run is at, or a reviewer's only one.
pub(crate) async fn ask_for_turn(
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
    let role = Role { template, task };
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
pub(crate) fn has_turn_under_way(context: &Context, id: &InstanceId) -> Result<bool, Error> {
    let records = context.turn_records(id);
    let number = agent::last_turn(&context.agent_folder(id), &records);
    Ok(number > 0 && agent::turn_end(&records, number)?.is_none())
}
