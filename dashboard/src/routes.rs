//! Which address is what. `openapi` describes those under `/api`; a test holds the two together.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};

use crate::app::Shared;
use crate::reply::{Failure, not_found};
use crate::{api, guard, html, metrics, openapi, webhook};

pub(crate) fn router(app: &Shared) -> Router {
    Router::new()
        .merge(pages())
        .merge(rest())
        .fallback(async || not_found())
        .method_not_allowed_fallback(async || wrong_method())
        // The guard has bounded the body; axum's own limit is lower than what a form makes of a long prompt.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(Arc::clone(app), guard::guard))
        .with_state(Arc::clone(app))
}

fn wrong_method() -> Failure {
    api::wrong_method()
}

fn pages() -> Router<Shared> {
    Router::new()
        .route("/", get(html::board))
        .route("/agents/{id}", get(html::agent))
        .route("/agents/{id}/diff", get(html::agent_diff))
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

fn rest() -> Router<Shared> {
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
        .route("/api/instances/{id}/screen", get(api::screen))
        .route("/api/instances/{id}/terminal", get(api::terminal))
        .route("/api/instances/{id}/messages", post(api::message))
        .route("/api/instances/{id}/review", post(api::review))
        .route("/api/instances/{id}/stop", post(api::stop))
        .route("/api/instances/{id}/resume", post(api::resume))
        .route("/api/instances/{id}/pull", post(api::publish))
        .route(
            "/api/instances/{id}/control",
            post(api::take_control).delete(api::release_control),
        )
        .route("/api/instances/{id}/keys", post(api::keys))
        .route("/api/tasks", get(api::tasks))
        .route("/api/pulls", get(api::pulls))
        .route("/api/pulls/{number}", get(api::pull))
        .route("/api/pulls/{number}/merge", post(api::merge))
        .route("/api/pulls/{number}/close", post(api::close))
        .route("/api/events", get(api::events))
        .route("/api/analysis", get(api::analyses))
        .route("/api/analysis/{id}", get(api::analysis))
}
