//! The board: every agent with its activity (idle, busy, waiting for a person, gone), for `list` and the dashboard.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;
use uuid::Uuid;

use crate::agent;
use crate::error::{Code, Error};
use crate::model::{Instance, InstanceId, Usage};
use crate::process;
use crate::store::{EndedTurn, PullStanding, Reader, StoreError, UsageRows};
use crate::tmux::{Lines, PaneView};
use crate::workflow::Context;
use crate::workflow::activity::{Activity, Rounds, activity};
use crate::workflow::attention::{self, Attention, Facts, attention};
use crate::workflow::delivery::deliver::deliver_for_dead_servers;
use crate::workflow::instance::facts::session_name;
use crate::workflow::lifecycle::reconcile::{Reconciled, reconcile_and_keep};
use crate::workflow::pull::fresh_standings::{look_at_all, look_at_one, tell};
use crate::workflow::terminal::pane::claude_session;
use crate::workflow::terminal::panes::Panes;
use crate::workflow::usage::{priced, try_to_refresh_usage};

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
    /// Messages that the agent has not taken yet.
    #[serde(skip_serializing_if = "is_zero")]
    pub owed_messages: u32,
    /// What it has used itself, and the estimated cost; absent while nothing is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "attention::with_words"
    )]
    attention: Option<Attention>,
    #[serde(skip)]
    event: Option<String>,
}

impl BoardRow {
    /// Returns what the agent needs from a person now.
    pub fn attention(&self) -> Option<Attention> {
        self.attention.clone()
    }

    /// Returns what tells this need of a person apart from the last one of its kind.
    pub fn event(&self) -> Option<&str> {
        self.event.as_deref()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The board, and what reconciling before it has repaired.
#[derive(Debug)]
pub struct ReconciledBoard {
    /// Result of `reconcile`. Its failure does not hide the rows.
    pub reconciled: Result<Reconciled, Error>,
    pub rows: Vec<BoardRow>,
}

/// Reconciles, and returns the board: one tmux call for both, unless something had to be repaired.
pub async fn reconcile_and_list(context: &Context, all: bool) -> Result<ReconciledBoard, Error> {
    if look_at_all(context).await {
        tell(context);
    }
    // Rows are read before panes: an agent that is launched in between must not appear without a pane.
    let known = known(context, all).await?;
    let reconciled = reconcile_and_keep(context).await;
    let delivered = deliver_for_dead_servers(context)
        .await
        .unwrap_or_else(|error| {
            tracing::warn!(code = %error.code, %error, "cannot deliver for dead servers");
            false
        });
    match reconciled {
        Ok((reconciled, Some(panes))) if !delivered => Ok(ReconciledBoard {
            reconciled: Ok(reconciled),
            rows: rows(
                context,
                known,
                &panes,
                &agent::sessions(&context.claude_folder()?),
            ),
        }),
        other => Ok(ReconciledBoard {
            reconciled: other.map(|(reconciled, _)| reconciled),
            rows: with_activity(context, self::known(context, all).await?).await?,
        }),
    }
}

/// Returns all agents, or those that may still act or need a person: one query, one tmux call, one folder read.
pub async fn board(context: &Context, all: bool) -> Result<Vec<BoardRow>, Error> {
    look_at_all(context).await;
    let known = known(context, all).await?;
    with_activity(context, known).await
}

/// Returns all agents that are not over or need a person, and the newest of the others.
pub async fn recent_board(context: &Context, ended: u32) -> Result<Vec<BoardRow>, Error> {
    look_at_all(context).await;
    let known = context.store.read(move |r| {
        let recent = r.recent_instances(ended)?;
        Known::with_those_in_need(r, recent)
    });
    with_activity(context, known.await?).await
}

/// Returns a hash of all Claude Code sessions' states: a different number means that some session changed or ended.
///
/// Reads one folder and starts no process, so it can be polled.
pub fn activity_fingerprint(context: &Context) -> Result<u64, Error> {
    let mut states: Vec<(Uuid, String)> = agent::sessions(&context.claude_folder()?)
        .into_iter()
        .map(|session| (session.session_id, format!("{:?}", session.state)))
        .collect();
    states.sort();
    let mut hasher = DefaultHasher::new();
    states.hash(&mut hasher);
    Ok(hasher.finish())
}

/// Returns what one agent is doing, and what it has used up to now.
pub async fn board_row(context: &Context, instance: Instance) -> Result<BoardRow, Error> {
    try_to_refresh_usage(context, &instance).await;
    look_at_one(context, &instance).await;
    let known = context
        .store
        .read(move |r| {
            let mut known = Known::of(r, vec![instance])?;
            for instance in &known.instances {
                let reviews = r.reviews(&instance.id)?;
                let counted = reviews.iter().filter(|review| review.counts()).count();
                if counted > 0 {
                    let counted = u32::try_from(counted).unwrap_or(u32::MAX);
                    known.rounds.insert(instance.id.clone(), counted);
                }
            }
            Ok(known)
        })
        .await?;
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
    Ok(rows(context, known, &panes, &sessions))
}

/// What the database knows of some agents.
struct Known {
    instances: Vec<Instance>,
    /// Those that are shown only if they need a person.
    only_in_need: HashSet<InstanceId>,
    /// How many review rounds each has used.
    rounds: HashMap<InstanceId, u32>,
    /// How many messages each may not have.
    unconfirmed: HashMap<InstanceId, u32>,
    /// How many messages each has not taken yet.
    owed: HashMap<InstanceId, u32>,
    /// What each has used.
    usage: HashMap<InstanceId, UsageRows>,
    /// Whose failure no person has dealt with.
    open_failures: HashSet<InstanceId>,
    /// Whose end a person has dealt with.
    dismissed: HashSet<InstanceId>,
    /// How the open pull requests of each stand.
    standings: HashMap<InstanceId, PullStanding>,
    /// The turns of those that are in none.
    turns: HashMap<InstanceId, EndedTurn>,
}

impl Known {
    fn of(reader: &Reader<'_>, instances: Vec<Instance>) -> Result<Self, StoreError> {
        Ok(Self {
            only_in_need: HashSet::new(),
            rounds: reader.rounds_used(&instances)?,
            unconfirmed: reader.unconfirmed_messages()?,
            owed: reader.owed_messages()?,
            usage: reader.usage(&instances)?,
            open_failures: reader.open_failures()?,
            dismissed: reader.dismissed()?,
            standings: reader.standings_of(&instances)?,
            turns: reader.ended_turns(&instances)?,
            instances,
        })
    }

    /// Adds those that are over and may need a person.
    fn with_those_in_need(
        reader: &Reader<'_>,
        mut instances: Vec<Instance>,
    ) -> Result<Self, StoreError> {
        let shown: HashSet<&InstanceId> = instances.iter().map(|instance| &instance.id).collect();
        let mut more = reader.may_need_a_person()?;
        more.retain(|instance| !shown.contains(&instance.id));
        let only_in_need = more.iter().map(|instance| instance.id.clone()).collect();
        instances.extend(more);
        instances.sort_by(|one, other| {
            (one.created_at, &one.id.as_str()).cmp(&(other.created_at, &other.id.as_str()))
        });
        Ok(Self {
            only_in_need,
            ..Self::of(reader, instances)?
        })
    }
}

async fn known(context: &Context, all: bool) -> Result<Known, Error> {
    let known = context.store.read(move |r| {
        let instances = r.instances(!all)?;
        if all {
            Known::of(r, instances)
        } else {
            Known::with_those_in_need(r, instances)
        }
    });
    Ok(known.await?)
}

fn rows(
    context: &Context,
    known: Known,
    panes: &Panes,
    sessions: &[agent::LiveSession],
) -> Vec<BoardRow> {
    let mut usage = priced(context, known.usage);
    let count = |counts: &HashMap<InstanceId, u32>, id: &InstanceId| {
        counts.get(id).copied().unwrap_or_default()
    };
    let rows = known.instances.into_iter().map(|instance| {
        let id = &instance.id;
        let activity = activity(&instance, panes, sessions);
        let reviews = known.rounds.get(id).map(|&used| Rounds {
            used,
            most: instance.max_reviews,
        });
        let owed_messages = count(&known.owed, id);
        let facts = Facts {
            instance: &instance,
            activity: &activity,
            rounds: reviews,
            owed_messages,
            is_open_failure: known.open_failures.contains(id),
            is_dismissed: known.dismissed.contains(id),
            standing: known.standings.get(id),
            turn: known.turns.get(id),
        };
        let attention = attention(facts);
        let since = session_mark(&instance, sessions);
        let event = attention
            .as_ref()
            .map(|attention| attention::event(facts, attention, since));
        BoardRow {
            activity,
            reviews,
            unconfirmed_messages: count(&known.unconfirmed, id),
            owed_messages,
            usage: usage.remove(id),
            attention,
            event,
            instance,
        }
    });
    let is_shown = |row: &BoardRow| {
        !known.only_in_need.contains(&row.instance.id)
            || row.attention.as_ref().is_some_and(Attention::is_urgent)
    };
    rows.filter(is_shown).collect()
}

/// Returns the mark that changes whenever the state of an agent's session does.
fn session_mark<'s>(instance: &Instance, sessions: &'s [agent::LiveSession]) -> Option<&'s str> {
    let id = claude_session(instance)?;
    let session = sessions.iter().find(|session| session.session_id == id)?;
    session.state_mark.as_deref()
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

/// Returns the last lines of an agent's terminal; blank ones at its end do not count.
pub async fn tail(context: &Context, instance: &Instance, lines: u32) -> Result<String, Error> {
    let name = session_name(instance)?;
    let shown = context
        .terminals(instance)
        .capture(&name, Lines::History(lines), false)
        .await?;
    let all: Vec<&str> = shown.trim_end().lines().collect();
    let lines = usize::try_from(lines).unwrap_or(usize::MAX);
    Ok(all[all.len().saturating_sub(lines)..].join("\n"))
}

/// Returns what an agent's terminal shows, with colours, and up to so many lines that have scrolled away.
pub async fn capture(
    context: &Context,
    instance: &Instance,
    history: u32,
) -> Result<PaneView, Error> {
    let name = session_name(instance)?;
    Ok(context.terminals(instance).look(&name, history).await?)
}
