//! The dashboard: every agent, every terminal, in the browser.
//!
//! ```text
//! guard     who may ask, and for what: token, Host, Origin, CSRF, read-only, headers
//! routes    which address is what
//! html api  handlers: pages (through `pages`) and REST, both from the same `view`
//! view      what is shown, as plain data; `load` gets it from the workflows
//! changes   one number that goes up with every change, sent to whoever is connected
//! terminal  one watcher for each terminal that somebody looks at
//! ```
//!
//! It is one more interface on `shared::workflow`: it has no state that matters. When it is down, no agent
//! notices.

pub mod assets;
pub mod highlight;
pub mod pages;
pub mod plot;
pub mod screen;
pub mod view;
