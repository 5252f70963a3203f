//! The verbs: what the tools and the command line do, in terms of the primitives.

mod adopt;
mod agent_files;
mod board;
mod changes;
mod clean;
mod committed;
mod connect;
mod context;
mod control;
mod deliver;
mod detach;
mod finish;
mod forge;
mod github_forge;
mod headless;
mod hook_session;
mod instance_facts;
mod invariants;
mod launch;
mod local_forge;
mod open_work;
mod order;
mod panes;
mod plan;
mod publication;
mod publish;
mod publish_moves;
mod pull_forge;
mod pull_text;
mod pulls;
mod put_away;
mod reconcile;
mod reconcile_turn;
mod request_changes;
mod request_review;
mod resume;
mod retention;
mod review_round;
mod run;
mod send;
mod sync;
mod task_issue;
mod tdd;
mod terminal;
mod undo;
mod webhook;
mod wording;

pub use adopt::{Adopted, adopt, adopt_again, forget, is_to_be_adopted, leave};
pub use board::{
    Activity, BoardRow, Look, Rounds, advice_on_terminal, attach_argv, board, board_row, look,
    look_around, pulse, recent_board, screen,
};
pub use changes::{WorkDiff, work_diff};
pub use clean::{Cleaned, clean};
pub use connect::connect;
pub use context::Context;
pub use control::{Typed, control, release_control, take_control, type_into};
pub use deliver::{Delivery, deliver, deliver_for_unserved, take_at_end_of_turn};
pub use detach::finish_when_done;
pub use finish::{Stopped, stop};
pub use forge::{Forge, forge, read_issue};
pub use headless::tdd_run_of;
pub use hook_session::{HookSession, instance_of_hook};
pub use instance_facts::Issue;
pub use invariants::{Invariant, InvariantViolation, check_invariants, unknown_worktrees};
pub use launch::{LaunchRequest, launch};
pub use open_work::{Missing, OpenWork, OpenWorkSource, open_work};
pub use order::{MOST_PROMPT_BYTES, MOST_REVIEWS, Order, check_prompt, prepare};
pub use plan::{CreateTask, CreatedTask, create_task};
pub use publication::CreatePr;
pub use publish::{PublishOutcome, Published, create_pr};
pub use pulls::{ChangedPull, close_pull, merge_pull, pull, pull_diff, pulls, reopen_pull};
pub use reconcile::{Reconciled, Unsettled, reconcile};
pub use reconcile_turn::is_my_turn_to_reconcile;
pub use request_changes::{Receipt, SentBack, request_changes};
pub use request_review::{RunningReview, request_review};
pub use resume::resume;
pub use retention::{Retained, retained};
pub use run::{CallRecord, Run};
pub use send::{Sent, send, send_again};
pub use sync::{Synced, sync};
pub use task_issue::TaskIssue;
pub use tdd::{
    Audience, TddNews, TddRequest, TddSpec, begin_tdd, keep_spec, read_spec, resume_tdd, start_tdd,
};
pub use webhook::{PullNews, follow_news, hear_webhook};
