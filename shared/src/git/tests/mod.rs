//! Tests against the real git, each in a directory of its own.

mod advancing;
mod concealed;
mod discovery;
mod history;
mod hostile;
mod libgit2;
mod merging;
mod properties;
mod push;
mod removing;
mod same_answers;
mod snapshots;
mod status;
mod submodules;
mod worktrees;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;

/// A git that knows nothing of the user's or the system's configuration.
fn hermetic() -> Git {
    ENVIRONMENT
        .iter()
        .fold(Git::default(), |git, (name, value)| {
            git.with_env(name, value)
        })
}

/// Asks the git program everything.
fn by_program(repository: &Repository) -> Repository {
    let mut repository = repository.clone();
    repository.git.uses_libgit2 = false;
    repository
}

const ENVIRONMENT: [(&str, &str); 8] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_AUTHOR_NAME", "Ada"),
    ("GIT_AUTHOR_EMAIL", "ada@example.com"),
    ("GIT_COMMITTER_NAME", "Ada"),
    ("GIT_COMMITTER_EMAIL", "ada@example.com"),
    ("GIT_AUTHOR_DATE", "1700000000 +0000"),
    ("GIT_COMMITTER_DATE", "1700000000 +0000"),
];

/// Runs git for the test itself and returns what it printed.
fn git(directory: &Path, args: &[&str]) -> String {
    let output = git_command(directory, args).output().unwrap();
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn git_command(directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("git");
    command
        .args(args)
        .current_dir(directory)
        .envs(ENVIRONMENT)
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE");
    command
}

struct Fixture {
    directory: tempfile::TempDir,
    root: PathBuf,
}

impl Fixture {
    fn empty() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap().join("project");
        std::fs::create_dir(&root).unwrap();
        git(&root, &["init", "--quiet", "--initial-branch=main"]);
        Self { directory, root }
    }

    fn with_commit() -> Self {
        let fixture = Self::empty();
        commit(&fixture.root, "readme.txt", "hello\n");
        fixture
    }

    fn path(&self, name: impl AsRef<OsStr>) -> PathBuf {
        let directory = self.directory.path().canonicalize().unwrap();
        directory.join(name.as_ref())
    }

    async fn repository(&self) -> Repository {
        hermetic().discover(&self.root).await.unwrap()
    }

    fn branches(&self) -> Vec<String> {
        let text = git(
            &self.root,
            &["for-each-ref", "--format=%(refname:short)", "refs/heads"],
        );
        text.lines().map(str::to_owned).collect()
    }

    /// Adds a worktree on a new branch `name` in the directory `name`.
    async fn worktree(&self, repository: &Repository, name: &str) -> PathBuf {
        let path = self.path(name);
        repository
            .add_worktree(&path, new_branch(name))
            .await
            .unwrap();
        path
    }
}

fn commit(worktree: &Path, file: &str, text: &str) -> Oid {
    std::fs::write(worktree.join(file), text).unwrap();
    git(worktree, &["add", "--", file]);
    git(
        worktree,
        &["commit", "--quiet", "-m", &format!("change {file}")],
    );
    Oid::parse(&git(worktree, &["rev-parse", "HEAD"])).unwrap()
}

fn new_branch(name: &str) -> Checkout {
    Checkout::NewBranch {
        name: name.to_owned(),
        at: "HEAD".to_owned(),
    }
}

fn executable(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
