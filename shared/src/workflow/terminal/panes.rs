//! Snapshot of all agents' panes: one tmux call for each socket.

use std::collections::{HashMap, HashSet};

use crate::model::Instance;
use crate::process;
use crate::tmux::{LaunchId, Life, PaneState, Tmux};
use crate::workflow::Context;

/// What was found on the sockets that some agents' rows name.
#[derive(Debug, Default)]
pub(crate) struct Panes {
    /// By socket. `None`: tmux could not be asked there.
    servers: HashMap<Option<String>, Option<Sessions>>,
}

/// What one tmux server has.
#[derive(Debug, Default)]
struct Sessions {
    /// The panes that still have the program which they were made for, by session.
    agents: HashMap<String, PaneState>,
    /// Every session.
    names: HashSet<String>,
}

/// How it stands with an agent's terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PaneLife {
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
    pub(crate) async fn of(context: &Context, instances: &[&Instance]) -> Self {
        let mut servers = HashMap::new();
        for instance in instances {
            if instance.tmux_session.is_some() && !servers.contains_key(&instance.tmux_socket) {
                let tmux = context.terminals(instance);
                servers.insert(instance.tmux_socket.clone(), sessions(&tmux).await);
            }
        }
        Self { servers }
    }

    /// Returns the pane of an agent, if tmux has one that carries the mark of its launch.
    pub(crate) fn pane(&self, instance: &Instance) -> Option<&PaneState> {
        let session = instance.tmux_session.as_deref()?;
        let pane = self
            .servers
            .get(&instance.tmux_socket)?
            .as_ref()?
            .agents
            .get(session)?;
        let launch = pane.launch.as_ref().map(LaunchId::as_str);
        (launch == instance.launch_id.as_deref()).then_some(pane)
    }

    /// Tells how it stands with an agent's terminal. While its process lives it is alive, whatever tmux says.
    pub(crate) fn life(&self, instance: &Instance) -> PaneLife {
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

    /// Tells whether an agent's process lives although its terminal is gone: the tmux server ended, or something else was
    /// started in the pane.
    pub(crate) fn is_orphaned(&self, instance: &Instance) -> bool {
        self.life(instance) == PaneLife::Unreachable
            && (self.has_session(instance)
                || instance.agent.as_ref().is_some_and(|agent| {
                    let parent = process::ancestors(agent.pid).into_iter().next();
                    parent.is_none_or(|parent| !parent.name.starts_with("tmux"))
                }))
    }

    fn has_session(&self, instance: &Instance) -> bool {
        let server = self.servers.get(&instance.tmux_socket);
        let sessions = server.and_then(Option::as_ref);
        sessions
            .zip(instance.tmux_session.as_deref())
            .is_some_and(|(sessions, name)| sessions.names.contains(name))
    }
}

async fn sessions(tmux: &Tmux) -> Option<Sessions> {
    let panes = tmux
        .list()
        .await
        .inspect_err(|error| tracing::warn!(%error, "tmux can't be asked about its sessions"))
        .ok()?;
    let mut sessions = Sessions::default();
    for pane in panes {
        let name = pane.session.to_string();
        sessions.names.insert(name.clone());
        if pane.is_agent {
            sessions.agents.insert(name, pane);
        }
    }
    Some(sessions)
}
