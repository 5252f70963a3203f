//! One agent with everything about it.

use std::sync::Arc;

use shared::error::Error;
use shared::model::{
    Instance, InstanceId, InstanceKind, Message, MessageState, Origin, Review, Status,
};
use shared::store::{EventQuery, EventRow};
use shared::workflow::{self, Activity, BoardRow};

use super::board::{card, excerpt};
use super::diff::parse_diff;
use crate::app::{App, Shared};
use crate::screen;
use crate::terminal;
use crate::view::{
    Action, ActionKey, AgentDiffView, AgentView, Card, ControlView, FindingView, MessageView,
    RoundView, TerminalView, TimelineEntry,
};

/// How much of the past is on the page.
const EVENTS: u32 = 200;
const MESSAGES: usize = 100;
/// The beginning of a message, in characters.
const EXCERPT: usize = 2_000;
/// The most of a diff that is shown.
pub(super) const DIFF_BYTES: usize = 600_000;

pub(crate) async fn agent(app: &Shared, id: &InstanceId) -> Result<AgentView, Error> {
    let version = app.changes.version();
    let (row, card) = row(app, id).await?;
    let instance = row.instance;
    let wanted = instance.clone();
    let (messages, rounds, mut events) = app
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
            let events = r.events_before(&query, EVENTS)?;
            Ok((r.messages(&wanted.id)?, rounds, events))
        })
        .await?;
    events.reverse();
    let attach = workflow::attach_argv(&app.context, &instance).is_ok();
    let control = control(app, &instance, &row.activity).await?;
    let has_worktree = instance.worktree_path.is_dir();
    let ignored = app.ignored_in(&card.repository);
    Ok(AgentView {
        actions: actions(app, &instance, &rounds, &control),
        card,
        worktree: instance.worktree_path.to_string_lossy().into_owned(),
        has_worktree,
        base_branch: instance.base_branch,
        prompt: instance.prompt,
        note: instance.note,
        ignored,
        timeline: events.into_iter().map(entry).collect(),
        messages: messages
            .iter()
            .skip(messages.len().saturating_sub(MESSAGES))
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
    let card = card(&row, &overview);
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
        excerpt: excerpt(&message.body, EXCERPT),
        at: message.created_at.clone(),
        typed_at: message.typed_at.clone(),
        taken_at: message.taken_at.clone(),
        taken_by: message
            .taken_by
            .filter(|_| message.state == MessageState::Taken),
        waiting_for: message.waiting_for,
    }
}

fn round(review: Review) -> RoundView {
    RoundView {
        round: review.round,
        verdict: review.verdict,
        coder: review.coding_instance_id,
        reviewer: review.review_instance_id,
        commit: review.commit_id,
        description: review.description,
        feedback: review.feedback,
        findings: review
            .findings
            .into_iter()
            .map(|finding| FindingView {
                file: finding.file,
                line: finding.line,
                severity: finding.severity,
                message: finding.message,
            })
            .collect(),
        requested_at: review.requested_at,
        decided_at: review.decided_at,
    }
}

async fn control(
    app: &Shared,
    instance: &Instance,
    activity: &Activity,
) -> Result<ControlView, Error> {
    let why_not = if app.options.read_only {
        Some("this dashboard is read-only")
    } else if instance.tmux_session.is_none() {
        Some("its terminal is not ours: it was started by a person")
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
        controller: terminal::controller(app, &instance.id).await?,
    })
}

/// An agent whose work is over may still have its terminal, until it is put away.
async fn has_terminal(app: &App, instance: &Instance) -> bool {
    let look = workflow::look(&app.context, instance, 0).await;
    look.is_ok_and(|view| !view.dead)
}

/// Says what can be done with an agent now. The workflows decide again when it is done.
fn actions(
    app: &App,
    instance: &Instance,
    rounds: &[Review],
    control: &ControlView,
) -> Vec<Action> {
    let status = instance.status;
    let of_coder = (instance.kind != InstanceKind::Coding)
        .then(|| "only the work of coding agents is reviewed and published".to_owned());
    let live = (!status.is_live()).then(|| format!("it has ended ({status})"));
    let free = match status {
        Status::Running | Status::FeedbackReceived => None,
        other => Some(format!("its status is {other}")),
    };
    let used = rounds
        .iter()
        .filter(|review| review.verdict != shared::model::Verdict::Lost)
        .count();
    let left = (used >= instance.max_reviews as usize)
        .then(|| format!("all {} review rounds are used", instance.max_reviews));
    let ended = match status {
        Status::Failed | Status::Terminated if instance.origin == Origin::Launched => None,
        Status::Failed | Status::Terminated => Some("it was started by a person".to_owned()),
        other => Some(format!("its status is {other}")),
    };
    let read_only = app
        .options
        .read_only
        .then(|| "this dashboard is read-only".to_owned());
    let action = |key: ActionKey, reasons: Vec<Option<String>>| {
        let why_not = read_only
            .clone()
            .or_else(|| reasons.into_iter().flatten().next());
        Action {
            key,
            allowed: why_not.is_none(),
            why_not,
        }
    };
    vec![
        action(ActionKey::Message, vec![live.clone()]),
        action(
            ActionKey::Review,
            vec![of_coder.clone(), live.clone(), free.clone(), left],
        ),
        action(ActionKey::Stop, vec![live.clone()]),
        action(ActionKey::Resume, vec![ended]),
        action(ActionKey::Pull, vec![of_coder, live, free]),
        action(ActionKey::Control, vec![control.why_not.clone()]),
    ]
}

/// Returns what an agent has changed.
pub(crate) async fn agent_diff(app: &Shared, id: &InstanceId) -> Result<AgentDiffView, Error> {
    let (row, card) = row(app, id).await?;
    let context = app.context_of(&row.instance).await;
    let work = workflow::work_diff(&context, &row.instance, DIFF_BYTES).await?;
    let diff = parse_diff(work.base, work.head, &work.diff.text, work.diff.truncated);
    Ok(AgentDiffView { card, diff })
}

/// Returns what an agent's terminal shows, and what has scrolled away.
pub(crate) async fn terminal(
    app: &Shared,
    id: &InstanceId,
    history: u32,
) -> Result<TerminalView, Error> {
    let (row, _) = row(app, id).await?;
    let view = workflow::look(&app.context, &row.instance, history).await?;
    let rows = screen::rows_html(&view.text);
    let scrolled = rows.len().saturating_sub(view.rows as usize);
    let control = control(&Arc::clone(app), &row.instance, &row.activity).await?;
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
