//! The router: pages, the REST API, and the middleware around them.
//!
//! `openapi` describes the routes of `rest`; a test compares the two.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{delete, get, patch, post};

use crate::app::AppState;
use crate::guard::Area;
use crate::{api, guard, html, metrics, openapi, reply, webhook};

pub(crate) fn router(app: &AppState) -> Router {
    Router::new()
        .merge(pages())
        .merge(rest())
        .fallback(async || reply::not_found())
        .method_not_allowed_fallback(async || reply::wrong_method())
        // The guard limits the body; axum's own limit is too low for a long prompt in a form.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(Arc::clone(app), guarded))
        .with_state(Arc::clone(app))
}

/// Runs around every handler: authorizes the request, renders errors, sets security headers.
async fn guarded(State(app): State<AppState>, request: Request, next: Next) -> Response {
    let area = Area::of(request.uri().path());
    let wants_page = reply::wants_page(area, request.method(), request.headers());
    let response = match guard::authorize(&app, area, request).await {
        Ok(request) => next.run(request).await,
        Err(rejection) => reply::rejected(&app, rejection),
    };
    let mut response = reply::render_error(&app, response, wants_page);
    guard::harden(area, response.headers_mut());
    response
}

fn pages() -> Router<AppState> {
    Router::new()
        .route("/", get(html::board))
        .route("/agents/{id}", get(html::agent))
        .route("/agents/{id}/diff", get(html::agent_diff))
        .route("/agents/{id}/discard", get(html::discard))
        .route("/agents/{id}/terminal", get(html::terminal))
        .route("/tasks", get(html::tasks))
        .route("/pulls", get(html::pulls))
        .route("/pulls/{number}", get(html::pull))
        .route("/analysis", get(html::analyses))
        .route("/analysis/{id}", get(html::analysis))
        .route("/events", get(html::events))
        .route("/launch", get(html::launch))
        .route("/assets/{name}", get(html::asset))
}

fn rest() -> Router<AppState> {
    Router::new()
        .route("/healthz", get(api::health))
        .route("/metrics", get(metrics::metrics))
        .route("/webhooks/github", post(webhook::github))
        .route("/api/openapi.json", get(openapi::document))
        .route("/api/changes", get(api::changes))
        .route("/api/board", get(api::board))
        .route("/api/instances", get(api::instances).post(api::launch))
        .route("/api/instances/{id}", get(api::instance).delete(api::stop))
        .route("/api/instances/{id}/diff", get(api::diff))
        .route("/api/instances/{id}/activity", get(api::activity))
        .route("/api/instances/{id}/screen", get(api::screen))
        .route("/api/instances/{id}/terminal", get(api::terminal))
        .route("/api/instances/{id}/messages", post(api::message))
        .route("/api/instances/{id}/answer", post(api::answer))
        .route("/api/instances/{id}/review", post(api::review))
        .route(
            "/api/instances/{id}/comments",
            get(api::comments).post(api::comment),
        )
        .route(
            "/api/instances/{id}/comments/{comment}",
            delete(api::remove_comment),
        )
        .route(
            "/api/instances/{id}/comments/{comment}/remove",
            post(api::remove_comment),
        )
        .route(
            "/api/instances/{id}/request-changes",
            post(api::request_changes),
        )
        .route("/api/instances/{id}/approve", post(api::approve))
        .route("/api/instances/{id}/stop", post(api::stop))
        .route(
            "/api/instances/{id}/discard",
            get(api::discarding).post(api::discard),
        )
        .route("/api/instances/{id}/resume", post(api::resume))
        .route("/api/instances/{id}/pull", post(api::publish))
        .route(
            "/api/instances/{id}/control",
            post(api::take_control).delete(api::release_control),
        )
        .route("/api/instances/{id}/keys", post(api::keys))
        .route("/api/tasks", get(api::tasks).post(api::add_task))
        .route(
            "/api/tasks/{id}",
            patch(api::edit_task).post(api::edit_task),
        )
        .route("/api/tasks/{id}/close", post(api::close_task))
        .route("/api/tasks/{id}/reopen", post(api::reopen_task))
        .route("/api/tasks/{id}/cancel", post(api::cancel_task))
        .route("/api/pulls", get(api::pulls))
        .route("/api/pulls/{number}", get(api::pull))
        .route("/api/pulls/{number}/merge", post(api::merge))
        .route("/api/pulls/{number}/close", post(api::close))
        .route("/api/pulls/{number}/update", post(api::update))
        .route("/api/pulls/{number}/resolve", post(api::resolve))
        .route("/api/pulls/{number}/reopen", post(api::reopen))
        .route(
            "/api/pulls/{number}/comments",
            get(api::pull_comments).post(api::pull_comment),
        )
        .route(
            "/api/pulls/{number}/comments/{comment}",
            delete(api::remove_pull_comment),
        )
        .route(
            "/api/pulls/{number}/comments/{comment}/remove",
            post(api::remove_pull_comment),
        )
        .route(
            "/api/pulls/{number}/request-changes",
            post(api::request_pull_changes),
        )
        .route("/api/pulls/{number}/approve", post(api::approve_pull))
        .route("/api/events", get(api::events))
        .route("/api/analysis", get(api::analyses))
        .route("/api/analysis/{id}", get(api::analysis))
}
