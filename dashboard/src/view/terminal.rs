//! Views of a terminal: the whole screen, and updates of its rows.

use schemars::JsonSchema;
use serde::Serialize;

use super::{ControlView, Controller};

/// A terminal with its scrollback: `GET /api/instances/{id}/screen`, and the first paint of the
/// terminal's page.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TerminalView {
    pub id: String,
    /// Safe HTML of each row: first the scrollback, then the `height` visible rows.
    pub rows: Vec<String>,
    /// How many of `rows` are scrollback.
    pub scrolled: u32,
    pub columns: u32,
    pub height: u32,
    pub cursor: Cursor,
    /// As set by the program in it.
    pub title: String,
    /// Whether the program in it is running.
    pub alive: bool,
    pub control: ControlView,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cursor {
    /// Column, from 0.
    pub x: u32,
    /// Row, from 0, among the visible ones.
    pub y: u32,
    pub visible: bool,
}

/// `event: screen` of `GET /api/instances/{id}/terminal`: first all rows, then those that changed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScreenEvent {
    /// Whether `rows` replace all rows of before.
    pub whole: bool,
    pub rows: Vec<ScreenRow>,
    pub columns: u32,
    pub height: u32,
    pub cursor: Cursor,
    pub title: String,
    pub alive: bool,
    /// How many rows of scrollback there are.
    pub scrolled: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<Controller>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScreenRow {
    /// Row, from 0.
    pub n: u32,
    /// Safe HTML.
    pub html: String,
}
