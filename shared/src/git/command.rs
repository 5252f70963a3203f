//! Runs the git program: one environment, one set of limits and one way to fail for every call.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use command_fds::CommandFdExt;

use super::error::GitError;
use super::lock::WorktreeLock;
use super::scrub;
use super::version::{MINIMUM_VERSION, Version};
use crate::model::Secret;
use crate::process::{self, Finished, Limits, ProcessError};

/// Reading history or status of the largest repositories.
const READ_TIMEOUT: Duration = Duration::from_mins(1);
/// A checkout may fetch (partial clones) or run filters (LFS); a push waits for remote hooks.
pub(super) const CHECKOUT_TIMEOUT: Duration = Duration::from_mins(10);
/// Bytes that one answer of git may take: some 300,000 paths.
pub(super) const MAX_OUTPUT: usize = 32 << 20;

/// Variables that would make git look at another repository than the one meant, or read it differently.
///
/// They are set when this program was started from a git hook or an alias.
const INHERITED: [&str; 24] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIFF_OPTS",
    "GIT_DIR",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_EXTERNAL_DIFF",
    "GIT_GLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INDEX_VERSION",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Makes git show every commit as it is: agents share the repository's replacements (`git replace`) and grafts, and one could
/// show its reviewer, or us, other content and other parents than those that are pushed.
pub const AS_COMMITTED: [(&str, &str); 2] = [
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    // A file that can't be: git says at each call that an empty one is deprecated.
    ("GIT_GRAFT_FILE", "/dev/null/none"),
];

/// The git program, and what to add to the environment it inherits.
#[derive(Debug, Clone)]
pub struct Git {
    program: OsString,
    environment: Vec<(OsString, OsString)>,
    /// Whether libgit2 is asked first.
    pub(super) uses_libgit2: bool,
}

impl Default for Git {
    /// The `git` on PATH, and libgit2 for what it can answer.
    fn default() -> Self {
        Self {
            uses_libgit2: true,
            ..Self::new("git")
        }
    }
}

impl Git {
    /// A git program that answers everything itself.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            environment: Vec::new(),
            uses_libgit2: false,
        }
    }

    /// Adds a variable to the environment of every git that this value starts.
    #[must_use]
    pub fn with_env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Asks git for its version.
    pub async fn version(&self) -> Result<Version, GitError> {
        let finished = self
            .call(Place::Directory(Path::new("/")), "version")
            .success()
            .await?;
        Version::parse(&finished.stdout)
            .ok_or_else(|| GitError::unexpected("version", &finished.stdout))
    }

    /// Returns the version if it is at least [`MINIMUM_VERSION`].
    pub async fn require_minimum(&self) -> Result<Version, GitError> {
        let found = self.version().await?;
        if found < MINIMUM_VERSION {
            return Err(GitError::TooOld {
                found,
                minimum: MINIMUM_VERSION,
            });
        }
        Ok(found)
    }

    pub(super) fn call<'a>(&'a self, place: Place<'a>, operation: &'static str) -> Call<'a> {
        Call {
            git: self,
            place,
            operation,
            settings: Vec::new(),
            args: operation.split(' ').map(OsString::from).collect(),
            environment: Vec::new(),
            time: READ_TIMEOUT,
            output: MAX_OUTPUT,
            writes: false,
            secret: None,
            lock: None,
            input: None,
        }
    }
}

/// Where a git command does its work.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'a> {
    /// The repository as such, named by its common directory; `HEAD` is the main worktree's.
    Repository(&'a Path),
    /// The top level of a worktree, main or linked.
    Worktree(&'a Path),
    /// Any directory; git searches upwards from there.
    Directory(&'a Path),
}

impl<'a> Place<'a> {
    pub(super) fn path(self) -> &'a Path {
        match self {
            Self::Repository(path) | Self::Worktree(path) | Self::Directory(path) => path,
        }
    }
}

/// One call of git, being put together.
pub(super) struct Call<'a> {
    git: &'a Git,
    place: Place<'a>,
    operation: &'static str,
    settings: Vec<OsString>,
    args: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    time: Duration,
    output: usize,
    writes: bool,
    secret: Option<&'a Secret>,
    lock: Option<&'a WorktreeLock>,
    input: Option<&'a [u8]>,
}

impl<'a> Call<'a> {
    pub(super) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub(super) fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Adds settings (`-c name=value`) that hold for this call alone.
    pub(super) fn settings(
        mut self,
        settings: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Self {
        let settings = settings.into_iter();
        self.settings
            .extend(settings.map(|setting| setting.as_ref().to_owned()));
        self
    }

    /// Adds settings that hold for this call alone and are in no argument.
    ///
    /// Not by `GIT_CONFIG_COUNT`, which may hold settings of the person's: with them the repository was looked at.
    pub(super) fn hidden_settings<'s>(
        self,
        settings: impl IntoIterator<Item = (&'s str, &'s str)>,
    ) -> Self {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
        let settings: Vec<String> = settings
            .into_iter()
            .map(|(key, value)| format!("{}={}", quoted(key), quoted(value)))
            .collect();
        self.env("GIT_CONFIG_PARAMETERS", settings.join(" "))
    }

    pub(super) fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Says that the call changes something, so git may take its locks.
    pub(super) fn writes(mut self) -> Self {
        self.writes = true;
        self
    }

    pub(super) fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    pub(super) fn output(mut self, bytes: usize) -> Self {
        self.output = bytes;
        self
    }

    /// Names a secret that must not show in what git prints.
    pub(super) fn secret(mut self, secret: Option<&'a Secret>) -> Self {
        self.secret = secret;
        self
    }

    /// Gives git something to read on standard input.
    pub(super) fn input(mut self, input: &'a [u8]) -> Self {
        self.input = Some(input);
        self
    }

    /// Hands the lock to git as well, so that it is held until git ends even if we are killed.
    pub(super) fn holding(mut self, lock: &'a WorktreeLock) -> Self {
        self.lock = Some(lock);
        self
    }

    /// Runs git to its end, whatever status it ends with.
    pub(super) async fn run(&self) -> Result<Finished, GitError> {
        let mut command = process::command(self.git.program.clone(), self.leading_args());
        command.args(&self.args);
        if let Place::Worktree(path) = self.place {
            // Without this, git would search upwards and might act on a repository around it.
            if path.join(".git").symlink_metadata().is_err() {
                return Err(GitError::NotARepository {
                    path: path.to_owned(),
                });
            }
        }
        command.current_dir(self.place.path());
        for name in INHERITED {
            command.env_remove(name);
        }
        command
            .env("GIT_TERMINAL_PROMPT", "0")
            // ssh would otherwise prompt on the terminal.
            .env("SSH_ASKPASS_REQUIRE", "force")
            .env("LC_ALL", "C")
            .envs(AS_COMMITTED)
            .env_remove("LANGUAGE");
        if self.writes {
            command.env_remove("GIT_OPTIONAL_LOCKS");
        } else {
            command.env("GIT_OPTIONAL_LOCKS", "0");
        }
        command
            .envs(
                self.git
                    .environment
                    .iter()
                    .map(|(name, value)| (name, value)),
            )
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(lock) = self.lock {
            let lock = lock.share();
            let lock = lock.map_err(GitError::io("share the lock of", self.place.path()))?;
            command.preserved_fds(vec![lock]);
        }
        let limits = Limits {
            time: self.time,
            output: self.output,
        };
        process::run(&mut command, self.input, limits)
            .await
            .map_err(|source| self.process_error(source))
    }

    /// Runs git and returns its output if the status is 0.
    pub(super) async fn success(&self) -> Result<Finished, GitError> {
        let finished = self.run().await?;
        if finished.status.success() {
            Ok(finished)
        } else {
            Err(self.failure(&finished))
        }
    }

    /// Runs git and returns its output, or `None` if the status is 1 (git's plain "no").
    pub(super) async fn answer(&self) -> Result<Option<Finished>, GitError> {
        let finished = self.run().await?;
        match finished.status.code() {
            Some(0) => Ok(Some(finished)),
            Some(1) => Ok(None),
            _ => Err(self.failure(&finished)),
        }
    }

    /// Turns a failed run into the most specific error.
    pub(super) fn failure(&self, finished: &Finished) -> GitError {
        let path = self.place.path().to_owned();
        let stderr = self.stderr(finished);
        if stderr.contains("dubious ownership") {
            GitError::DubiousOwnership { path }
        } else if stderr.contains("not a git repository") {
            GitError::NotARepository { path }
        } else {
            GitError::Failed {
                operation: self.operation,
                status: finished.status.code(),
                stderr,
            }
        }
    }

    /// Returns git's standard error, redacted.
    pub(super) fn stderr(&self, finished: &Finished) -> String {
        scrub::shown(&finished.stderr_text(), self.secret)
    }

    fn leading_args(&self) -> Vec<OsString> {
        let mut args = vec![OsString::from("-c"), OsString::from("core.quotePath=false")];
        args.extend(self.settings.iter().cloned());
        if let Place::Repository(common_dir) = self.place {
            let mut argument = OsString::from("--git-dir=");
            argument.push(common_dir);
            args.push(argument);
        }
        args
    }

    fn process_error(&self, source: ProcessError) -> GitError {
        match source {
            ProcessError::Spawn { .. } if !self.place.path().is_dir() => GitError::NotARepository {
                path: self.place.path().to_owned(),
            },
            ProcessError::NotFound { .. }
            | ProcessError::Spawn { .. }
            | ProcessError::Io { .. }
            | ProcessError::TimedOut { .. }
            | ProcessError::TooMuchOutput { .. } => GitError::Process { source },
        }
    }
}
