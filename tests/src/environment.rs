//! A place of one's own: home, state folder, git repository and an environment with nothing else in it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use shared::store::Store;
use tempfile::TempDir;

/// Returns the top of this project's own source tree.
pub fn project_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the package is below the workspace")
        .to_owned()
}

/// A hermetic place; it goes when dropped.
#[derive(Debug)]
pub struct TestEnv {
    folder: TempDir,
    variables: BTreeMap<String, String>,
    directory: PathBuf,
}

impl TestEnv {
    /// Makes a place with a repository of one commit on `main`.
    pub fn new() -> Self {
        let env = Self::without_repository();
        std::fs::create_dir_all(env.repository()).expect("the repository's folder");
        env.git(&["init", "-q", "-b", "main"]);
        env.git(&["commit", "-q", "--allow-empty", "-m", "start"]);
        env
    }

    /// Makes a place whose working directory is just a folder.
    pub fn without_repository() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("codex-test-")
            .tempdir()
            .expect("a temporary folder");
        let root = folder.path().canonicalize().expect("it exists");
        let directory = root.join("repo");
        std::fs::create_dir_all(root.join("home")).expect("a home");
        std::fs::create_dir_all(&directory).expect("a working directory");
        let path = std::env::var("PATH").unwrap_or_default();
        let state = root.join("state");
        let variables = [
            ("PATH", path.as_str()),
            ("HOME", &root.join("home").to_string_lossy()),
            ("CODEX_STATE_DIR", &state.to_string_lossy()),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            // Nothing above the temporary folder is taken for a repository.
            ("GIT_CEILING_DIRECTORIES", &root.to_string_lossy()),
            ("GIT_AUTHOR_NAME", "Test"),
            ("GIT_AUTHOR_EMAIL", "test@example.com"),
            ("GIT_COMMITTER_NAME", "Test"),
            ("GIT_COMMITTER_EMAIL", "test@example.com"),
            ("LC_ALL", "C.UTF-8"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        Self {
            folder,
            variables,
            directory,
        }
    }

    /// Sets a variable for everything started from now on.
    pub fn set(&mut self, name: &str, value: impl AsRef<str>) {
        self.variables
            .insert(name.to_owned(), value.as_ref().to_owned());
    }

    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// Makes everything start in another folder from now on.
    pub fn enter(&mut self, directory: impl Into<PathBuf>) {
        self.directory = directory.into();
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("it exists")
    }

    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    pub fn repository(&self) -> PathBuf {
        self.root().join("repo")
    }

    pub fn state(&self) -> PathBuf {
        self.root().join("state")
    }

    pub fn database(&self) -> PathBuf {
        self.state().join("codex.db")
    }

    /// Opens the database as the servers do.
    pub fn store(&self) -> Store {
        Store::open(&self.database()).expect("the database opens")
    }

    /// Returns a command that runs here and knows nothing of the environment outside.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(&self.variables)
            .current_dir(&self.directory);
        command
    }

    /// Runs git here and returns what it printed.
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = self
            .command("git")
            .args(arguments)
            .output()
            .expect("git can be run");
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

impl Default for TestEnv {
    fn default() -> Self {
        Self::new()
    }
}
