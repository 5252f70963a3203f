//! Repositories in temporary folders, with known contents and dates.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A folder that goes when it is dropped; a git repository after [`Repo::init`].
pub(crate) struct Repo {
    folder: TempDir,
}

impl Repo {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn init() -> Self {
        let repo = Self::new();
        repo.git(&["init", "-q", "-b", "main"]);
        repo
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn join(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_as("Ann", 1_700_000_000, arguments)
    }

    pub(crate) fn git_as(&self, author: &str, time: i64, arguments: &[&str]) -> String {
        let date = format!("{time} +0000");
        let output = Command::new("git")
            .arg("-C")
            .arg(self.path())
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", author)
            .env("GIT_AUTHOR_EMAIL", format!("{author}@example.com"))
            .env("GIT_COMMITTER_NAME", author)
            .env("GIT_COMMITTER_EMAIL", format!("{author}@example.com"))
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn commit(&self, author: &str, time: i64) -> &Self {
        self.git_as(author, time, &["add", "-A"]);
        self.git_as(
            author,
            time,
            &["commit", "-q", "--allow-empty", "-m", "change"],
        );
        self
    }
}
