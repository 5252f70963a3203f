//! `GET` handlers of the REST API: health, board, agents, diffs, terminals, tasks, pull requests, events, reports.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::error::{Code, Error};

use crate::app::AppState;
use crate::extract::{Id, Number, PathParam, Query};
use crate::load;
use crate::reply::Failure;
use crate::view::{
    ActivityQuery, ActivityView, AgentDiffView, AgentView, AnalysisList, AnalysisView, BoardFilter,
    BoardView, Card, DiffQuery, DiscardView, EventFilter, EventsView, PullFilter, PullView,
    PullsView, TaskFilter, TasksView, TerminalView,
};

type Answer<T> = Result<Json<T>, Failure>;

/// The most lines of scrollback that a request may ask for.
pub(crate) const MAX_HISTORY: u32 = 20_000;

/// The health of the dashboard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Health {
    /// Always `ok`; any problem is an error.
    status: &'static str,
    version: &'static str,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct History {
    history: u32,
}

/// Checks that the database can be read. Anybody may call it, so errors have no details.
pub(crate) async fn health(State(app): State<AppState>) -> Answer<Health> {
    let counted = app.context.store.read(|r| Ok(r.status_counts()?.len()));
    match counted.await {
        Ok(_) => Ok(Json(Health {
            status: "ok",
            version: env!("CARGO_PKG_VERSION"),
        })),
        Err(_) => Err(Error::new(Code::DatabaseUnavailable, "the database can't be read").into()),
    }
}

pub(crate) async fn changes(State(app): State<AppState>) -> Response {
    app.change_feed.stream(app.stop.clone()).into_response()
}

pub(crate) async fn board(
    State(app): State<AppState>,
    Query(filter): Query<BoardFilter>,
) -> Answer<BoardView> {
    Ok(Json(load::board(&app, filter).await?))
}

/// Returns all cards of the board in one list.
pub(crate) async fn instances(
    State(app): State<AppState>,
    Query(filter): Query<BoardFilter>,
) -> Answer<Vec<Card>> {
    let board = load::board(&app, filter).await?;
    let mut cards: Vec<Card> = board
        .columns
        .into_iter()
        .flat_map(|column| column.cards)
        .collect();
    cards.sort_by(|one, other| (&one.created_at, &one.id).cmp(&(&other.created_at, &other.id)));
    Ok(Json(cards))
}

pub(crate) async fn instance(State(app): State<AppState>, Id(id): Id) -> Answer<AgentView> {
    Ok(Json(load::agent(&app, &id).await?))
}

/// Returns what would be lost with an agent's work. Changes nothing.
pub(crate) async fn discarding(State(app): State<AppState>, Id(id): Id) -> Answer<DiscardView> {
    Ok(Json(load::discarding(&app, &id).await?))
}

pub(crate) async fn diff(
    State(app): State<AppState>,
    Id(id): Id,
    Query(query): Query<DiffQuery>,
) -> Answer<AgentDiffView> {
    Ok(Json(load::agent_diff(&app, &id, query).await?))
}

pub(crate) async fn activity(
    State(app): State<AppState>,
    Id(id): Id,
    Query(query): Query<ActivityQuery>,
) -> Answer<ActivityView> {
    Ok(Json(load::activity(&app, &id, &query).await?))
}

pub(crate) async fn screen(
    State(app): State<AppState>,
    Id(id): Id,
    Query(query): Query<History>,
) -> Answer<TerminalView> {
    if query.history > MAX_HISTORY {
        let problem = format!("must be at most {MAX_HISTORY}");
        return Err(Error::argument("history", problem).into());
    }
    Ok(Json(load::terminal(&app, &id, query.history).await?))
}

pub(crate) async fn terminal(State(app): State<AppState>, Id(id): Id) -> Result<Response, Failure> {
    let instance = app.instance(&id).await?;
    Ok(app.terminals.stream(&instance).await?.into_response())
}

pub(crate) async fn tasks(
    State(app): State<AppState>,
    Query(filter): Query<TaskFilter>,
) -> Answer<TasksView> {
    Ok(Json(load::tasks(&app, filter).await?))
}

pub(crate) async fn pulls(
    State(app): State<AppState>,
    Query(filter): Query<PullFilter>,
) -> Answer<PullsView> {
    Ok(Json(load::pulls(&app, filter).await?))
}

pub(crate) async fn pull(
    State(app): State<AppState>,
    Number(number): Number,
    Query(query): Query<DiffQuery>,
) -> Answer<PullView> {
    Ok(Json(load::pull(&app, number, query).await?))
}

pub(crate) async fn events(
    State(app): State<AppState>,
    Query(filter): Query<EventFilter>,
) -> Answer<EventsView> {
    Ok(Json(load::events(&app, filter).await?))
}

pub(crate) async fn analyses(State(app): State<AppState>) -> Json<AnalysisList> {
    Json(load::analyses(&app))
}

pub(crate) async fn analysis(
    State(app): State<AppState>,
    PathParam(id): PathParam,
) -> Answer<AnalysisView> {
    Ok(Json(load::analysis(&app, &id)?))
}
