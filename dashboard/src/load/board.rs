//! The board, and the column of each agent.

use std::collections::HashMap;

use shared::error::Error;
use shared::model::{Instance, InstanceKind, Status};
use shared::store::Overview;
use shared::workflow::{self, Activity, BoardRow, Rounds};

use crate::app::App;
use crate::view::{BoardFilter, BoardView, Card, Column, ColumnKey, Counts, LastEvent, TaskRef};

/// How many of the agents that are over are shown, the newest.
const ENDED: u32 = 60;
/// The longest title, in characters.
const TITLE: usize = 160;

pub(crate) async fn board(app: &App, filter: BoardFilter) -> Result<BoardView, Error> {
    // Before the first look, so that what changes meanwhile is announced.
    let version = app.changes.version();
    let rows = workflow::recent_board(&app.context, ENDED).await?;
    let instances: Vec<Instance> = rows.iter().map(|row| row.instance.clone()).collect();
    let (overview, statuses) = app
        .context
        .store
        .read(move |r| Ok((r.overview(&instances)?, r.status_counts()?)))
        .await?;
    let mut repositories: Vec<String> = rows
        .iter()
        .map(|row| row.instance.repository.to_string_lossy().into_owned())
        .collect();
    repositories.sort();
    repositories.dedup();
    let ignored = app
        .repositories()
        .await?
        .iter()
        .filter(|path| {
            filter
                .repository
                .as_ref()
                .is_none_or(|wanted| wanted == *path)
        })
        .filter_map(|path| app.ignored_in(path))
        .collect();
    let cards: Vec<Card> = rows.iter().map(|row| card(row, &overview)).collect();

    let mut counts = Counts::default();
    for card in &cards {
        *counts.of_mut(card.column) += 1;
    }
    let unseen = unseen_ended(&rows, &statuses);
    counts.ended += unseen;
    let filtered = filter.repository.is_some() || filter.kind.is_some();
    let shown: Vec<Card> = cards
        .into_iter()
        .filter(|card| wanted(card, &filter))
        .collect();
    let columns = ColumnKey::ALL.map(|key| {
        let mut cards: Vec<Card> = shown
            .iter()
            .filter(|card| card.column == key)
            .cloned()
            .collect();
        // What has come to rest last is looked for first; what is at work stays where it is.
        if matches!(key, ColumnKey::Published | ColumnKey::Ended) {
            cards.sort_by(|one, other| other.status_since.cmp(&one.status_since));
        }
        Column {
            key,
            title: key.title().to_owned(),
            cards,
            more: if key == ColumnKey::Ended && !filtered {
                unseen
            } else {
                0
            },
        }
    });
    app.counts.keep(version, counts);
    Ok(BoardView {
        columns: columns.into(),
        counts,
        repositories,
        ignored,
        filter,
        version,
        read_only: app.options.read_only,
    })
}

/// Returns how many agents are in each column, counted once for each state.
pub(crate) async fn counts(app: &App) -> Result<Counts, Error> {
    let version = app.changes.version();
    if let Some(counts) = app.counts.of(version) {
        return Ok(counts);
    }
    let view = board(app, BoardFilter::default()).await?;
    Ok(view.counts)
}

fn wanted(card: &Card, filter: &BoardFilter) -> bool {
    filter
        .repository
        .as_ref()
        .is_none_or(|repository| *repository == card.repository)
        && filter.kind.is_none_or(|kind| kind == card.kind)
}

/// Counts the agents that are over and not among the rows.
fn unseen_ended(rows: &[BoardRow], statuses: &HashMap<Status, u32>) -> u32 {
    let all: u32 = statuses
        .iter()
        .filter(|(status, _)| is_over(**status))
        .map(|(_, count)| count)
        .sum();
    let seen = rows.iter().filter(|row| is_over(row.instance.status));
    all.saturating_sub(u32::try_from(seen.count()).unwrap_or(u32::MAX))
}

fn is_over(status: Status) -> bool {
    match status {
        Status::PrMerged
        | Status::PrClosed
        | Status::Completed
        | Status::Failed
        | Status::Terminated => true,
        Status::Started
        | Status::Running
        | Status::WaitingReview
        | Status::UnderReview
        | Status::FeedbackReceived
        | Status::CreatingPr
        | Status::PrCreated => false,
    }
}

/// Returns one agent in short.
pub(super) fn card(row: &BoardRow, overview: &Overview) -> Card {
    let instance = &row.instance;
    let owed = overview.owed.get(&instance.id).copied().unwrap_or(0);
    let need = need(instance, &row.activity, row.reviews, owed);
    let column = column(instance, need.as_ref());
    let title_of = |id| overview.task_titles.get(id).cloned().unwrap_or_default();
    Card {
        id: instance.id.clone(),
        kind: instance.kind,
        status: instance.status,
        activity: row.activity.clone(),
        column,
        task: instance.task_id.as_ref().map(|id| TaskRef {
            id: id.clone(),
            title: title_of(id),
        }),
        issue_number: instance.issue_number,
        title: title(instance),
        repository: instance.repository.to_string_lossy().into_owned(),
        branch: instance.branch_name.clone(),
        round: row.reviews,
        created_at: instance.created_at.clone(),
        status_since: instance.status_since.clone(),
        last_event: overview
            .last_events
            .get(&instance.id)
            .map(|event| LastEvent {
                name: event.name.clone(),
                at: event.at.clone(),
                failed: event.failed,
            }),
        parent: instance.parent_instance_id.clone(),
        reviewer: overview.reviewers.get(&instance.id).cloned(),
        need: need.map(|need| need.what),
        owed,
        pr_url: instance.pr_url.clone(),
        pr_number: instance.pr_number,
    }
}

/// Returns in one line what an agent is about.
fn title(instance: &Instance) -> String {
    if let (InstanceKind::Review, Some(coder)) = (instance.kind, &instance.parent_instance_id) {
        return format!("Reviews {coder}");
    }
    let line = instance.prompt.lines().find(|line| !line.trim().is_empty());
    excerpt(line.unwrap_or_default().trim(), TITLE)
}

/// Returns the beginning of a text, and shows that it was cut.
pub(super) fn excerpt(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// What a person should do, and whether the agent waits for it.
struct Need {
    what: String,
    waits: bool,
}

fn need(
    instance: &Instance,
    activity: &Activity,
    rounds: Option<Rounds>,
    owed: u32,
) -> Option<Need> {
    let waits = |what: String| Some(Need { what, waits: true });
    if let Activity::WaitingForPerson { on } = activity {
        return waits(format!("Answer its {on} in the terminal."));
    }
    let note = instance.note.as_deref().unwrap_or_default();
    match instance.status {
        // Programs that don't say what they do can't be seen to have come to rest.
        Status::Running if matches!(activity, Activity::Idle | Activity::Unknown) => rounds
            .filter(|rounds| rounds.are_used_up())
            .and_then(|rounds| {
                waits(format!(
                    "Its review rounds are used up ({} of {}): publish it as it is, tell it what to do, or stop it.",
                    rounds.used, rounds.most
                ))
            }),
        Status::Failed if owed > 0 => waits(format!(
            "It failed with {owed} {} owed: resume it, or let it be.",
            if owed == 1 { "message" } else { "messages" }
        )),
        status if is_over(status) && is_kept(note) => Some(Need {
            what: format!("Look at its work before it is forgotten: {note}."),
            // A branch can wait for ever; files in a worktree stand in the way of what comes next.
            waits: instance.worktree_path.exists(),
        }),
        _ => None,
    }
}

/// Tells whether work was kept because it exists nowhere else, and not by policy.
fn is_kept(note: &str) -> bool {
    note.split("; ")
        .any(|part| part.starts_with("kept ") && !part.starts_with("kept by policy"))
}

fn column(instance: &Instance, need: Option<&Need>) -> ColumnKey {
    if need.is_some_and(|need| need.waits) {
        return ColumnKey::Waiting;
    }
    match instance.status {
        Status::WaitingReview | Status::UnderReview => ColumnKey::Review,
        Status::Started | Status::Running | Status::FeedbackReceived | Status::CreatingPr => {
            if instance.kind == InstanceKind::Review {
                ColumnKey::Review
            } else {
                ColumnKey::Working
            }
        }
        Status::PrCreated => ColumnKey::Published,
        Status::PrMerged
        | Status::PrClosed
        | Status::Completed
        | Status::Failed
        | Status::Terminated => ColumnKey::Ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_work_is_told_from_policy() {
        assert!(is_kept("kept 2 uncommitted files on codex/a in /w/a"));
        assert!(is_kept(
            "the agent was killed by signal 9; kept the branch codex/a: 1 of its commits are nowhere else"
        ));
        assert!(!is_kept("kept by policy: /w/a"));
        assert!(!is_kept("its session is gone"));
        assert!(!is_kept(""));
    }

    #[test]
    fn excerpts_end_between_characters() {
        assert_eq!(excerpt("日本語", 2), "日本…");
        assert_eq!(excerpt("ab", 2), "ab");
    }
}
