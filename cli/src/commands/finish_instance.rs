//! `claude-codex finish-instance`: puts an agent away once its last turn is over.

use clap::Args;
use shared::config::Environment;
use shared::model::InstanceId;
use shared::workflow::{self, Context};

use crate::failure::Failure;

/// Put an agent away that has done its work (started by its own server)
#[derive(Debug, Args)]
pub(crate) struct FinishInstanceArgs {
    id: InstanceId,
}

pub(crate) async fn finish_instance(args: &FinishInstanceArgs) -> Result<(), Failure> {
    let context = Context::open(Environment::of_process(), &[]).await?;
    workflow::finish_when_done(&context, &args.id).await?;
    Ok(())
}
