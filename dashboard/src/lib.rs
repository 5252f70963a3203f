//! The dashboard: a web server that shows every agent and terminal, with a REST API and live updates.
//!
//! ```text
//! routes       the router, and the middleware around every handler
//! guard keys   authorizes requests: token, cookie, Host, Origin, CSRF, read-only mode; security headers
//! html api     handlers: pages (rendered by `pages`) and REST, both from the same `view`
//! extract      what handlers take from requests
//! reply        responses, and errors as HTML or JSON
//! load         reads `view` from the workflows and the store
//! record       runs actions to completion and records them as events
//! change_feed  a version number that goes up with every change, streamed to open pages
//! terminal     one watcher for each terminal that has viewers
//! background   watches database and agents, syncs pull requests
//! ```
//!
//! It is one more interface on `shared::workflow` and keeps no state that matters: agents do not depend on it.

mod api;
mod app;
pub mod assets;
mod background;
mod change_feed;
mod extract;
mod guard;
pub mod highlight;
mod html;
mod keys;
mod load;
mod markdown;
mod metrics;
mod openapi;
pub mod pages;
pub mod plot;
mod record;
mod reply;
mod routes;
pub mod screen;
mod server;
mod terminal;
pub mod view;
mod webhook;
mod work_sizes;

pub use app::Options;
pub use change_feed::ChangeFeed;
pub use server::Server;
