//! Headless agents: those of a TDD run, which take turns and have no prompt that a person sits at.

use super::Context;
use super::agent_files::{self, Briefing, Role};
use crate::agent::{self, Conduct, Session, Template, Turn};
use crate::error::Error;
use crate::git::Repository;
use crate::model::{Instance, InstanceId, InstanceKind, TddRun};

/// Returns the run that an agent belongs to: then it is headless.
pub async fn tdd_run_of(context: &Context, agent: &InstanceId) -> Result<Option<TddRun>, Error> {
    let agent = agent.clone();
    let run = context.store.read(move |r| r.tdd_run_of(&agent)).await?;
    Ok(run)
}

/// Asks for an agent's turn: the coder's that the run is at, or a reviewer's only one.
pub(super) async fn ask_for_turn(
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
pub(super) fn has_turn_under_way(context: &Context, id: &InstanceId) -> Result<bool, Error> {
    let records = context.turn_records(id);
    let number = agent::last_turn(&context.agent_folder(id), &records);
    Ok(number > 0 && agent::turn_end(&records, number)?.is_none())
}
