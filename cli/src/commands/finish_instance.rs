//! `claude-codex finish-instance`: ends an agent after its last turn.

use clap::Args;
use shared::config::Environment;
use shared::model::InstanceId;
use shared::workflow::{self, Context};

use crate::failure::Failure;

/// End an agent that has done its work (started by its own server)
#[derive(Debug, Args)]
pub(crate) struct FinishInstanceArgs {
    id: InstanceId,
}

pub(crate) async fn finish_instance(args: &FinishInstanceArgs) -> Result<(), Failure> {
    let context = Context::open(Environment::current(), &[]).await?;
    workflow::finish_when_idle(&context, &args.id).await?;
    Ok(())
}
