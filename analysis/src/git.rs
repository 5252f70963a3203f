//! Runs the git binary, hermetic and interruptible: no pager, no prompts, no hooks, no locale.
//!
//! Analysis runs on a blocking thread and reads output as it comes, so it does not go through the
//! asynchronous process runner; like that one it puts each child into a group of its own and ends the group.

use std::ffi::OsStr;
use std::io::{Read, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use super::Budget;

/// How often the budget is checked while git prints nothing.
const POLL_INTERVAL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

/// Why git gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GitFailure {
    #[error("cannot start git: {source}")]
    Spawn { source: std::io::Error },
    #[error("lost contact with git: {source}")]
    Pipe { source: std::io::Error },
    #[error("git {command} failed: {message}")]
    Failed { command: String, message: String },
    #[error("the time limit was reached")]
    Stopped,
    #[error("git answered something unexpected")]
    Unexpected,
}

/// Variables that would redirect git or change its output.
const UNSET: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CEILING_DIRECTORIES",
    "GIT_TRACE",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_PAGER",
    "PAGER",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_LITERAL_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_REPLACE_REF_BASE",
];

/// Builds a git command for a directory.
pub(crate) fn command(root: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(root)
        .args([
            "--no-pager",
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.quotePath=false",
        ])
        .args([
            "-c",
            "log.showSignature=false",
            "-c",
            "diff.ignoreSubmodules=none",
            "-c",
            "color.ui=never",
        ])
        .args(args)
        .env("LC_ALL", "C")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1");
    for name in UNSET {
        command.env_remove(name);
    }
    command
}

/// A running git whose output is read as it comes; ended when dropped.
pub(crate) struct Stream {
    child: Child,
    output: ChildStdout,
    name: String,
}

impl Stream {
    /// Starts the command; with `input` its standard input is fed from another thread.
    pub(crate) fn start(mut command: Command, input: Option<Vec<u8>>) -> Result<Self, GitFailure> {
        let name = command
            .get_args()
            .skip_while(|arg| *arg != OsStr::new("color.ui=never"))
            .nth(1)
            .map_or_else(String::new, |arg| arg.to_string_lossy().into_owned());
        command
            .stdin(if input.is_some() {
                Stdio::piped()
            } else {
                Stdio::null()
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = command
            .spawn()
            .map_err(|source| GitFailure::Spawn { source })?;
        if let (Some(stdin), Some(input)) = (child.stdin.take(), input) {
            feed(stdin, input);
        }
        let Some(output) = child.stdout.take() else {
            return Err(GitFailure::Unexpected);
        };
        Ok(Self {
            child,
            output,
            name,
        })
    }

    /// Reads the next bytes into the buffer's end; `false` at the end of the output.
    pub(crate) fn read(
        &mut self,
        buffer: &mut Vec<u8>,
        budget: &Budget,
    ) -> Result<bool, GitFailure> {
        const STEP: usize = 1 << 16;
        loop {
            if budget.must_stop() {
                return Err(GitFailure::Stopped);
            }
            let mut polled = [PollFd::from_borrowed_fd(self.output.as_fd(), PollFlags::IN)];
            match poll(&mut polled, Some(&POLL_INTERVAL)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => break,
                Err(source) => {
                    return Err(GitFailure::Pipe {
                        source: source.into(),
                    });
                }
            }
        }
        let old = buffer.len();
        buffer.resize(old + STEP, 0);
        let got = self.output.read(&mut buffer[old..]);
        match got {
            Ok(count) => {
                buffer.truncate(old + count);
                Ok(count > 0)
            }
            Err(source) => {
                buffer.truncate(old);
                Err(GitFailure::Pipe { source })
            }
        }
    }

    /// Waits for the end and checks the exit status.
    pub(crate) fn finish(mut self) -> Result<(), GitFailure> {
        let mut message = Vec::new();
        if let Some(stderr) = self.child.stderr.take() {
            // A message that can't be read is an empty one.
            let _ = stderr.take(2_000).read_to_end(&mut message);
        }
        let status = self
            .child
            .wait()
            .map_err(|source| GitFailure::Pipe { source })?;
        if status.success() {
            Ok(())
        } else {
            Err(GitFailure::Failed {
                command: std::mem::take(&mut self.name),
                message: String::from_utf8_lossy(&message).trim().to_owned(),
            })
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            if let Some(pid) = Pid::from_raw(self.child.id().cast_signed()) {
                // It only reads, so it can be killed at any point. ESRCH means that it has ended.
                let _ = kill_process_group(pid, Signal::KILL);
            }
            let _ = self.child.wait();
        }
    }
}

fn feed(mut stdin: ChildStdin, input: Vec<u8>) {
    std::thread::spawn(move || {
        // A git that was killed breaks the pipe; its exit status tells.
        let _ = stdin.write_all(&input);
    });
}

/// Runs git to its end and returns what it printed.
pub(crate) fn output(root: &Path, args: &[&str], budget: &Budget) -> Result<Vec<u8>, GitFailure> {
    collect(command(root, args), budget)
}

/// Reads a path that git printed on a line.
pub(crate) fn path_of(output: &[u8]) -> PathBuf {
    let line = output.strip_suffix(b"\n").unwrap_or(output);
    PathBuf::from(OsStr::from_bytes(line))
}

/// Runs a command to its end and returns what it printed.
pub(crate) fn collect(command: Command, budget: &Budget) -> Result<Vec<u8>, GitFailure> {
    // Spawning a process only to kill it would cost most of the remaining time.
    if budget.must_stop() {
        return Err(GitFailure::Stopped);
    }
    let mut stream = Stream::start(command, None)?;
    let mut bytes = Vec::new();
    while stream.read(&mut bytes, budget)? {}
    stream.finish()?;
    Ok(bytes)
}
