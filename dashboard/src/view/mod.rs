//! What pages show and the API answers: one set of types for both.
//!
//! Everything is plain data, already bounded in size. Text in it may come from agents, repositories or
//! GitHub, and is shown as text: whoever renders it escapes it.

mod agent;
mod analysis;
mod board;
mod control;
mod diff;
mod events;
mod frame;
mod launch;
mod pulls;
mod tasks;
mod terminal;

pub use agent::{
    Action, ActionKey, AgentDiffView, AgentView, FindingView, MessageView, RoundView, TimelineEntry,
};
pub use analysis::{AnalysisList, AnalysisSummary, AnalysisView};
pub use board::{
    BoardFilter, BoardView, Card, Column, ColumnKey, Counts, IgnoredSettings, LastEvent, TaskRef,
};
pub use control::{ControlView, Controller};
pub use diff::{DiffLine, DiffView, FileDiff, FileStatus, Hunk, LineKind};
pub use events::{EventFilter, EventView, EventsView};
pub use frame::{Done, Frame, Section};
pub use launch::{LaunchForm, LaunchKind, LaunchView};
pub use pulls::{PullCard, PullFilter, PullView, PullsView};
pub use tasks::{TaskFilter, TaskView, TasksView};
pub use terminal::{Cursor, ScreenEvent, ScreenRow, TerminalView};

/// Returns the last part of a repository's path: what people call it.
pub fn repository_name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix("/.git").unwrap_or(path);
    path.rsplit('/').next().unwrap_or(path)
}
