//! The verbs: what the tools and the command line do, in terms of the primitives.

mod actions;
mod activity;
mod agent_messages;
mod attention;
mod board;
mod context;
mod delivery;
mod detached;
mod ended_agent;
mod event_recorder;
mod find;
mod follow_activity;
mod forges;
mod identity;
mod instance;
mod invariants;
mod last_words;
mod lifecycle;
mod notify;
mod overruled_review;
mod plan;
mod preconditions;
mod pull;
mod pull_text;
mod put_to_work;
mod restate_reviews;
mod review;
mod review_round;
mod run;
mod send;
mod step;
mod tdd;
mod terminal;
mod usage;
mod work_diff;

pub use actions::{AgentAction, WhyNot, actions, why_not};
pub use activity::{Activity, Rounds};
pub use attention::Attention;
pub use board::{
    BoardRow, ReconciledBoard, activity_fingerprint, advice_on_terminal, attach_argv, board,
    board_row, capture, recent_board, reconcile_and_list, tail,
};
pub use context::Context;
pub use delivery::deliver::{deliver, deliver_for_dead_servers};
pub use delivery::end_of_turn::take_at_end_of_turn;
pub use delivery::receipt::Receipt;
pub use delivery::reminder::remind_at_end_of_turn;
pub use delivery::settle::Delivery;
pub use detached::notify_in_background;
pub use ended_agent::check_terminal;
pub use event_recorder::EventRecorder;
pub use find::{find_instance, find_task, find_tdd_run};
pub use follow_activity::{FollowedActivity, activity, follow_activity};
pub use forges::open_work::open_work;
pub use forges::publication::{CreatePr, MergeTerms, NewCommits};
pub use forges::select_forge::{Forge, forge, read_issue};
pub use identity::adopt::{
    Adopted, adopt, adopt_again, end_adopted, forget_unused, needs_adoption,
};
pub use identity::connect::connect;
pub use identity::hook_session::{HookSession, instance_of_hook};
pub use instance::facts::Issue;
pub use invariants::{Invariant, InvariantViolation, check_invariants, unknown_worktrees};
pub use last_words::last_paragraph;
pub use lifecycle::base::{BaseWarning, base_warnings};
pub use lifecycle::clean::{CleanMode, Cleaned, check_ended, clean};
pub use lifecycle::detached_process::finish_when_idle;
pub use lifecycle::discard::{
    Discarded, Discarding, confirmed_discard, discard, nothing_to_discard, preview_discard,
};
pub use lifecycle::finish::{Stopped, stop};
pub use lifecycle::launch::launch;
pub use lifecycle::launch_request::{LaunchRequest, MAX_PROMPT_BYTES, MAX_REVIEWS};
pub use lifecycle::reconcile::{Reconciled, Unsettled, reconcile};
pub use lifecycle::reconcile_turn::is_my_turn_to_reconcile;
pub use lifecycle::resume::{resumable, resume};
pub use lifecycle::retention::{Retained, retained};
pub use notify::bell::Bell;
pub use notify::{NotifyFailure, notify, notify_of};
pub use plan::create_task::{CreateTask, CreatedTask, create_task};
pub use plan::edit_task::{TaskEdit, TaskMove, add_task, edit_task, move_task};
pub use plan::task_issue::TaskIssue;
pub use pull::address::check_pull_address;
pub use pull::publish::{PublishOutcome, Published, create_pr};
pub use pull::pull_agent::coder_of_pull;
pub use pull::pulls::{ChangedPull, close_pull, merge_pull, pull, pull_diff, pulls, reopen_pull};
pub use pull::resolve::{ConflictSent, can_resolve, resolve_by_new_agent, resolve_conflict};
pub use pull::standing::{PullApproval, Standing, standings};
pub use pull::sync::{Synced, sync};
pub use pull::update::{UpdatedPull, update_pull};
pub use pull::webhook::{PullNews, follow_news, record_webhook};
pub use review::approve::{Approval, Approved, approve};
pub use review::draft_comments::{NewComment, comment, draft_comments, remove_comment};
pub use review::request_changes::{SentBack, request_changes};
pub use review::request_review::{RunningReview, request_review};
pub use review::reviewed_work::{check_approve, check_send_back};
pub use review::send_back::{FeedbackSent, send_back};
pub use run::Run;
pub use send::{MAX_MESSAGE_CHARS, Sent, send, send_again};
pub use step::Step;
pub use tdd::{
    Audience, TddNews, TddRequest, TddSpec, begin_tdd, keep_spec, read_spec, resume_tdd, start_tdd,
};
pub use terminal::answer::{DialogAnswer, answer_dialog, open_dialog};
pub use terminal::control::{
    MAX_HOLDER_CHARS, MAX_PASTED_CHARS, MAX_TYPED_CHARS, Typed, control, release_control,
    take_control, type_into,
};
pub use usage::{pull_usage, refresh_usage, refresh_usage_of, task_usage};
pub use work_diff::{
    ReviewedWork, WorkDiff, WorkPart, WorkSize, diff_between, reviewed_work, work_diff, work_size,
};
