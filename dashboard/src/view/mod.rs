//! View types: the data that pages show and the REST API returns.
//!
//! Everything is plain data, already bounded in size. Text may come from agents, repositories or GitHub, so
//! rendering must escape it.

mod activity;
mod agent;
mod analysis;
mod board;
mod control;
mod diff;
mod events;
mod frame;
mod launch;
mod pulls;
mod review;
mod tasks;
mod terminal;

pub use activity::{ActivityQuery, ActivityView};
pub use agent::{
    Action, ActionKey, AgentDiffView, AgentView, DiscardView, MessageView, TimelineEntry,
};
pub use analysis::{AnalysisList, AnalysisSummary, AnalysisView};
pub use board::{
    ApprovalOf, BoardFilter, BoardView, Card, ChoiceView, Column, ColumnKey, Counts, DialogView,
    IgnoredSettings, LastEvent, SizeView, TaskRef,
};
pub use control::{ControlView, Controller};
pub use diff::{DiffLine, DiffView, FileDiff, FileStatus, Hunk, LineKind};
pub use events::{EventFilter, EventView, EventsView};
pub use frame::{Done, Frame, Section};
pub use launch::{LaunchForm, LaunchKind, LaunchView};
pub use pulls::{PullCard, PullFilter, PullView, PullsView};
pub use review::{
    CommitView, DiffLayout, DiffQuery, FindingView, NoteSource, NoteView, ReviewView, RoundView,
};
pub use tasks::{TaskFilter, TaskView, TasksView};
pub use terminal::{Cursor, ScreenEvent, ScreenRow, TerminalView};

/// Returns the last part of a repository's path.
pub fn repository_name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix("/.git").unwrap_or(path);
    path.rsplit('/').next().unwrap_or(path)
}
