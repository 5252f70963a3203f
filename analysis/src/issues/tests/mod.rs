//! Open work with known answers, on real repositories.

mod budget;
mod repository;
mod work;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime};

use tempfile::TempDir;

use super::input::{Issue, Pull, Task};
use super::*;
use crate::report::issues::*;
use crate::{Report as _, summarise};
use model::{Priority, TaskStatus};

pub(super) const DAY: u64 = 86_400;

/// The present of all tests: some day in 2026.
pub(super) fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(20_500 * DAY)
}

pub(super) fn days_ago(days: u64) -> SystemTime {
    now() - Duration::from_secs(days * DAY)
}

pub(super) fn patient() -> Control {
    let deadline = Instant::now() + Duration::from_mins(2);
    Control::new(Arc::new(AtomicBool::new(false)), deadline, Arc::new(|_| {}))
}

pub(super) fn issue(number: u64, title: &str, body: &str) -> Issue {
    Issue {
        number,
        title: title.to_owned(),
        body: body.to_owned(),
        labels: Vec::new(),
        author: "ada".to_owned(),
        created_at: days_ago(10),
        updated_at: days_ago(1),
        comments: 0,
        url: format!("https://example.com/issues/{number}"),
    }
}

pub(super) fn task(id: &str, status: TaskStatus, depends_on: &[&str], hours: Option<f64>) -> Task {
    Task {
        id: id.to_owned(),
        title: format!("do {id}"),
        description: String::new(),
        status,
        priority: Priority::Medium,
        estimated_hours: hours,
        depends_on: depends_on.iter().map(|&id| id.to_owned()).collect(),
        issue_number: None,
    }
}

pub(super) fn input(root: &Path) -> IssuesInput {
    IssuesInput {
        root: root.to_owned(),
        now: now(),
        open_issues: Vec::new(),
        pulls: Vec::new(),
        tasks: Vec::new(),
        source: Source::Github,
        missing: Vec::new(),
    }
}

/// Runs git as nobody in particular, at the given time.
pub(super) fn git(root: &Path, args: &[&str], when: SystemTime) {
    let seconds = when
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs();
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

pub(super) fn commit(root: &Path, message: &str, when: SystemTime) {
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
