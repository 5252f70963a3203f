//! The board, and the column of each agent.

use std::collections::HashMap;

use futures_util::future::join_all;
use shared::agent::Dialog;
use shared::error::Error;
use shared::model::{Instance, InstanceKind, Status, Verdict};
use shared::store::Overview;
use shared::workflow::{self, Activity, Attention, BoardRow, WorkSize};

use crate::app::App;
use crate::view::{
    ApprovalOf, BoardFilter, BoardView, Card, ChoiceView, Column, ColumnKey, Counts, DialogView,
    LastEvent, SizeView, TaskRef,
};

/// How many of the agents that are over are shown, the newest.
const MAX_ENDED: u32 = 60;
/// Of how many agents at once the dialog is read from the terminal.
const MAX_DIALOGS: usize = 20;
/// The longest title, in characters.
const MAX_TITLE_CHARS: usize = 160;

pub(crate) async fn board(app: &App, filter: BoardFilter) -> Result<BoardView, Error> {
    // Before the first look, so that what changes meanwhile is announced.
    let version = app.change_feed.version();
    let rows = workflow::recent_board(&app.context, MAX_ENDED).await?;
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
    let mut cards: Vec<Card> = rows.iter().map(|row| card(app, row, &overview)).collect();
    add_dialogs(app, &rows, &mut cards).await;

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
            cards.sort_by_key(|card| std::cmp::Reverse(card.status_since));
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

/// Looks at the terminals of those who wait on a dialog, all at once.
pub(super) async fn add_dialogs(app: &App, rows: &[BoardRow], cards: &mut [Card]) {
    let asking = rows
        .iter()
        .zip(cards)
        .filter(|(row, _)| matches!(row.activity, Activity::WaitingForPerson { .. }))
        .take(MAX_DIALOGS);
    let looks = asking.map(async |(row, card)| {
        // A terminal that can't be read has no buttons, and the card still says what to do.
        let found = workflow::open_dialog(&app.context, &row.instance).await;
        card.dialog = found.ok().flatten().map(dialog_view);
    });
    join_all(looks).await;
}

fn dialog_view(dialog: Dialog) -> DialogView {
    DialogView {
        fingerprint: dialog.fingerprint(),
        question: dialog.question,
        detail: dialog.detail,
        choices: dialog
            .choices
            .into_iter()
            .filter(|choice| !choice.takes_text)
            .map(|choice| ChoiceView {
                number: choice.number,
                label: choice.label,
            })
            .collect(),
    }
}

/// Returns how many agents are in each column, counted once for each state.
pub(crate) async fn counts(app: &App) -> Result<Counts, Error> {
    let version = app.change_feed.version();
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
        .filter(|(status, _)| status.is_over())
        .map(|(_, count)| count)
        .sum();
    let seen = rows.iter().filter(|row| row.instance.status.is_over());
    all.saturating_sub(u32::try_from(seen.count()).unwrap_or(u32::MAX))
}

/// Returns one agent in short.
pub(super) fn card(app: &App, row: &BoardRow, overview: &Overview) -> Card {
    let instance = &row.instance;
    let size = app.work_sizes.of(&instance.id);
    let attention = row.attention();
    let title_of = |id| overview.task_titles.get(id).cloned().unwrap_or_default();
    Card {
        id: instance.id.clone(),
        kind: instance.kind,
        status: instance.status,
        activity: row.activity.clone(),
        column: column(instance, attention.as_ref()),
        task: instance.task_id.as_ref().map(|id| TaskRef {
            id: id.clone(),
            title: title_of(id),
        }),
        issue_number: instance.issue_number,
        title: title(instance),
        repository: instance.repository.to_string_lossy().into_owned(),
        branch: instance.branch_name.clone(),
        size: size.as_ref().map(|size| SizeView {
            commit: size.commit.as_str().to_owned(),
            additions: size.added,
            deletions: size.removed,
        }),
        approval: approval(instance, size.as_ref(), overview),
        verdict: overview.verdicts.get(&instance.id).copied(),
        round: row.reviews,
        created_at: instance.created_at,
        status_since: instance.status_since,
        last_event: overview
            .last_events
            .get(&instance.id)
            .map(|event| LastEvent {
                name: event.name.clone(),
                at: event.at,
                failed: event.failed,
            }),
        parent: instance.parent_instance_id.clone(),
        reviewer: overview.reviewers.get(&instance.id).cloned(),
        dialog: None,
        need: attention.map(|attention| attention.sentence()),
        owed: row.owed_messages,
        pr_url: instance.pr_url.clone(),
        pr_number: instance.pr_number,
        usage: row.usage.clone(),
    }
}

/// Returns which commit the last review approved, if it did and the present one is known.
fn approval(
    instance: &Instance,
    size: Option<&WorkSize>,
    overview: &Overview,
) -> Option<ApprovalOf> {
    if overview.verdicts.get(&instance.id) != Some(&Verdict::Approved) {
        return None;
    }
    let approved = overview.reviewed_commits.get(&instance.id)?;
    Some(if size?.commit.as_str() == approved {
        ApprovalOf::ThisCommit
    } else {
        ApprovalOf::OlderCommit
    })
}

/// Returns in one line what an agent is about.
fn title(instance: &Instance) -> String {
    if let (InstanceKind::Review, Some(coder)) = (instance.kind, &instance.parent_instance_id) {
        return format!("Reviews {coder}");
    }
    let line = instance.prompt.lines().find(|line| !line.trim().is_empty());
    excerpt(line.unwrap_or_default().trim(), MAX_TITLE_CHARS)
}

/// Returns the beginning of a text, and shows that it was cut.
pub(super) fn excerpt(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

fn column(instance: &Instance, attention: Option<&Attention>) -> ColumnKey {
    if attention.is_some_and(Attention::is_urgent) {
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
    fn excerpts_end_between_characters() {
        assert_eq!(excerpt("日本語", 2), "日本…");
        assert_eq!(excerpt("ab", 2), "ab");
    }
}
