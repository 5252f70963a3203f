//! The panes of agents, wherever their tmux servers are: one call for each socket.

use std::collections::HashMap;

use super::Context;
use crate::model::Instance;
use crate::process;
use crate::tmux::{LaunchId, Life, PaneState, Tmux};

/// What was found on the sockets that some agents' rows name.
#[derive(Debug, Default)]
pub(super) struct Panes {
    /// By socket, then by session. `None`: tmux could not be asked there.
    servers: HashMap<Option<String>, Option<HashMap<String, PaneState>>>,
}

/// How it stands with an agent's terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PaneLife {
    /// tmux has it: its program runs, or ended so.
    Known(Life),
    /// tmux doesn't know it, but the agent's process lives.
    Unreachable,
    /// Neither the session nor the process is there.
    Gone,
    /// tmux could not be asked, and which process it was isn't known.
    Unknown,
}

impl Panes {
    /// Asks each tmux server that has a session of one of these agents.
    pub(super) async fn of(context: &Context, instances: &[&Instance]) -> Self {
        let mut servers = HashMap::new();
        for instance in instances {
            if instance.tmux_session.is_some() && !servers.contains_key(&instance.tmux_socket) {
                let tmux = context.terminals(instance);
                servers.insert(instance.tmux_socket.clone(), agents(&tmux).await);
            }
        }
        Self { servers }
    }

    /// Returns the pane of an agent, if tmux has one that carries the mark of its launch.
    pub(super) fn pane(&self, instance: &Instance) -> Option<&PaneState> {
        let session = instance.tmux_session.as_deref()?;
        let pane = self
            .servers
            .get(&instance.tmux_socket)?
            .as_ref()?
            .get(session)?;
        let launch = pane.launch.as_ref().map(LaunchId::as_str);
        (launch == instance.launch_id.as_deref()).then_some(pane)
    }

    /// Tells how it stands with an agent's terminal. While its process lives it is alive, whatever tmux says.
    pub(super) fn life(&self, instance: &Instance) -> PaneLife {
        if let Some(pane) = self.pane(instance) {
            return PaneLife::Known(pane.life);
        }
        let asked = self
            .servers
            .get(&instance.tmux_socket)
            .is_some_and(Option::is_some);
        match &instance.agent {
            Some(agent) if process::is_alive(agent) => PaneLife::Unreachable,
            None if !asked => PaneLife::Unknown,
            Some(_) | None => PaneLife::Gone,
        }
    }

    /// Tells whether an agent's process lives although the tmux server that had its terminal is gone.
    pub(super) fn is_orphaned(&self, instance: &Instance) -> bool {
        self.life(instance) == PaneLife::Unreachable
            && instance.agent.as_ref().is_some_and(|agent| {
                let parent = process::ancestors(agent.pid).into_iter().next();
                parent.is_none_or(|parent| !parent.name.starts_with("tmux"))
            })
    }
}

async fn agents(tmux: &Tmux) -> Option<HashMap<String, PaneState>> {
    let panes = tmux
        .list()
        .await
        .inspect_err(|error| tracing::warn!(%error, "tmux can't be asked about its sessions"))
        .ok()?;
    let agents = panes.into_iter().filter(|pane| pane.is_agent);
    Some(
        agents
            .map(|pane| (pane.session.to_string(), pane))
            .collect(),
    )
}
