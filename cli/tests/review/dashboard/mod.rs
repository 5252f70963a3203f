//! The dashboard over HTTP: the real command, real agents in real terminals.

mod acting;
mod described;
mod guard;
mod live;
mod reviewing;
mod shutdown;
mod specification;
mod tasks;
mod terminal;
mod webhooks;
