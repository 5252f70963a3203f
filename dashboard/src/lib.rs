//! The dashboard: every agent, every terminal, in the browser.
//!
//! ```text
//! guard     who may ask, and for what: token, Host, Origin, CSRF, read-only, headers
//! routes    which address is what
//! html api  handlers: pages (through `pages`) and REST, both from the same `view`
//! load      gets what is shown from the workflows, as plain data (`view`)
//! changes   one number that goes up with every change, sent to whoever is connected
//! terminal  one watcher for each terminal that somebody looks at
//! record    does what a person asked for: to its end, and with a record of it
//! ```
//!
//! It is one more interface on `shared::workflow`: it has no state that matters. When it is down, no agent
//! notices.

mod api;
mod app;
pub mod assets;
mod background;
mod changes;
mod guard;
pub mod highlight;
mod html;
mod load;
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

pub use app::Options;
pub use changes::Viewers;
pub use server::Server;
