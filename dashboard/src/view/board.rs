//! The board: every agent in the column of what it needs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::model::{InstanceId, InstanceKind, Status, TaskId};
use shared::workflow::{Activity, Rounds};

/// All agents, by what they need.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoardView {
    /// Always all five, in the order in which they are shown.
    pub columns: Vec<Column>,
    /// How many there are in all, also of those that a filter or a limit leaves out of the columns.
    pub counts: Counts,
    /// Paths of all repositories that have agents; `repository_name` shortens one.
    pub repositories: Vec<String>,
    /// What repositories bring along that is ignored until the person has trusted it.
    pub ignored: Vec<IgnoredSettings>,
    pub filter: BoardFilter,
    /// The state that this shows; a later one was announced by `/api/changes` if its number is higher.
    pub version: u64,
    pub read_only: bool,
}

/// What of a repository's own settings and prompts is ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IgnoredSettings {
    /// Its path.
    pub repository: String,
    /// The line that every command prints there.
    pub notice: String,
}

/// Which column an agent is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKey {
    /// At work by itself.
    Working,
    /// Being reviewed, or reviewing.
    Review,
    /// A person has to do something.
    Waiting,
    /// Its pull request is open.
    Published,
    /// Over.
    Ended,
}

impl ColumnKey {
    /// In the order in which they are shown.
    pub const ALL: [Self; 5] = [
        Self::Waiting,
        Self::Working,
        Self::Review,
        Self::Published,
        Self::Ended,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Review => "review",
            Self::Waiting => "waiting",
            Self::Published => "published",
            Self::Ended => "ended",
        }
    }

    pub const fn title(self) -> &'static str {
        match self {
            Self::Working => "Working",
            Self::Review => "In review",
            Self::Waiting => "Waiting for you",
            Self::Published => "Published",
            Self::Ended => "Ended",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Column {
    pub key: ColumnKey,
    pub title: String,
    pub cards: Vec<Card>,
    /// How many more there are that are not shown: of the ended, only the newest are.
    pub more: u32,
}

/// How many agents each column has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    pub working: u32,
    pub in_review: u32,
    pub waiting: u32,
    pub published: u32,
    pub ended: u32,
}

impl Counts {
    pub const fn of(&self, key: ColumnKey) -> u32 {
        match key {
            ColumnKey::Working => self.working,
            ColumnKey::Review => self.in_review,
            ColumnKey::Waiting => self.waiting,
            ColumnKey::Published => self.published,
            ColumnKey::Ended => self.ended,
        }
    }

    pub const fn of_mut(&mut self, key: ColumnKey) -> &mut u32 {
        match key {
            ColumnKey::Working => &mut self.working,
            ColumnKey::Review => &mut self.in_review,
            ColumnKey::Waiting => &mut self.waiting,
            ColumnKey::Published => &mut self.published,
            ColumnKey::Ended => &mut self.ended,
        }
    }
}

/// Which agents to show. Empty: all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct BoardFilter {
    /// A repository's path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<InstanceKind>,
}

/// One agent in short.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Card {
    pub id: InstanceId,
    pub kind: InstanceKind,
    pub status: Status,
    pub activity: Activity,
    pub column: ColumnKey,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue_number: Option<u64>,
    /// What it is about: the first line of its prompt.
    pub title: String,
    /// Path of the repository.
    pub repository: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Review rounds of a coder that has asked for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<Rounds>,
    pub created_at: String,
    pub status_since: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_event: Option<LastEvent>,
    /// A reviewer's coder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<InstanceId>,
    /// Who reviews it right now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<InstanceId>,
    /// What it needs from a person, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub need: Option<String>,
    /// Messages that it has not taken yet.
    pub owed: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pr_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pr_number: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskRef {
    pub id: TaskId,
    pub title: String,
}

/// What happened to an agent last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastEvent {
    pub name: String,
    pub at: String,
    pub failed: bool,
}
