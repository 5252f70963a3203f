//! Loads one agent: timeline, messages, review rounds, possible actions, diff and terminal.

use shared::error::Error;
use shared::model::{Instance, InstanceId, InstanceKind, Message, MessageState, Unsaved};
use shared::store::{EventQuery, EventRow};
use shared::workflow::{self, Activity, AgentAction, BoardRow};

use super::activity::{ITEMS_ON_PAGE, activity_of};
use super::board::{add_dialogs, card, excerpt};
use super::diff::{MAX_DIFF_BYTES, parse_diff};
use super::review::{review, round};
use crate::app::App;
use crate::screen;
use crate::terminal;
use crate::view::{
    Action, ActionKey, ActivityView, AgentDiffView, AgentView, Card, ControlView, DiffQuery,
    DiscardView, MessageView, TerminalView, TimelineEntry,
};

/// How many events the page has; `/events` has all.
const MAX_EVENTS: u32 = 200;
const MAX_MESSAGES: usize = 100;
/// How much of a message the page has.
const MAX_EXCERPT_CHARS: usize = 2_000;

pub(crate) async fn agent(app: &App, id: &InstanceId) -> Result<AgentView, Error> {
    let version = app.change_feed.version();
    let (row, card) = row(app, id).await?;
    let instance = row.instance.clone();
    let wanted = instance.clone();
    let (messages, rounds, mut events, ending) = app
        .context
        .store
        .read(move |r| {
            let rounds = match wanted.kind {
                InstanceKind::Review => r.review_by(&wanted.id)?.into_iter().collect(),
                InstanceKind::Coding | InstanceKind::Planning => r.reviews(&wanted.id)?,
            };
            let query = EventQuery {
                instance: Some(wanted.id.clone()),
                ..EventQuery::default()
            };
            let events = r.events_before(&query, MAX_EVENTS)?;
            let ending = r.ending(&wanted.id)?;
            Ok((r.messages(&wanted.id)?, rounds, events, ending))
        })
        .await?;
    events.reverse();
    let attach = workflow::attach_argv(&app.context, &instance).is_ok();
    let control = control(app, &instance, &row.activity).await?;
    // A repository that is gone does not take the page along.
    let undiscardable = workflow::nothing_to_discard(&app.context, &instance).await;
    let undiscardable = match undiscardable {
        Ok(why_not) => why_not.map(str::to_owned),
        Err(error) => Some(error.message),
    };
    let actions = actions(app, &row, &control, undiscardable.as_deref());
    let has_worktree = instance.worktree_path.is_dir();
    let ignored = app.ignored_in(&card.repository);
    // A transcript lies where the agent writes: one that can't be read does not take the page along.
    let activity = activity_of(app, &instance, None, ITEMS_ON_PAGE).await;
    let activity = activity.unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot read what an agent did");
        ActivityView::default()
    });
    Ok(AgentView {
        actions,
        card,
        worktree: instance.worktree_path.to_string_lossy().into_owned(),
        has_worktree,
        base_branch: instance.base_branch,
        prompt: instance.prompt,
        note: instance.note.sentence(),
        ending,
        ignored,
        activity,
        timeline: events.into_iter().map(entry).collect(),
        messages: messages
            .iter()
            .skip(messages.len().saturating_sub(MAX_MESSAGES))
            .map(message)
            .collect(),
        rounds: rounds.into_iter().map(round).collect(),
        attach_command: attach.then(|| format!("claude-codex attach {id}")),
        control,
        version,
    })
}

/// Returns an agent's row of the board, and its card.
async fn row(app: &App, id: &InstanceId) -> Result<(BoardRow, Card), Error> {
    let instance = app.instance(id).await?;
    let row = workflow::board_row(&app.context, instance).await?;
    let wanted = vec![row.instance.clone()];
    let overview = app.context.store.read(move |r| r.overview(&wanted)).await?;
    let mut cards = [card(app, &row, &overview)];
    add_dialogs(app, std::slice::from_ref(&row), &mut cards).await;
    let [card] = cards;
    Ok((row, card))
}

pub(super) fn entry(event: EventRow) -> TimelineEntry {
    TimelineEntry {
        id: event.id,
        at: event.created_at,
        source: event.source,
        server: event.server,
        name: event.name,
        error_code: event.error_code,
        changes: event.status_changes,
        duration_ms: event.duration_ms,
        parameters: event.parameters,
        result: event.result,
    }
}

fn message(message: &Message) -> MessageView {
    MessageView {
        id: message.id.clone(),
        kind: message.kind,
        state: message.state,
        from: message.sender.clone(),
        excerpt: excerpt(&message.body, MAX_EXCERPT_CHARS),
        at: message.created_at,
        typed_at: message.typed_at,
        taken_at: message.taken_at,
        taken_by: message
            .taken_by
            .filter(|_| message.state == MessageState::Taken),
        waiting_for: message.waiting_for,
    }
}

async fn control(
    app: &App,
    instance: &Instance,
    activity: &Activity,
) -> Result<ControlView, Error> {
    let why_not = if app.options.read_only {
        Some("this dashboard is read-only")
    } else if instance.tmux_session.is_none() {
        Some("a person started it in their own terminal")
    } else if matches!(activity, Activity::Gone | Activity::Ended)
        && !has_terminal(app, instance).await
    {
        Some("its terminal has ended")
    } else {
        None
    };
    Ok(ControlView {
        available: why_not.is_none(),
        why_not: why_not.map(str::to_owned),
        controller: terminal::controller(&app.context, &instance.id).await?,
    })
}

/// An agent whose work is over may still have its terminal, until that is removed.
async fn has_terminal(app: &App, instance: &Instance) -> bool {
    let look = workflow::capture(&app.context, instance, 0).await;
    look.is_ok_and(|view| !view.dead)
}

/// Returns which actions are possible now. The workflows check again when one is taken.
fn actions(
    app: &App,
    row: &BoardRow,
    control: &ControlView,
    undiscardable: Option<&str>,
) -> Vec<Action> {
    let read_only = app
        .options
        .read_only
        .then(|| "this dashboard is read-only".to_owned());
    let action = |key: ActionKey, why_not: Option<String>| {
        let why_not = read_only.clone().or(why_not);
        Action {
            key,
            allowed: why_not.is_none(),
            why_not,
        }
    };
    let of_agent = workflow::actions(row).map(|(what, why_not)| {
        let why_not = why_not.map(|why_not| why_not.to_string());
        let key = match what {
            AgentAction::Message => ActionKey::Message,
            AgentAction::Review => ActionKey::Review,
            AgentAction::Stop => ActionKey::Stop,
            AgentAction::Discard => ActionKey::Discard,
            AgentAction::Resume => ActionKey::Resume,
            AgentAction::Publish => ActionKey::Pull,
        };
        if what == AgentAction::Discard {
            // The branch of a worktree that is gone may have something to lose, too.
            action(key, undiscardable.map(str::to_owned))
        } else {
            action(key, why_not)
        }
    });
    let control = action(ActionKey::Control, control.why_not.clone());
    of_agent.into_iter().chain([control]).collect()
}

/// Loads what would be lost with an agent's work.
pub(crate) async fn discarding(app: &App, id: &InstanceId) -> Result<DiscardView, Error> {
    let version = app.change_feed.version();
    let (row, card) = row(app, id).await?;
    let context = app.context_of(&row.instance).await;
    let lost = workflow::preview_discard(&context, id).await?;
    Ok(DiscardView {
        card,
        work: lost.work.to_string(),
        is_lost: lost.work != Unsaved::default(),
        lost: lost.to_string(),
        version,
    })
}

/// Loads what an agent has changed.
pub(crate) async fn agent_diff(
    app: &App,
    id: &InstanceId,
    query: DiffQuery,
) -> Result<AgentDiffView, Error> {
    let (row, card) = row(app, id).await?;
    let context = app.context_of(&row.instance).await;
    if row.instance.kind == InstanceKind::Coding {
        let (diff, review) = review(app, &context, &row.instance, query).await?;
        return Ok(AgentDiffView {
            card,
            diff,
            review: Some(review),
        });
    }
    let work = workflow::work_diff(&context, &row.instance, MAX_DIFF_BYTES).await?;
    let diff = parse_diff(work.base, work.head, &work.diff.text, work.diff.truncated);
    Ok(AgentDiffView {
        card,
        diff,
        review: None,
    })
}

/// Loads an agent's terminal, with up to `history` lines of scrollback.
pub(crate) async fn terminal(
    app: &App,
    id: &InstanceId,
    history: u32,
) -> Result<TerminalView, Error> {
    let (row, _) = row(app, id).await?;
    let view = workflow::capture(&app.context, &row.instance, history).await?;
    let rows = screen::rows_html(&view.text);
    let scrolled = rows.len().saturating_sub(view.rows as usize);
    let control = control(app, &row.instance, &row.activity).await?;
    Ok(TerminalView {
        id: id.to_string(),
        scrolled: u32::try_from(scrolled).unwrap_or(u32::MAX),
        rows,
        columns: view.columns,
        height: view.rows,
        cursor: terminal::cursor(&view),
        title: view.title,
        alive: !view.dead,
        control,
    })
}
