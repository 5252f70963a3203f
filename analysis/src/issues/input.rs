//! What the caller knows of the open work: forge and database are not looked at from here.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::time::SystemTime;

use model::{Priority, TaskStatus};

use crate::{Control, Incomplete, git};

/// Where issues and pull requests came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Github,
    Local,
    /// They could not be had.
    Unavailable {
        why: String,
    },
}

/// An open issue.
#[derive(Debug, Clone)]
pub struct Issue {
    pub number: u64,
    pub title: String,
    pub body: String,
    pub labels: Vec<String>,
    pub author: String,
    pub created_at: SystemTime,
    pub updated_at: SystemTime,
    pub comments: u32,
    pub url: String,
}

/// An open pull request.
#[derive(Debug, Clone)]
pub struct Pull {
    pub number: u64,
    pub title: String,
    pub body: String,
    pub labels: Vec<String>,
    pub author: String,
    pub created_at: SystemTime,
    pub updated_at: SystemTime,
    pub comments: u32,
    pub url: String,
    /// The branch it brings in.
    pub branch: String,
    pub draft: bool,
}

/// A planned task.
#[derive(Debug, Clone)]
pub struct Task {
    pub id: String,
    pub title: String,
    pub description: String,
    pub status: TaskStatus,
    pub priority: Priority,
    pub estimated_hours: Option<f64>,
    pub depends_on: Vec<String>,
    pub issue_number: Option<u64>,
}

/// Everything the analysis of open work starts from.
#[derive(Debug, Clone)]
pub struct IssuesInput {
    pub root: PathBuf,
    /// The present; ages count from it.
    pub now: SystemTime,
    pub open_issues: Vec<Issue>,
    pub pulls: Vec<Pull>,
    pub tasks: Vec<Task>,
    pub source: Source,
    /// What could not be read.
    pub missing: Vec<Incomplete>,
}

impl IssuesInput {
    /// Returns a key that changes with the issues, pull requests, tasks and branches.
    pub fn fingerprint(&self, control: &Control) -> u64 {
        let mut hasher = DefaultHasher::new();
        // What Debug shows of them is everything they hold.
        format!(
            "{:?}{:?}{:?}{:?}{:?}",
            self.open_issues, self.pulls, self.tasks, self.source, self.missing
        )
        .hash(&mut hasher);
        match git::output(&self.root, &["for-each-ref"], control) {
            Ok(branches) => branches.hash(&mut hasher),
            // Unknown branches are never the same as before.
            Err(_) => SystemTime::now().hash(&mut hasher),
        }
        hasher.finish()
    }
}
