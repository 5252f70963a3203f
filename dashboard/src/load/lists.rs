//! Events, reports, and the form that launches an agent.

use std::time::UNIX_EPOCH;

use analysis::{Archive, KEPT, StoredReport};
use shared::error::{Code, Error};
use shared::model::time_of_seconds;
use shared::store::EventQuery;

use super::agent::entry;
use crate::app::App;
use crate::view::{
    AnalysisList, AnalysisSummary, AnalysisView, EventFilter, EventView, EventsView, LaunchForm,
    LaunchView, TaskRef,
};

const EVENTS: u32 = 100;
const BRANCHES: usize = 200;
const READY: u64 = 200;

pub(crate) async fn events(app: &App, filter: EventFilter) -> Result<EventsView, Error> {
    let version = app.changes.version();
    let query = EventQuery {
        instance: filter.instance.clone(),
        name: filter.name.clone(),
        errors_only: filter.errors,
        before: filter.before,
    };
    let mut events = app
        .context
        .store
        .read(move |r| r.events_before(&query, EVENTS + 1))
        .await?;
    let more = events.len() > EVENTS as usize;
    events.truncate(EVENTS as usize);
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
            "The newest {KEPT} are kept; analyze_repository makes a new one."
        ))
    })?;
    Ok(AnalysisView {
        summary: summary(stored),
        report,
    })
}

fn summary(stored: StoredReport) -> AnalysisSummary {
    let made = stored.made.duration_since(UNIX_EPOCH).unwrap_or_default();
    AnalysisSummary {
        id: stored.id,
        scope: stored.scope.name().to_owned(),
        depth: stored.depth.name().to_owned(),
        at: time_of_seconds(made.as_secs()),
        bytes: stored.bytes,
    }
}

/// Returns the form with what can be chosen in it. A repository that is gone leaves it with less.
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
        Some(repository) => repository.branches(BRANCHES).await.unwrap_or_default(),
        None => Vec::new(),
    };
    let ready = match repository.clone() {
        Some(key) => {
            let page = app
                .context
                .store
                .read(move |r| r.tasks_by_place(&key, true, 0, READY));
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
