//! The verbs: what the tools and the command line do, in terms of the primitives.

mod adopt;
mod connect;
mod context;
mod plan;
mod run;

pub use adopt::adopt;
pub use connect::connect;
pub use context::Context;
pub use plan::{CreateTask, CreatedTask, create_task};
pub use run::Run;
