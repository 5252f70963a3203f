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
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use super::{Budget, git_place};

/// How often the budget is checked while git prints nothing.
const POLL_INTERVAL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

/// How long a git that prints nothing may sleep without using the processor: it waits for a pipe then, not for work.
const LONGEST_SLEEP: Duration = Duration::from_secs(2);

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
    /// A file that git reads first is none, or is far too large.
    #[error("git was not asked: {} is no file that can be read whole", path.display())]
    Hostile { path: PathBuf },
    #[error("git waited for something that never came, such as a pipe in place of a file")]
    Stuck,
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
        .current_dir(root)
        .args([
            "--no-pager",
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.quotePath=false",
        ])
        .args(["-c", "log.showSignature=false", "-c", "color.ui=never"])
        .args(args)
        .env("LC_ALL", "C")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        // An older git knows only this: no remote is asked, nor a program that the repository names for one.
        .env("GIT_ALLOW_PROTOCOL", "none");
    for name in UNSET {
        command.env_remove(name);
    }
    command
}

/// Makes git compare submodules by their commits, whatever `.gitmodules` say: it does not run in them, and
/// a `.gitmodules` that it refuses is not read.
pub(crate) const SUBMODULES: &str = "--ignore-submodules=dirty";

/// The filters that the repository configures for itself: programs that git would run on the files it reads.
pub(crate) struct OwnFilters(Vec<String>);

impl OwnFilters {
    pub(crate) fn of(root: &Path, budget: &Budget) -> Result<Self, GitFailure> {
        let args = [
            "config",
            "--show-scope",
            "--null",
            "--name-only",
            "--get-regexp",
            r"^filter\.",
        ];
        let listed = match output(root, &args, budget) {
            Ok(listed) => String::from_utf8_lossy(&listed).into_owned(),
            // There is none.
            Err(GitFailure::Failed { message, .. }) if message.is_empty() => String::new(),
            Err(failure) => return Err(failure),
        };
        let mut fields = listed.split('\0');
        let mut names = Vec::new();
        while let (Some(scope), Some(key)) = (fields.next(), fields.next()) {
            if matches!(scope, "local" | "worktree")
                && let Some((name, _)) = key.rsplit_once('.')
            {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        names.dedup();
        Ok(Self(names))
    }

    /// Builds a command that reads files of the working tree and runs none of these filters.
    pub(crate) fn command(&self, root: &Path, args: &[&str]) -> Command {
        let mut command = command(root, args);
        let settings = [("clean", ""), ("process", ""), ("required", "false")];
        let settings = self
            .0
            .iter()
            .flat_map(|name| settings.map(|(key, value)| (format!("{name}.{key}"), value)));
        let mut count = 0;
        for (key, value) in settings {
            command.env(format!("GIT_CONFIG_KEY_{count}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{count}"), value);
            count += 1;
        }
        command.env("GIT_CONFIG_COUNT", count.to_string());
        command
    }
}

/// A running git whose output is read as it comes; ended when dropped.
pub(crate) struct Stream {
    child: Child,
    output: ChildStdout,
    /// Reads what git complains about, so that git never waits for it.
    complaints: Option<JoinHandle<Vec<u8>>>,
    name: String,
    sleep: Sleep,
}

/// Since when a process sleeps, and the processor time that it had used by then.
struct Sleep {
    since: Instant,
    used: Option<u64>,
}

impl Stream {
    /// Starts the command; with `input` its standard input is fed from another thread.
    pub(crate) fn start(mut command: Command, input: Option<Vec<u8>>) -> Result<Self, GitFailure> {
        if let Some(path) = command.get_current_dir().and_then(git_place::obstacle) {
            return Err(GitFailure::Hostile { path });
        }
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
        let complaints = child.stderr.take().map(listen);
        Ok(Self {
            child,
            output,
            complaints,
            name,
            sleep: Sleep {
                since: Instant::now(),
                used: None,
            },
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
            if budget.is_git_stuck() {
                return Err(GitFailure::Stuck);
            }
            let mut polled = [PollFd::from_borrowed_fd(self.output.as_fd(), PollFlags::IN)];
            match poll(&mut polled, Some(&POLL_INTERVAL)) {
                Ok(0) if self.sleeps_too_long() => budget.set_git_stuck(),
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => break,
                Err(source) => {
                    return Err(GitFailure::Pipe {
                        source: source.into(),
                    });
                }
            }
        }
        self.sleep.since = Instant::now();
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

    /// Returns whether git has done nothing at all for long. Where nobody tells, it works.
    fn sleeps_too_long(&mut self) -> bool {
        let used = processor_time_asleep(self.child.id());
        if used.is_none() || used != self.sleep.used {
            self.sleep = Sleep {
                since: Instant::now(),
                used,
            };
        }
        self.sleep.since.elapsed() > LONGEST_SLEEP
    }

    /// Waits for the end and checks the exit status.
    pub(crate) fn finish(mut self) -> Result<(), GitFailure> {
        let complaints = self.complaints.take();
        let message = complaints.and_then(|thread| thread.join().ok());
        let message = message.unwrap_or_default();
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

/// Reads to the end and keeps the beginning; a message that can't be read is an empty one.
fn listen(mut stderr: ChildStderr) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut message = Vec::new();
        let _ = stderr.by_ref().take(2_000).read_to_end(&mut message);
        let _ = std::io::copy(&mut stderr, &mut std::io::sink());
        message
    })
}

/// Returns the processor time of a process that sleeps; none if it works or waits for a disk, or nobody tells.
fn processor_time_asleep(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let (state, own, system) = (fields.first()?, fields.get(11)?, fields.get(12)?);
    let total = own.parse::<u64>().ok()? + system.parse::<u64>().ok()?;
    (*state == "S").then_some(total)
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

/// Returns whether there is a commit at all.
pub(crate) fn has_commit(root: &Path, budget: &Budget) -> Result<bool, GitFailure> {
    match output(root, &["rev-parse", "--verify", "--quiet", "HEAD"], budget) {
        Ok(_) => Ok(true),
        Err(GitFailure::Failed { .. }) => Ok(false),
        Err(failure) => Err(failure),
    }
}

/// Returns nothing for a question that git refuses, where that is no reason to give up.
pub(crate) fn if_answered<T: Default>(answer: Result<T, GitFailure>) -> Result<T, GitFailure> {
    match answer {
        Err(GitFailure::Failed { .. }) => Ok(T::default()),
        Ok(_) | Err(_) => answer,
    }
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
