//! Handlers of the HTML pages and assets: load a view, render it.

use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, ETAG, HeaderMap, IF_NONE_MATCH};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::app::{App, AppState};
use crate::extract::{Id, Number, PageRequest, PathParam, Query};
use crate::reply::{Failure, html, not_found};
use crate::view::{
    BoardFilter, Counts, DiffQuery, EventFilter, Frame, LaunchForm, PullFilter, Section, TaskFilter,
};
use crate::{assets, load, pages};

/// How many lines of scrollback the terminal's page has.
const HISTORY_LINES: u32 = 2_000;

type Page = Result<Response, Failure>;

fn frame(app: &App, section: Section, request: PageRequest, version: u64) -> Frame {
    Frame {
        fragment: request.fragment,
        done: request.done,
        version,
        ..app.frame(section, request.url)
    }
}

fn with_counts(frame: Frame, counts: Counts) -> Frame {
    Frame {
        counts: Some(counts),
        ..frame
    }
}

/// Returns the frame with the counts: every title says how many agents wait.
async fn counted(app: &App, section: Section, request: PageRequest, version: u64) -> Frame {
    let frame = frame(app, section, request, version);
    match load::counts(app).await {
        Ok(counts) => with_counts(frame, counts),
        // The page itself may still load.
        Err(_) => frame,
    }
}

pub(crate) async fn board(
    State(app): State<AppState>,
    request: PageRequest,
    Query(filter): Query<BoardFilter>,
) -> Page {
    let view = load::board(&app, filter).await?;
    let frame = with_counts(
        frame(&app, Section::Board, request, view.version),
        view.counts,
    );
    Ok(html(&pages::board(&view, &frame)))
}

pub(crate) async fn agent(State(app): State<AppState>, request: PageRequest, Id(id): Id) -> Page {
    let view = load::agent(&app, &id).await?;
    let frame = counted(&app, Section::Board, request, view.version).await;
    Ok(html(&pages::agent(&view, &frame)))
}

pub(crate) async fn discard(State(app): State<AppState>, request: PageRequest, Id(id): Id) -> Page {
    let view = load::discarding(&app, &id).await?;
    let frame = counted(&app, Section::Board, request, view.version).await;
    Ok(html(&pages::discard(&view, &frame)))
}

pub(crate) async fn agent_diff(
    State(app): State<AppState>,
    request: PageRequest,
    Id(id): Id,
    Query(query): Query<DiffQuery>,
) -> Page {
    let version = app.change_feed.version();
    let view = load::agent_diff(&app, &id, query).await?;
    let frame = counted(&app, Section::Board, request, version).await;
    Ok(html(&pages::agent_diff(&view, &frame)))
}

pub(crate) async fn terminal(
    State(app): State<AppState>,
    request: PageRequest,
    Id(id): Id,
) -> Page {
    let version = app.change_feed.version();
    let view = load::terminal(&app, &id, HISTORY_LINES).await?;
    let frame = counted(&app, Section::Board, request, version).await;
    Ok(html(&pages::terminal(&view, &frame)))
}

pub(crate) async fn tasks(
    State(app): State<AppState>,
    request: PageRequest,
    Query(filter): Query<TaskFilter>,
) -> Page {
    let view = load::tasks(&app, filter).await?;
    let frame = counted(&app, Section::Tasks, request, view.version).await;
    Ok(html(&pages::tasks(&view, &frame)))
}

pub(crate) async fn pulls(
    State(app): State<AppState>,
    request: PageRequest,
    Query(filter): Query<PullFilter>,
) -> Page {
    let view = load::pulls(&app, filter).await?;
    let frame = counted(&app, Section::Pulls, request, view.version).await;
    Ok(html(&pages::pulls(&view, &frame)))
}

pub(crate) async fn pull(
    State(app): State<AppState>,
    request: PageRequest,
    Number(number): Number,
    Query(query): Query<DiffQuery>,
) -> Page {
    let view = load::pull(&app, number, query).await?;
    let frame = counted(&app, Section::Pulls, request, view.version).await;
    Ok(html(&pages::pull(&view, &frame)))
}

pub(crate) async fn analyses(State(app): State<AppState>, request: PageRequest) -> Page {
    let view = load::analyses(&app);
    let frame = counted(&app, Section::Analysis, request, app.change_feed.version()).await;
    Ok(html(&pages::analyses(&view, &frame)))
}

pub(crate) async fn analysis(
    State(app): State<AppState>,
    request: PageRequest,
    PathParam(id): PathParam,
) -> Page {
    let view = load::analysis(&app, &id)?;
    let frame = counted(&app, Section::Analysis, request, app.change_feed.version()).await;
    Ok(html(&pages::analysis(&view, &frame)))
}

pub(crate) async fn events(
    State(app): State<AppState>,
    request: PageRequest,
    Query(filter): Query<EventFilter>,
) -> Page {
    let view = load::events(&app, filter).await?;
    let frame = counted(&app, Section::Events, request, view.version).await;
    Ok(html(&pages::events(&view, &frame)))
}

pub(crate) async fn launch(
    State(app): State<AppState>,
    request: PageRequest,
    Query(form): Query<LaunchForm>,
) -> Page {
    let version = app.change_feed.version();
    let view = load::launch(&app, form, None).await?;
    let frame = counted(&app, Section::Launch, request, version).await;
    Ok(html(&pages::launch(&view, &frame)))
}

pub(crate) async fn asset(headers: HeaderMap, PathParam(name): PathParam) -> Page {
    let asset = assets::asset(&name).ok_or_else(not_found)?;
    let known = headers
        .get_all(IF_NONE_MATCH)
        .iter()
        .any(|tag| tag.as_bytes() == asset.etag.as_bytes());
    let mut answer = if known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(CONTENT_TYPE, asset.content_type)], asset.body).into_response()
    };
    if let Ok(tag) = HeaderValue::from_str(asset.etag) {
        answer.headers_mut().insert(ETAG, tag);
    }
    // Revalidated every time: a 304 as long as the ETag matches.
    let cache = HeaderValue::from_static("no-cache");
    answer.headers_mut().insert(header::CACHE_CONTROL, cache);
    Ok(answer)
}
