//! The dashboard over HTTP: the real command, real agents in real terminals.

mod acting;
mod client;
mod described;
mod guard;
mod live;
mod shutdown;
mod specification;
mod terminal;
mod webhooks;
