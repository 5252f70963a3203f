//! Open work with known answers, on real repositories.

mod repository;
mod summary;
mod work;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::*;
use crate::report::issues::*;
use crate::{Report as _, summarise};
use model::{OpenIssue, OpenWork, Priority, PullRequest, PullState, Task, TaskStatus, Timestamp};

pub(super) const DAY: i64 = 86_400;

/// The present of all tests: some day in 2026.
pub(super) fn now() -> Timestamp {
    days_ago(0)
}

pub(super) fn days_ago(days: i64) -> Timestamp {
    Timestamp::from_unix_seconds((20_500 - days) * DAY)
}

pub(super) fn patient() -> Budget {
    let deadline = Instant::now() + Duration::from_mins(2);
    Budget::new(Arc::new(AtomicBool::new(false)), deadline, Arc::new(|_| {}))
}

pub(super) fn issue(number: u64, title: &str, body: &str) -> OpenIssue {
    OpenIssue {
        number,
        title: title.to_owned(),
        body: body.to_owned(),
        labels: Vec::new(),
        author: Some("ada".to_owned()),
        created_at: days_ago(10),
        updated_at: days_ago(1),
        comments: 0,
        url: format!("https://example.com/issues/{number}"),
    }
}

pub(super) fn task(id: &str, status: TaskStatus, depends_on: &[&str], hours: Option<f64>) -> Task {
    Task {
        id: id.parse().unwrap(),
        title: format!("do {id}"),
        description: String::new(),
        status,
        priority: Priority::Medium,
        estimated_hours: hours,
        ready: false,
        depends_on: depends_on.iter().map(|id| id.parse().unwrap()).collect(),
        created_by: None,
        issue_number: None,
        issue_url: None,
        created_at: now(),
        updated_at: now(),
    }
}

pub(super) fn pull(number: u64, branch: &str) -> PullRequest {
    PullRequest {
        number,
        url: String::new(),
        title: "p".to_owned(),
        body: String::new(),
        state: PullState::Open,
        draft: true,
        head_branch: branch.to_owned(),
        base_branch: "main".to_owned(),
        head_commit: String::new(),
        merge_commit: None,
        created_at: days_ago(40),
        updated_at: days_ago(30),
        merged_at: None,
        mergeable: None,
    }
}

pub(super) fn input(root: &Path) -> IssuesInput {
    IssuesInput {
        root: root.to_owned(),
        now: now(),
        work: OpenWork {
            source: OpenWorkSource::Github,
            ..OpenWork::default()
        },
    }
}

/// Runs git as nobody in particular, at the given time.
pub(super) fn git(root: &Path, args: &[&str], when: Timestamp) {
    let seconds = when.unix_seconds();
    let status = Command::new("git")
        .arg("-C")
        .arg(root)
        .args([
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.com",
            "-c",
            "commit.gpgsign=false",
        ])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_AUTHOR_DATE", format!("{seconds} +0000"))
        .env("GIT_COMMITTER_DATE", format!("{seconds} +0000"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "git {args:?}");
}

pub(super) fn repository() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q", "-b", "main"], now());
    commit(folder.path(), "first", days_ago(300));
    folder
}

pub(super) fn commit(root: &Path, message: &str, when: Timestamp) {
    git(
        root,
        &["commit", "-q", "--allow-empty", "-m", message],
        when,
    );
}

pub(super) fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
