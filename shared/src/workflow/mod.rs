//! The verbs: what the tools and the command line do, in terms of the primitives.

mod adopt;
mod agent_files;
mod board;
mod clean;
mod connect;
mod context;
mod finish;
mod launch;
mod plan;
mod reconcile;
mod resume;
mod run;
mod undo;

pub use adopt::adopt;
pub use board::{Activity, BoardRow, attach_argv, board, screen};
pub use clean::{Cleaned, clean};
pub use connect::connect;
pub use context::Context;
pub use finish::{Stopped, stop};
pub use launch::{Issue, LaunchRequest, launch};
pub use plan::{CreateTask, CreatedTask, create_task};
pub use reconcile::reconcile;
pub use resume::resume;
pub use run::Run;
