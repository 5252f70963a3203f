//! `claude-codex notify`: tells the person of agents that need them, in a process of its own.

use clap::Args;
use shared::config::Environment;
use shared::model::InstanceId;
use shared::workflow::{self, Context};

use crate::agent_log::log_problem;
use crate::failure::Failure;

/// Tell the person of agents that need them (started by hooks, commands and the dashboard)
#[derive(Debug, Args)]
pub(crate) struct NotifyArgs {
    /// Only about this agent, which may need a moment to come to rest
    id: Option<InstanceId>,
}

pub(crate) async fn notify(args: &NotifyArgs) -> Result<(), Failure> {
    let environment = Environment::current();
    let context = Context::open(environment.clone(), &[]).await?;
    for untold in workflow::notify(&context, args.id.as_ref()).await? {
        log_problem(&environment, untold.instance.as_str(), &untold.problem);
    }
    Ok(())
}
