//! What this GitHub remembers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::TOKEN;
use crate::repository::Bare;

/// All there is. Tests may change anything at any time.
#[derive(Debug)]
pub struct State {
    pub owner: String,
    pub name: String,
    pub token: String,
    /// Whether the token may only read.
    pub read_only: bool,
    pub drafts_offered: bool,
    pub issues_enabled: bool,
    /// Branches that do not exist; of a real repository those count that it does not have.
    pub missing_branches: BTreeSet<String>,
    /// Branches without commits of their own; a real repository knows by itself.
    pub merged_branches: BTreeSet<String>,
    pub issues: BTreeMap<u64, Issue>,
    pub pulls: BTreeMap<u64, Pull>,
    pub rate: Rate,
    /// Why merges are refused, as the message of a 405.
    pub merge_refused: Option<String>,
    pub mergeability: Mergeability,
    /// The name that the repository had before; requests for it are redirected.
    pub former_name: Option<String>,
    pub bare: Option<Bare>,
    seconds: u64,
}

/// Whether it knows which pull requests conflict, or has yet to find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mergeability {
    Known,
    Pending,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    pub title: String,
    pub body: String,
    pub labels: Vec<String>,
    pub open: bool,
    pub created_at: String,
    pub updated_at: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pull {
    pub title: String,
    pub body: String,
    /// `owner:branch`.
    pub head: String,
    pub base: String,
    pub head_commit: String,
    pub base_commit: String,
    pub draft: bool,
    pub open: bool,
    pub conflicts: bool,
    pub merged_at: Option<String>,
    pub merge_commit: Option<String>,
    pub created_at: String,
    pub updated_at: String,
}

/// How many requests are left until when.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    pub limit: u32,
    pub remaining: u32,
    pub reset: SystemTime,
}

impl Default for State {
    fn default() -> Self {
        Self {
            owner: "octo".to_owned(),
            name: "hello".to_owned(),
            token: TOKEN.to_owned(),
            read_only: false,
            drafts_offered: true,
            issues_enabled: true,
            missing_branches: BTreeSet::new(),
            merged_branches: BTreeSet::new(),
            issues: BTreeMap::new(),
            pulls: BTreeMap::new(),
            rate: Rate {
                limit: 5_000,
                remaining: 5_000,
                reset: SystemTime::now() + Duration::from_hours(1),
            },
            merge_refused: None,
            mergeability: Mergeability::Known,
            former_name: None,
            bare: None,
            seconds: 0,
        }
    }
}

impl State {
    /// Adds an open issue and returns its number.
    pub fn add_issue(&mut self, title: &str, body: &str, labels: &[&str]) -> u64 {
        let (number, now) = (self.next_number(), self.now());
        let issue = Issue {
            title: title.to_owned(),
            body: body.to_owned(),
            labels: labels.iter().map(|&label| label.to_owned()).collect(),
            open: true,
            created_at: now.clone(),
            updated_at: now,
        };
        self.issues.insert(number, issue);
        number
    }

    /// Adds an open pull request from a branch of this repository and returns its number.
    pub fn add_pull(&mut self, title: &str, branch: &str, base: &str) -> u64 {
        let (number, now) = (self.next_number(), self.now());
        let pull = Pull {
            title: title.to_owned(),
            body: String::new(),
            head: format!("{}:{branch}", self.owner),
            base: base.to_owned(),
            head_commit: self.commit_of(branch).unwrap_or_default(),
            base_commit: self.commit_of(base).unwrap_or_default(),
            draft: false,
            open: true,
            conflicts: false,
            merged_at: None,
            merge_commit: None,
            created_at: now.clone(),
            updated_at: now,
        };
        self.pulls.insert(number, pull);
        number
    }

    /// Merges a pull request as somebody on the web site would.
    pub fn merge(&mut self, number: u64) {
        let now = self.now();
        if let Some(pull) = self.pulls.get_mut(&number) {
            pull.open = false;
            pull.merged_at = Some(now.clone());
            pull.merge_commit.get_or_insert_with(|| "c".repeat(40));
            pull.updated_at = now;
        }
    }

    /// Issues and pull requests are numbered together.
    pub(crate) fn next_number(&self) -> u64 {
        let last = self.issues.keys().chain(self.pulls.keys()).max();
        last.map_or(1, |last| last + 1)
    }

    /// Returns a time that is later than all before.
    pub(crate) fn now(&mut self) -> String {
        self.seconds += 1;
        let (hours, minutes) = (self.seconds / 3_600, self.seconds / 60 % 60);
        format!(
            "2026-01-01T{hours:02}:{minutes:02}:{:02}Z",
            self.seconds % 60
        )
    }

    /// Returns the commit at the tip of a branch, if there is that branch.
    pub(crate) fn commit_of(&self, branch: &str) -> Option<String> {
        if self.missing_branches.contains(branch) {
            return None;
        }
        match &self.bare {
            Some(bare) => bare.commit_of(branch),
            None => Some("a".repeat(40)),
        }
    }

    /// Whether the branch has commits that its base does not have.
    pub(crate) fn is_ahead(&self, branch: &str, base: &str) -> bool {
        match &self.bare {
            Some(repository) => repository.is_ahead(branch, base),
            None => !self.merged_branches.contains(branch),
        }
    }
}

impl Rate {
    /// Takes one request off; false if none is left.
    pub(crate) fn take(&mut self) -> bool {
        if SystemTime::now() >= self.reset {
            self.remaining = self.limit;
            self.reset = SystemTime::now() + Duration::from_hours(1);
        }
        let allowed = self.remaining > 0;
        self.remaining = self.remaining.saturating_sub(1);
        allowed
    }

    pub(crate) fn headers(&self) -> [(String, String); 4] {
        let reset = self.reset.duration_since(UNIX_EPOCH).unwrap_or_default();
        [
            ("x-ratelimit-limit", self.limit.to_string()),
            ("x-ratelimit-remaining", self.remaining.to_string()),
            (
                "x-ratelimit-used",
                (self.limit - self.remaining).to_string(),
            ),
            ("x-ratelimit-reset", reset.as_secs().to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
    }
}
