//! Handlers of the pages: load, render.

use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, ETAG, HeaderMap, IF_NONE_MATCH};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::app::{App, Shared};
use crate::reply::{Ask, Failure, Id, Manner, Number, Segment, html, not_found};
use crate::view::{
    BoardFilter, Counts, EventFilter, Frame, LaunchForm, PullFilter, Section, TaskFilter,
};
use crate::{assets, load, pages};

/// How much of what has scrolled away is on the terminal's page.
const HISTORY: u32 = 2_000;

type Page = Result<Response, Failure>;

/// Which repository's things to show.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Of {
    repository: Option<String>,
}

pub(crate) fn frame(app: &App, section: Section, manner: Manner, version: u64) -> Frame {
    Frame {
        section,
        csrf: app.keys.csrf().to_owned(),
        read_only: app.options.read_only,
        fragment: manner.fragment,
        url: manner.url,
        version,
        counts: None,
        done: manner.done,
    }
}

fn with_counts(frame: Frame, counts: Counts) -> Frame {
    Frame {
        counts: Some(counts),
        ..frame
    }
}

/// The same with how many agents wait: the title of every page says so.
async fn counted(app: &App, section: Section, manner: Manner, version: u64) -> Frame {
    let frame = frame(app, section, manner, version);
    match load::counts(app).await {
        Ok(counts) => with_counts(frame, counts),
        // The page itself may well be had.
        Err(_) => frame,
    }
}

pub(crate) async fn board(
    State(app): State<Shared>,
    manner: Manner,
    Ask(filter): Ask<BoardFilter>,
) -> Page {
    let view = load::board(&app, filter).await?;
    let frame = with_counts(
        frame(&app, Section::Board, manner, view.version),
        view.counts,
    );
    Ok(html(&pages::board(&view, &frame)))
}

pub(crate) async fn agent(State(app): State<Shared>, manner: Manner, Id(id): Id) -> Page {
    let view = load::agent(&app, &id).await?;
    let frame = counted(&app, Section::Board, manner, view.version).await;
    Ok(html(&pages::agent(&view, &frame)))
}

pub(crate) async fn agent_diff(State(app): State<Shared>, manner: Manner, Id(id): Id) -> Page {
    let version = app.changes.version();
    let view = load::agent_diff(&app, &id).await?;
    let frame = counted(&app, Section::Board, manner, version).await;
    Ok(html(&pages::agent_diff(&view, &frame)))
}

pub(crate) async fn terminal(State(app): State<Shared>, manner: Manner, Id(id): Id) -> Page {
    let version = app.changes.version();
    let view = load::terminal(&app, &id, HISTORY).await?;
    let frame = counted(&app, Section::Board, manner, version).await;
    Ok(html(&pages::terminal(&view, &frame)))
}

pub(crate) async fn tasks(
    State(app): State<Shared>,
    manner: Manner,
    Ask(filter): Ask<TaskFilter>,
) -> Page {
    let view = load::tasks(&app, filter).await?;
    let frame = counted(&app, Section::Tasks, manner, view.version).await;
    Ok(html(&pages::tasks(&view, &frame)))
}

pub(crate) async fn pulls(
    State(app): State<Shared>,
    manner: Manner,
    Ask(filter): Ask<PullFilter>,
) -> Page {
    let view = load::pulls(&app, filter).await?;
    let frame = counted(&app, Section::Pulls, manner, view.version).await;
    Ok(html(&pages::pulls(&view, &frame)))
}

pub(crate) async fn pull(
    State(app): State<Shared>,
    manner: Manner,
    Number(number): Number,
    Ask(of): Ask<Of>,
) -> Page {
    let view = load::pull(&app, of.repository.as_deref(), number).await?;
    let frame = counted(&app, Section::Pulls, manner, view.version).await;
    Ok(html(&pages::pull(&view, &frame)))
}

pub(crate) async fn analyses(State(app): State<Shared>, manner: Manner) -> Page {
    let view = load::analyses(&app);
    let frame = counted(&app, Section::Analysis, manner, app.changes.version()).await;
    Ok(html(&pages::analyses(&view, &frame)))
}

pub(crate) async fn analysis(
    State(app): State<Shared>,
    manner: Manner,
    Segment(id): Segment,
) -> Page {
    let view = load::analysis(&app, &id)?;
    let frame = counted(&app, Section::Analysis, manner, app.changes.version()).await;
    Ok(html(&pages::analysis(&view, &frame)))
}

pub(crate) async fn events(
    State(app): State<Shared>,
    manner: Manner,
    Ask(filter): Ask<EventFilter>,
) -> Page {
    let view = load::events(&app, filter).await?;
    let frame = counted(&app, Section::Events, manner, view.version).await;
    Ok(html(&pages::events(&view, &frame)))
}

pub(crate) async fn launch(
    State(app): State<Shared>,
    manner: Manner,
    Ask(form): Ask<LaunchForm>,
) -> Page {
    let version = app.changes.version();
    let view = load::launch(&app, form, None).await?;
    let frame = counted(&app, Section::Launch, manner, version).await;
    Ok(html(&pages::launch(&view, &frame)))
}

pub(crate) async fn asset(headers: HeaderMap, Segment(name): Segment) -> Page {
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
    // Asked again each time, answered by 304 as long as it is the same.
    let cache = HeaderValue::from_static("no-cache");
    answer.headers_mut().insert(header::CACHE_CONTROL, cache);
    Ok(answer)
}
