//! Loads events, analysis reports and the launch form.

use analysis::{Archive, MAX_REPORTS, StoredReport};
use shared::error::{Code, Error};
use shared::store::EventQuery;

use super::agent::entry;
use crate::app::App;
use crate::view::{
    AnalysisList, AnalysisSummary, AnalysisView, EventFilter, EventView, EventsView, LaunchForm,
    LaunchView, TaskRef,
};

const PAGE_SIZE: u32 = 100;
const MAX_BRANCHES: usize = 200;
const MAX_READY_TASKS: u64 = 200;

pub(crate) async fn events(app: &App, filter: EventFilter) -> Result<EventsView, Error> {
    let version = app.change_feed.version();
    let query = EventQuery {
        instance: filter.instance.clone(),
        name: filter.name.clone(),
        errors_only: filter.errors,
        before: filter.before,
    };
    let mut events = app
        .context
        .store
        .read(move |r| r.events_before(&query, PAGE_SIZE + 1))
        .await?;
    let more = events.len() > PAGE_SIZE as usize;
    events.truncate(PAGE_SIZE as usize);
    let last = events.last().map(|event| event.id);
    let events = events.into_iter().map(|event| EventView {
        instance: event.instance_id.clone(),
        entry: entry(event),
    });
    Ok(EventsView {
        events: events.collect(),
        filter,
        next_before: last.filter(|_| more),
        version,
    })
}

pub(crate) fn analyses(app: &App) -> AnalysisList {
    let reports = Archive::in_state(app.context.state_dir()).list();
    AnalysisList {
        reports: reports.into_iter().map(summary).collect(),
    }
}

pub(crate) fn analysis(app: &App, id: &str) -> Result<AnalysisView, Error> {
    let found = Archive::in_state(app.context.state_dir()).read(id);
    let (stored, report) = found.ok_or_else(|| {
        Error::new(Code::AnalysisNotFound, "there is no such report").hint(format!(
            "Only the newest {MAX_REPORTS} are kept; analyze_repository makes a new one."
        ))
    })?;
    Ok(AnalysisView {
        summary: summary(stored),
        report,
    })
}

fn summary(stored: StoredReport) -> AnalysisSummary {
    AnalysisSummary {
        id: stored.id,
        scope: stored.scope.as_str().to_owned(),
        depth: stored.depth.name().to_owned(),
        at: stored.made.into(),
        bytes: stored.bytes,
    }
}

/// Loads the launch form with its choices. A repository that is gone has no branches.
pub(crate) async fn launch(
    app: &App,
    form: LaunchForm,
    problem: Option<Error>,
) -> Result<LaunchView, Error> {
    let repositories = app.repositories().await?;
    let chosen = app.choose(&repositories, form.repository.as_deref());
    let repository = chosen.ok().flatten();
    let context = match &repository {
        Some(path) => app.context.in_repository(path.as_ref()).await.ok(),
        None => None,
    };
    let branches = match context.as_ref().and_then(|there| there.repository().ok()) {
        Some(repository) => repository.branches(MAX_BRANCHES).await.unwrap_or_default(),
        None => Vec::new(),
    };
    let ready = match repository.clone() {
        Some(key) => {
            let page = app
                .context
                .store
                .read(move |r| r.tasks_by_place(&key, true, 0, MAX_READY_TASKS));
            page.await?.tasks
        }
        None => Vec::new(),
    };
    let settings = context.as_ref().unwrap_or(&app.context).settings();
    Ok(LaunchView {
        repositories,
        repository,
        branches,
        ready_tasks: ready
            .into_iter()
            .map(|task| TaskRef {
                id: task.id,
                title: task.title,
            })
            .collect(),
        default_max_reviews: settings.review.max_review_cycles,
        default_require_review: settings.coding.require_review,
        form,
        problem,
    })
}
