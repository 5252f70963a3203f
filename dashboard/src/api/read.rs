//! Looking.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::error::{Code, Error};

use crate::app::Shared;
use crate::reply::{Ask, Failure, Id, Number, Segment};
use crate::view::{
    AgentDiffView, AgentView, AnalysisList, AnalysisView, BoardFilter, BoardView, Card,
    EventFilter, EventsView, PullFilter, PullView, PullsView, TaskFilter, TasksView, TerminalView,
};
use crate::{changes as live, load, terminal as terminals};

type Answer<T> = Result<Json<T>, Failure>;

/// The most that can be asked of what has scrolled away.
const MOST_HISTORY: u32 = 20_000;

/// Whether the dashboard works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Health {
    /// `ok`; anything else comes as an error.
    status: &'static str,
    version: &'static str,
}

/// Which repository's things to show.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Of {
    repository: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct History {
    history: u32,
}

/// Tells that the database can be read. It tells nothing else: anybody may ask.
pub(crate) async fn health(State(app): State<Shared>) -> Answer<Health> {
    let looked = app.context.store.read(|r| Ok(r.status_counts()?.len()));
    match looked.await {
        Ok(_) => Ok(Json(Health {
            status: "ok",
            version: env!("CARGO_PKG_VERSION"),
        })),
        Err(_) => Err(Error::new(Code::DatabaseUnavailable, "the database can't be read").into()),
    }
}

pub(crate) async fn changes(State(app): State<Shared>) -> Response {
    live::stream(&app).into_response()
}

pub(crate) async fn board(
    State(app): State<Shared>,
    Ask(filter): Ask<BoardFilter>,
) -> Answer<BoardView> {
    Ok(Json(load::board(&app, filter).await?))
}

/// All cards of the board in one list.
pub(crate) async fn instances(
    State(app): State<Shared>,
    Ask(filter): Ask<BoardFilter>,
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

pub(crate) async fn instance(State(app): State<Shared>, Id(id): Id) -> Answer<AgentView> {
    Ok(Json(load::agent(&app, &id).await?))
}

pub(crate) async fn diff(State(app): State<Shared>, Id(id): Id) -> Answer<AgentDiffView> {
    Ok(Json(load::agent_diff(&app, &id).await?))
}

pub(crate) async fn screen(
    State(app): State<Shared>,
    Id(id): Id,
    Ask(asked): Ask<History>,
) -> Answer<TerminalView> {
    if asked.history > MOST_HISTORY {
        let problem = format!("is a number up to {MOST_HISTORY}");
        return Err(Error::argument("history", problem).into());
    }
    Ok(Json(load::terminal(&app, &id, asked.history).await?))
}

pub(crate) async fn terminal(State(app): State<Shared>, Id(id): Id) -> Result<Response, Failure> {
    Ok(terminals::stream(&app, &id).await?.into_response())
}

pub(crate) async fn tasks(
    State(app): State<Shared>,
    Ask(filter): Ask<TaskFilter>,
) -> Answer<TasksView> {
    Ok(Json(load::tasks(&app, filter).await?))
}

pub(crate) async fn pulls(
    State(app): State<Shared>,
    Ask(filter): Ask<PullFilter>,
) -> Answer<PullsView> {
    Ok(Json(load::pulls(&app, filter).await?))
}

pub(crate) async fn pull(
    State(app): State<Shared>,
    Number(number): Number,
    Ask(of): Ask<Of>,
) -> Answer<PullView> {
    Ok(Json(
        load::pull(&app, of.repository.as_deref(), number).await?,
    ))
}

pub(crate) async fn events(
    State(app): State<Shared>,
    Ask(filter): Ask<EventFilter>,
) -> Answer<EventsView> {
    Ok(Json(load::events(&app, filter).await?))
}

pub(crate) async fn analyses(State(app): State<Shared>) -> Json<AnalysisList> {
    Json(load::analyses(&app))
}

pub(crate) async fn analysis(
    State(app): State<Shared>,
    Segment(id): Segment,
) -> Answer<AnalysisView> {
    Ok(Json(load::analysis(&app, &id)?))
}
