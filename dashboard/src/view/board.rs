//! View of the board: agents in columns by what they need.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::model::{InstanceId, InstanceKind, Status, TaskId, Timestamp, Usage, Verdict};
use shared::workflow::{Activity, Rounds};

/// All agents, in columns by what they need.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoardView {
    /// Always all five, in the order in which they are shown.
    pub columns: Vec<Column>,
    /// How many agents there are, including those that a filter or a limit leaves out of the columns.
    pub counts: Counts,
    /// Paths of all repositories that have agents; `repository_name` shortens one.
    pub repositories: Vec<String>,
    /// Settings and prompts of repositories that are ignored until a person trusts them.
    pub ignored: Vec<IgnoredSettings>,
    pub filter: BoardFilter,
    /// The version of the change feed (`/api/changes`) that this shows.
    pub version: u64,
    pub read_only: bool,
}

/// Settings and prompts of a repository that are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IgnoredSettings {
    /// Its path.
    pub repository: String,
    /// The notice that every command prints there.
    pub notice: String,
}

/// Which column an agent is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKey {
    /// Working by itself.
    Working,
    /// Being reviewed, or reviewing.
    Review,
    /// Waiting for a person.
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
    /// How many more there are: of the ended agents only the newest are shown.
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

/// Which agents to show; by default all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct BoardFilter {
    /// A repository's path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<InstanceKind>,
}

/// One agent in brief.
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
    /// The first line of its prompt.
    pub title: String,
    /// Path of the repository.
    pub repository: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// How many lines its committed work changes; absent until they are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<SizeView>,
    /// Whether the last review approved of the present commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalOf>,
    /// The verdict of its last review, unless that is still under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Review rounds of a coder that has asked for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<Rounds>,
    pub created_at: Timestamp,
    pub status_since: Timestamp,
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
    /// The dialog that it waits on, if it can be answered here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<DialogView>,
    /// Messages that it has not taken yet.
    pub owed: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pr_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pr_number: Option<u64>,
    /// What it has used itself, and the estimated cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SizeView {
    /// The commit that was counted.
    pub commit: String,
    pub additions: u64,
    pub deletions: u64,
}

/// Which commit was approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ApprovalOf {
    /// The one that its work is at.
    ThisCommit,
    /// One that it has gone on from.
    OlderCommit,
}

/// A dialog of Claude Code: `POST /api/instances/{id}/answer` answers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DialogView {
    pub question: String,
    /// What it is about, by line.
    pub detail: Vec<String>,
    /// Without those that ask for text.
    pub choices: Vec<ChoiceView>,
    /// Identifies the dialog; an answer names it, so that no other dialog is answered.
    pub fingerprint: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChoiceView {
    pub number: u32,
    pub label: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskRef {
    pub id: TaskId,
    pub title: String,
}

/// An agent's last event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastEvent {
    pub name: String,
    pub at: Timestamp,
    pub failed: bool,
}
