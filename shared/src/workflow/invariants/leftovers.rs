//! Sessions, paste buffers, processes and files of agents that have ended.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::violation::{Invariant, InvariantViolation, may_run};
use crate::agent;
use crate::error::Error;
use crate::model::Instance;
use crate::process;
use crate::tmux::LaunchId;
use crate::workflow::Context;

pub(super) async fn violations(
    context: &Context,
    instances: &[Instance],
) -> Result<Vec<InvariantViolation>, Error> {
    let running: HashSet<&str> = instances
        .iter()
        .filter(|instance| may_run(instance) || is_owned(instance))
        .filter_map(|instance| instance.launch_id.as_deref())
        .collect();
    let mut found = sessions(context, instances, &running).await?;
    found.extend(processes(instances, &running));
    found.extend(agent_folders(context, instances));
    Ok(found)
}

fn is_owned(instance: &Instance) -> bool {
    instance.owner.as_ref().is_some_and(process::is_alive)
}

/// Looks at each tmux server that some row names. Sessions without a mark of ours are somebody else's.
async fn sessions(
    context: &Context,
    instances: &[Instance],
    running: &HashSet<&str>,
) -> Result<Vec<InvariantViolation>, Error> {
    let ours: HashSet<&str> = instances
        .iter()
        .filter_map(|instance| instance.launch_id.as_deref())
        .collect();
    let mut servers = HashMap::new();
    for instance in instances {
        servers
            .entry(instance.tmux_socket.clone())
            .or_insert_with(|| context.terminals(instance));
    }
    let mut found = Vec::new();
    for tmux in servers.values() {
        for pane in tmux.list().await? {
            let launch = pane.launch.as_ref().map(LaunchId::as_str);
            if launch.is_some_and(|launch| ours.contains(launch) && !running.contains(launch)) {
                found.push(left("session", pane.session.to_string()));
            }
        }
        found.extend(
            tmux.own_buffers()
                .await?
                .into_iter()
                .map(|name| left("paste buffer", name)),
        );
    }
    Ok(found)
}

/// Finds processes that carry the mark of a launch which is over.
fn processes(instances: &[Instance], running: &HashSet<&str>) -> Vec<InvariantViolation> {
    let over: HashSet<&str> = instances
        .iter()
        .filter_map(|instance| instance.launch_id.as_deref())
        .filter(|launch| !running.contains(launch))
        .collect();
    process::started_with(agent::LAUNCH_ID)
        .into_iter()
        .filter(|(pid, launch)| over.contains(launch.as_str()) && *pid != std::process::id())
        .map(|(pid, _)| left("process", pid.to_string()))
        .collect()
}

fn agent_folders(context: &Context, instances: &[Instance]) -> Vec<InvariantViolation> {
    let expected: HashSet<_> = instances
        .iter()
        .filter(|instance| may_run(instance) || is_owned(instance))
        .map(|instance| context.agent_folder(&instance.id))
        .collect();
    let folder = context.state_dir().join("agents");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| !expected.contains(path) && !is_kept(path))
        .map(|path| left("agent folder", path.display().to_string()))
        .collect()
}

/// Turns of a TDD run are kept for `tdd show`.
fn is_kept(folder: &Path) -> bool {
    folder.join("turn-1.json").exists()
}

fn left(what: &str, subject: String) -> InvariantViolation {
    let problem = format!("{what} of an agent that has ended");
    InvariantViolation::new(Invariant::NothingLeftBehind, subject, problem)
}
