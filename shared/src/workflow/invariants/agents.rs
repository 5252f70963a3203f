//! Agents whose status and processes contradict each other.

use super::violation::{Invariant, InvariantViolation, may_run};
use crate::error::Error;
use crate::model::{Instance, LaunchStep, Origin, Status};
use crate::process;
use crate::tmux::Life;
use crate::workflow::Context;
use crate::workflow::terminal::panes::{PaneLife, Panes};

pub(super) async fn violations(
    context: &Context,
    instances: &[Instance],
) -> Result<Vec<InvariantViolation>, Error> {
    let launched: Vec<&Instance> = instances
        .iter()
        .filter(|instance| instance.origin == Origin::Launched)
        .collect();
    let panes = Panes::of(context, &launched).await;
    let mut found = Vec::new();
    for instance in launched {
        // Somebody is at work on it right now.
        if instance.owner.as_ref().is_some_and(process::is_alive) {
            continue;
        }
        found.extend(problems(instance, &panes).into_iter().map(|problem| {
            InvariantViolation::new(Invariant::StatusIsTrue, instance.id.to_string(), problem)
        }));
    }
    Ok(found)
}

fn problems(instance: &Instance, panes: &Panes) -> Vec<String> {
    let status = instance.status;
    let life = panes.life(instance);
    let runs = matches!(life, PaneLife::Known(Life::Running) | PaneLife::Unreachable);
    let mut problems = Vec::new();
    if instance.owner.is_some() {
        problems.push("is owned by a process that has ended".to_owned());
    }
    if instance.launch_step != LaunchStep::Ready {
        problems.push(format!("its launch stopped at {}", instance.launch_step));
    }
    if status.is_live() && matches!(life, PaneLife::Gone | PaneLife::Known(Life::Exited { .. })) {
        problems.push(format!("is {status}, but its process is gone"));
    }
    if !may_run(instance) && (runs || panes.pane(instance).is_some()) {
        problems.push(format!("is {status}, but its session or process lives"));
    }
    if status.is_live() && !instance.worktree_path.exists() {
        problems.push(format!("is {status}, but its worktree is gone"));
    }
    if status == Status::PrCreated && instance.pr_number.is_none() {
        problems.push("is published, but has no pull request".to_owned());
    }
    problems
}
