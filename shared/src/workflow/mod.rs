//! The verbs: what the tools and the command line do, in terms of the primitives.

mod adopt;
mod agent_files;
mod board;
mod clean;
mod connect;
mod context;
mod deliver;
mod detach;
mod finish;
mod launch;
mod plan;
mod reconcile;
mod request_changes;
mod request_review;
mod resume;
mod run;
mod send;
mod undo;
mod wording;

pub use adopt::adopt;
pub use board::{Activity, BoardRow, attach_argv, board, screen};
pub use clean::{Cleaned, clean};
pub use connect::connect;
pub use context::Context;
pub use deliver::{Delivery, deliver, deliver_always, take_at_end_of_turn};
pub use detach::finish_when_done;
pub use finish::{Stopped, stop};
pub use launch::{Issue, LaunchRequest, launch};
pub use plan::{CreateTask, CreatedTask, create_task};
pub use reconcile::reconcile;
pub use request_changes::{SentBack, request_changes};
pub use request_review::{RunningReview, request_review};
pub use resume::resume;
pub use run::Run;
pub use send::{Sent, send};
