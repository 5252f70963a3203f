//! Who is doing what right now.

use std::collections::HashMap;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::Context;
use super::deliver::deliver_for_unserved;
use super::instance_facts::session_name;
use super::panes::{PaneLife, Panes};
use super::reconcile::{Reconciled, reconcile_and_keep};
use super::terminal::claude_session;
use crate::agent::{self, AgentState};
use crate::error::{Code, Error};
use crate::model::{Instance, InstanceId, Origin, Verdict};
use crate::process;
use crate::tmux::{Life, Lines, PaneView};

/// What an agent is doing at this moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "camelCase")]
pub enum Activity {
    /// At its prompt.
    Idle,
    /// In a turn.
    Busy,
    /// A person must answer something in its terminal.
    WaitingForPerson { on: String },
    /// Its process has ended; `reconcile` will say so in its status.
    Gone,
    /// Its process lives, but tmux doesn't have its terminal on the socket where it was made.
    TerminalUnreachable,
    /// It lives, and doesn't say what it does.
    Unknown,
    /// Its work is over.
    Ended,
}

/// How many review rounds a coder has used, and how many it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rounds {
    pub used: u32,
    pub most: u32,
}

impl Rounds {
    /// Tells whether the next request for a review will be refused.
    pub fn are_used_up(self) -> bool {
        self.used >= self.most
    }
}

/// One agent and what it is doing.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BoardRow {
    #[serde(flatten)]
    pub instance: Instance,
    pub activity: Activity,
    /// Only of coders that have asked for a review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviews: Option<Rounds>,
    /// Messages that were typed without proof that the agent has them.
    #[serde(skip_serializing_if = "is_zero")]
    pub unconfirmed_messages: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// What a person sees who looks: what the look itself has put in order, then the board.
#[derive(Debug)]
pub struct Look {
    /// What `reconcile` did. That it failed hides nothing: the rows are there all the same.
    pub reconciled: Result<Reconciled, Error>,
    pub rows: Vec<BoardRow>,
}

/// Reconciles, and returns the board: one tmux call for both, unless something had to be repaired.
pub async fn look_around(context: &Context, all: bool) -> Result<Look, Error> {
    // Before the panes: an agent that is launched in between must not look as if it had none.
    let known = known(context, all).await?;
    let reconciled = reconcile_and_keep(context).await;
    let delivered = deliver_for_unserved(context).await.unwrap_or_else(|error| {
        tracing::warn!(code = %error.code, %error, "cannot deliver for dead servers");
        false
    });
    match reconciled {
        Ok((reconciled, Some(panes))) if !delivered => Ok(Look {
            reconciled: Ok(reconciled),
            rows: rows(known, &panes, &agent::sessions(&context.claude_folder()?)),
        }),
        other => Ok(Look {
            reconciled: other.map(|(reconciled, _)| reconciled),
            rows: board(context, all).await?,
        }),
    }
}

/// Returns all agents, or those that may still act: one query, one tmux call, one folder read.
pub async fn board(context: &Context, all: bool) -> Result<Vec<BoardRow>, Error> {
    let known = known(context, all).await?;
    with_activity(context, known).await
}

/// Returns all agents that are not over, and the newest of those that are.
pub async fn recent_board(context: &Context, ended: u32) -> Result<Vec<BoardRow>, Error> {
    let known = context
        .store
        .read(move |r| {
            let instances = r.recent_instances(ended)?;
            Ok(Known {
                rounds: r.rounds_used(&instances)?,
                unconfirmed: r.unconfirmed_messages()?,
                instances,
            })
        })
        .await?;
    with_activity(context, known).await
}

/// Returns a number that is another one when some Claude Code session does something else, or has ended.
///
/// One folder is read and nothing started, so it can be asked all the time.
pub fn pulse(context: &Context) -> Result<u64, Error> {
    let mut states: Vec<(Uuid, String)> = agent::sessions(&context.claude_folder()?)
        .into_iter()
        .map(|session| (session.session_id, format!("{:?}", session.state)))
        .collect();
    states.sort();
    let mut hasher = DefaultHasher::new();
    states.hash(&mut hasher);
    Ok(hasher.finish())
}

/// Returns what one agent is doing.
pub async fn board_row(context: &Context, instance: Instance) -> Result<BoardRow, Error> {
    let id = instance.id.clone();
    let (reviews, unconfirmed) = context
        .store
        .read(move |r| Ok((r.reviews(&id)?, r.unconfirmed_messages()?)))
        .await?;
    let counted = reviews
        .iter()
        .filter(|review| review.verdict != Verdict::Lost)
        .count();
    let mut rounds = HashMap::new();
    if counted > 0 {
        rounds.insert(
            instance.id.clone(),
            u32::try_from(counted).unwrap_or(u32::MAX),
        );
    }
    let known = Known {
        instances: vec![instance],
        rounds,
        unconfirmed,
    };
    let mut rows = with_activity(context, known).await?;
    rows.pop()
        .ok_or_else(|| Error::new(Code::Internal, "one agent gives one row"))
}

async fn with_activity(context: &Context, known: Known) -> Result<Vec<BoardRow>, Error> {
    let live: Vec<&Instance> = known
        .instances
        .iter()
        .filter(|instance| instance.status.is_live())
        .collect();
    let panes = Panes::of(context, &live).await;
    let sessions = agent::sessions(&context.claude_folder()?);
    Ok(rows(known, &panes, &sessions))
}

/// What the database knows of some agents.
struct Known {
    instances: Vec<Instance>,
    /// How many review rounds each has used.
    rounds: HashMap<InstanceId, u32>,
    /// How many messages each may not have.
    unconfirmed: HashMap<InstanceId, u32>,
}

async fn known(context: &Context, all: bool) -> Result<Known, Error> {
    let known = context.store.read(move |r| {
        let instances = r.instances(!all)?;
        Ok(Known {
            rounds: r.rounds_used(&instances)?,
            unconfirmed: r.unconfirmed_messages()?,
            instances,
        })
    });
    Ok(known.await?)
}

fn rows(known: Known, panes: &Panes, sessions: &[agent::LiveSession]) -> Vec<BoardRow> {
    let rows = known.instances.into_iter().map(|instance| BoardRow {
        activity: activity(&instance, panes, sessions),
        reviews: known.rounds.get(&instance.id).map(|&used| Rounds {
            used,
            most: instance.max_reviews,
        }),
        unconfirmed_messages: known
            .unconfirmed
            .get(&instance.id)
            .copied()
            .unwrap_or_default(),
        instance,
    });
    rows.collect()
}

fn activity(instance: &Instance, panes: &Panes, sessions: &[agent::LiveSession]) -> Activity {
    if !instance.status.is_live() {
        return Activity::Ended;
    }
    if instance.origin == Origin::Launched {
        match panes.life(instance) {
            PaneLife::Known(Life::Running) => {}
            PaneLife::Unreachable => return Activity::TerminalUnreachable,
            PaneLife::Unknown => return Activity::Unknown,
            PaneLife::Known(_) | PaneLife::Gone => return Activity::Gone,
        }
    }
    let Some(session) = claude_session(instance) else {
        return Activity::Unknown;
    };
    match agent::state_among(sessions, session, instance.agent.as_ref()) {
        AgentState::Idle => Activity::Idle,
        AgentState::Busy => Activity::Busy,
        AgentState::Waiting { on } => Activity::WaitingForPerson {
            on: on.as_str().to_owned(),
        },
        // Its terminal is there, or nobody has launched it: it may be starting, or between two sessions.
        AgentState::Gone | AgentState::Unknown => Activity::Unknown,
    }
}

/// Says what can be done about an agent whose terminal can't be reached although it lives.
pub fn advice_on_terminal(instance: &Instance) -> String {
    let agent = instance.agent.as_ref().map(|agent| agent.pid);
    let server = agent
        .and_then(|agent| process::ancestors(agent).into_iter().next())
        .filter(|parent| parent.name.starts_with("tmux"));
    let id = &instance.id;
    match server {
        Some(server) => format!(
            "`kill -USR1 {}` has tmux make its socket again; `claude-codex stop {id}` ends the agent",
            server.pid
        ),
        None => format!(
            "its tmux server is gone; `claude-codex stop {id}` ends it, `claude-codex resume {id}` brings it back"
        ),
    }
}

/// Returns the command that shows an agent's terminal in the one it is run in.
pub fn attach_argv(context: &Context, instance: &Instance) -> Result<Vec<OsString>, Error> {
    Ok(context
        .terminals(instance)
        .attach_argv(&session_name(instance)?))
}

/// Returns the last lines of an agent's terminal.
pub async fn screen(context: &Context, instance: &Instance, lines: u32) -> Result<String, Error> {
    let name = session_name(instance)?;
    Ok(context
        .terminals(instance)
        .capture(&name, Lines::History(lines), false)
        .await?)
}

/// Returns what an agent's terminal shows, with colours, and up to so many lines that have scrolled away.
pub async fn look(context: &Context, instance: &Instance, history: u32) -> Result<PaneView, Error> {
    let name = session_name(instance)?;
    Ok(context.terminals(instance).look(&name, history).await?)
}
