//! Open work on a repository: issues and pull requests of its forge, and its planned tasks.

use super::{PullRequest, Task, Timestamp};

/// An open issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenIssue {
    pub number: u64,
    pub title: String,
    pub body: String,
    pub labels: Vec<String>,
    /// None if the account was deleted.
    pub author: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub comments: u64,
    pub url: String,
}

/// Where issues and pull requests came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum OpenWorkSource {
    Github,
    #[default]
    Local,
    /// The forge could not be asked.
    Unavailable {
        why: String,
    },
}

/// A part that was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub what: &'static str,
    pub why: String,
}

/// Everything that is open.
#[derive(Debug, Clone, Default)]
pub struct OpenWork {
    pub source: OpenWorkSource,
    pub issues: Vec<OpenIssue>,
    pub pulls: Vec<PullRequest>,
    /// All tasks, also those that are done.
    pub tasks: Vec<Task>,
    pub missing: Vec<Missing>,
}
