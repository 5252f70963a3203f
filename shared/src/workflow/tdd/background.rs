//! Background TDD runs: a detached process drives a run for a caller that does not stay, such as the dashboard.

use std::time::Duration;

use super::drive::{TddRequest, record};
use crate::error::{Code, Error};
use crate::file;
use crate::model::{Instance, InstanceId, TddStatus};
use crate::workflow::detached::start_detached;
use crate::workflow::{Context, Run};

/// How long the coder's launch is waited for.
const LAUNCH_TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Begins a run and returns its coder as soon as it stands. What can be found out beforehand is an error.
///
/// The run is recorded first and then taken up by a `tdd resume` of its own: from there on it is like one that was left in
/// the middle, and whatever becomes of that process, it can be taken up again.
pub async fn begin_tdd(
    context: &Context,
    run: &Run,
    request: TddRequest,
) -> Result<Instance, Error> {
    let (repository, id) = record(context, run, request).await?;
    let wanted = id.clone();
    context
        .store
        .write(move |w| w.release_tdd_run(&wanted))
        .await?;
    let arguments = ["tdd", "resume", id.as_str()];
    let started = start_detached(&context.environment, &arguments, repository.root());
    let mut driver = match started {
        Ok(driver) => driver,
        Err(error) => {
            context.store.write(move |w| w.delete_tdd_run(&id)).await?;
            return Err(error);
        }
    };
    let coder = stands(context, &id).await;
    // It is nobody's child once this process ends; until then somebody has to ask how it ended.
    std::thread::spawn(move || driver.wait());
    coder
}

/// Waits until the coder of a run is launched, or says why it was not.
async fn stands(context: &Context, id: &InstanceId) -> Result<Instance, Error> {
    let deadline = tokio::time::Instant::now() + LAUNCH_TIMEOUT;
    loop {
        let wanted = id.clone();
        let (tdd, coder) = context
            .store
            .read(move |r| {
                let stands = r.instance_exists(&wanted)?;
                let coder = stands.then(|| r.instance(&wanted)).transpose()?;
                Ok((r.tdd_run(&wanted)?, coder))
            })
            .await?;
        if let Some(coder) = coder {
            return Ok(coder);
        }
        let why = match (tdd.status, tdd.error) {
            (TddStatus::Failed, Some(why)) => Some(why),
            (TddStatus::Failed, None) => Some("nobody said why".to_owned()),
            (TddStatus::Running | TddStatus::Completed, _) => None,
        };
        let late = tokio::time::Instant::now() >= deadline;
        if let Some(why) = why.or_else(|| late.then(|| "its coder does not stand yet".to_owned())) {
            return Err(
                Error::new(Code::AgentFailed, format!("the run {id}: {why}")).hint(format!(
                    "`claude-codex tdd show {id}` says where it is, `claude-codex tdd resume {id}` takes it up."
                )),
            );
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Keeps a specification that was typed in as a file, for the run to name.
pub fn keep_spec(context: &Context, text: &str) -> Result<std::path::PathBuf, Error> {
    let folder = context.state_dir().join("specs");
    let path = folder.join(format!("{}.md", uuid::Uuid::new_v4().simple()));
    file::write_private(&path, text).map_err(|source| {
        Error::new(
            Code::DatabaseUnavailable,
            format!(
                "cannot keep the specification in {}: {source}",
                path.display()
            ),
        )
        .hint("Make the state folder writable, or set CODEX_STATE_DIR to one that is.")
    })?;
    Ok(path)
}
