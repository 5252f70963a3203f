//! Terminals of agents: which pane, whether it is safe to type, who has control, answers to dialogs, which panes are alive.

pub(super) mod answer;
pub(super) mod control;
pub(super) mod pane;
pub(super) mod panes;
