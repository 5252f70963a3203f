//! The report of the scope `issues`.

use model::{Priority, TaskStatus, counted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::activity::RecentActivity;
use super::headline::with_findings;
use super::{Cut, Incomplete, Listing, Report, shorten};
use crate::Depth;

/// Cosine from which two items are likely the same.
///
/// Issues of one project share its vocabulary, so that anything below one half is common.
pub(crate) const DUPLICATE_THRESHOLD: f32 = 0.55;

/// Items kept of a list inside an entry when a report is summarised.
const MAX_NESTED: usize = 6;

/// Where issues and pull requests came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SourceKind {
    Github,
    Local,
    /// They could not be had; `incomplete` says why.
    Unavailable,
}

/// Whether something is an issue or a pull request.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum ItemKind {
    Issue,
    Pull,
}

/// An open issue or pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// Issue or pull request.
    pub kind: ItemKind,
    /// Its number.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// Who made it, if known.
    pub author: String,
    /// Its labels; unknown for pull requests.
    pub labels: Vec<String>,
    /// Days since it was opened.
    pub age_days: u32,
    /// Days since the last change.
    pub idle_days: u32,
    /// How many comments; unknown for pull requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comments: Option<u32>,
    /// Nothing happened for 90 days (issues) or 30 days (pull requests).
    pub stale: bool,
    /// Whether it is a draft.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub draft: bool,
    /// Its address.
    pub url: String,
}

/// Open issues under one label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LabelGroup {
    /// The label; empty for issues without any.
    pub label: String,
    /// How many open issues.
    pub issues: u32,
    /// How many of them are stale.
    pub stale: u32,
    /// Age of the oldest in days.
    pub oldest_days: u32,
    /// Numbers of the issues, the most recently changed first.
    pub numbers: Vec<u64>,
    /// Numbers left out of this summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_numbers: u32,
}

/// How old something is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum AgeBand {
    /// Up to 7 days.
    Week,
    /// Up to 30 days.
    Month,
    /// Up to 90 days.
    Quarter,
    /// Up to 365 days.
    Year,
    Older,
}

/// Open items of one age.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgeGroup {
    /// How old they are.
    pub age: AgeBand,
    /// How many open issues.
    pub issues: u32,
    /// How many open pull requests.
    pub pulls: u32,
}

/// Why a branch may be left over.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum BranchReason {
    /// Its commits are all in the base branch.
    Merged,
    /// The branch it follows is gone.
    UpstreamGone,
    /// No commit in the 90 days before the newest commit on the current branch.
    NoRecentCommit,
}

/// A branch that may be left over. Branches of releases, those of open pull requests and those that a worktree is
/// working on are not among them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StaleBranch {
    /// Its name.
    pub name: String,
    /// Whether it is a branch of a remote, as of the last fetch.
    pub remote: bool,
    /// Why it may be left over.
    pub reasons: Vec<BranchReason>,
    /// Days since its last commit.
    pub idle_days: u32,
    /// Who made its last commit.
    pub author: String,
}

/// How many tasks are how far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusCount {
    /// Where the tasks are.
    pub status: TaskStatus,
    /// How many tasks.
    pub tasks: u32,
}

/// A task whose dependencies are all done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadyTask {
    /// Id of the task.
    pub id: String,
    /// Its title.
    pub title: String,
    /// How soon it should be done.
    pub priority: Priority,
    /// Estimate in hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_hours: Option<f64>,
    /// The issue it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue_number: Option<u64>,
    /// Open tasks that wait for it directly.
    pub unblocks: u32,
    /// Whether it is on the critical path.
    pub on_critical_path: bool,
}

/// A task that waits for others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockedTask {
    /// Id of the task.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Ids of the tasks it waits for.
    pub waiting_for: Vec<String>,
    /// Dependencies left out of this summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_waiting_for: u32,
    /// Some of them were cancelled or do not exist, so that it would wait for ever.
    pub hopeless: bool,
}

/// The chain of open tasks that takes longest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CriticalPath {
    /// Task ids, the first to start with.
    pub tasks: Vec<String>,
    /// Tasks left out of this summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_tasks: u32,
    /// Hours of all its tasks.
    pub hours: f64,
    /// Tasks of it without an estimate, taken as 4 hours.
    pub unestimated: u32,
}

/// A remark in the code that no known open issue or task covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UncoveredTodo {
    /// Path from the top of the repository.
    pub path: String,
    /// Line, counted from 1.
    pub line: u32,
    /// TODO, FIXME, HACK or XXX.
    pub word: String,
    /// The text as written.
    pub text: String,
    /// It names this issue of the repository, which is not open. Only where all open issues are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names_issue: Option<u64>,
    /// How many other places have the same remark.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_places: u32,
}

/// Two open items that may be the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LikelyDuplicate {
    /// The older one.
    pub first: u64,
    /// The younger one.
    pub second: u64,
    /// Title of the older one.
    pub first_title: String,
    /// Title of the younger one.
    pub second_title: String,
    /// Cosine of the TF-IDF vectors of title and body, 0 to 1.
    pub similarity: f32,
    /// The words that weigh most in both.
    pub words: Vec<String>,
}

/// A file that an issue seems to speak of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilePointer {
    /// Path from the top of the repository.
    pub path: String,
    /// Higher is surer; 10 is a path named in full.
    pub score: f32,
    /// The words of the issue that led here.
    pub words: Vec<String>,
}

/// Files that an issue's words point to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pointer {
    /// Its number.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// The files, the surest first.
    pub files: Vec<FilePointer>,
}

/// The open work on the repository.
///
/// Every list has its most important items first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueReport {
    /// How thorough this analysis was.
    pub depth: Depth,
    /// Where issues and pull requests came from.
    pub source: SourceKind,
    /// Parts of the report that are missing, and why.
    #[serde(default, skip_serializing_if = "Listing::has_nothing")]
    pub incomplete: Listing<Incomplete>,
    /// How many open issues; absent when that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issues: Option<u32>,
    /// How many open pull requests; absent when that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pulls: Option<u32>,
    /// There are more open issues or pull requests than were read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more_than_read: bool,
    /// How many of the issues and pull requests that were read are stale.
    pub stale: u32,
    /// Issues and pull requests by age.
    pub ages: Vec<AgeGroup>,
    /// Tasks by state.
    pub tasks: Vec<StatusCount>,
    /// Tasks to start with: nothing they depend on is open.
    pub ready: Listing<ReadyTask>,
    /// Open tasks that wait for others.
    pub blocked: Listing<BlockedTask>,
    /// The chain of open tasks that takes longest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical_path: Option<CriticalPath>,
    /// Tasks that wait for each other in a circle.
    pub cycles: Listing<String>,
    /// Issues by label.
    pub labels: Listing<LabelGroup>,
    /// Open pull requests and issues, the most recently changed first.
    pub items: Listing<Item>,
    /// Two items are likely duplicates from this similarity on.
    pub duplicate_threshold: f32,
    /// Open items that may be the same; only at depth deep.
    pub duplicates: Listing<LikelyDuplicate>,
    /// Files that issues speak of; only at depth deep.
    pub pointers: Listing<Pointer>,
    /// Remarks in the code that no known open issue or task covers; from depth medium on.
    pub todos: Listing<UncoveredTodo>,
    /// Remarks that share their words or their number with an open issue or task.
    pub covered_todos: u32,
    /// Days from the newest commit on the current branch until today. What is lately, and which branches are left over,
    /// counts from that commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest_commit_days: Option<u32>,
    /// What happened lately; from depth medium on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent: Option<RecentActivity>,
    /// Branches that may be left over.
    pub branches: Listing<StaleBranch>,
    /// The branch that merged branches are compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_branch: Option<String>,
}

/// Days after which "lately" is long ago and has to be said.
const OLD_DAYS: u32 = 42;

impl IssueReport {
    pub(crate) fn empty(depth: Depth, source: SourceKind) -> Self {
        Self {
            depth,
            source,
            incomplete: Listing::default(),
            issues: None,
            pulls: None,
            more_than_read: false,
            stale: 0,
            ages: Vec::new(),
            tasks: Vec::new(),
            ready: Listing::default(),
            blocked: Listing::default(),
            critical_path: None,
            cycles: Listing::default(),
            labels: Listing::default(),
            items: Listing::default(),
            duplicate_threshold: DUPLICATE_THRESHOLD,
            duplicates: Listing::default(),
            pointers: Listing::default(),
            todos: Listing::default(),
            covered_todos: 0,
            newest_commit_days: None,
            recent: None,
            branches: Listing::default(),
            base_branch: None,
        }
    }
}

impl Report for IssueReport {
    fn headline(&self) -> String {
        let least = if self.more_than_read { "at least " } else { "" };
        let line = match (self.issues, self.pulls) {
            (Some(issues), Some(pulls)) => format!(
                "{least}{}, {} ({} stale)",
                counted(issues, "open issue", "open issues"),
                counted(pulls, "open pull request", "open pull requests"),
                self.stale
            ),
            (None, Some(pulls)) => {
                format!(
                    "Open issues unknown; {least}{}",
                    counted(pulls, "open pull request", "open pull requests")
                )
            }
            (Some(issues), None) => format!(
                "{least}{}; pull requests unknown",
                counted(issues, "open issue", "open issues")
            ),
            (None, None) => "Open issues and pull requests unknown".to_owned(),
        };
        let todos = if self.issues.is_some() {
            ("TODO without an issue", "TODOs without an issue")
        } else {
            ("TODO", "TODOs")
        };
        let recent = self
            .recent
            .as_ref()
            .map_or(0, |recent| recent.branches.total());
        let findings = [
            (
                recent,
                "branch worked on lately",
                "branches worked on lately",
            ),
            (
                self.ready.total(),
                "task ready to start",
                "tasks ready to start",
            ),
            (self.blocked.total(), "task waiting", "tasks waiting"),
            (
                self.branches.total(),
                "branch perhaps left over",
                "branches perhaps left over",
            ),
            (self.todos.total(), todos.0, todos.1),
            (
                self.duplicates.total(),
                "likely duplicate",
                "likely duplicates",
            ),
        ];
        let line = match self.newest_commit_days {
            Some(days) if days > OLD_DAYS => {
                format!("{line}; the newest commit is {days} days old")
            }
            _ => line,
        };
        with_findings(line, &findings, &self.incomplete)
    }

    fn incomplete(&mut self) -> &mut Listing<Incomplete> {
        &mut self.incomplete
    }

    fn shorten_entries(&mut self) {
        for label in self.labels.iter_mut() {
            label.more_numbers += shorten(&mut label.numbers, MAX_NESTED);
        }
        for task in self.blocked.iter_mut() {
            task.more_waiting_for += shorten(&mut task.waiting_for, MAX_NESTED);
        }
        for item in self.items.iter_mut() {
            shorten(&mut item.labels, MAX_NESTED);
        }
        for pointer in self.pointers.iter_mut() {
            shorten(&mut pointer.files, MAX_NESTED);
        }
        if let Some(path) = &mut self.critical_path {
            path.more_tasks += shorten(&mut path.tasks, 2 * MAX_NESTED);
        }
    }

    fn lists(&mut self) -> Vec<(&mut dyn Cut, u32)> {
        let mut lists: Vec<(&mut dyn Cut, u32)> = vec![
            (&mut self.incomplete, 6),
            (&mut self.ready, 14),
            (&mut self.blocked, 8),
            (&mut self.cycles, 2),
            (&mut self.labels, 10),
            (&mut self.items, 20),
            (&mut self.duplicates, 10),
            (&mut self.pointers, 18),
            (&mut self.todos, 12),
            (&mut self.branches, 8),
        ];
        if let Some(recent) = &mut self.recent {
            lists.push((&mut recent.areas, 12));
            lists.push((&mut recent.branches, 12));
        }
        lists
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
