//! Runs one child process to its end: a time limit, bounded output, and no survivors.
//!
//! Every child leads its own process group, so that ending it also ends what it started (git
//! hooks, ssh, filters). Ending means SIGTERM first: git then removes its lock files itself. What a
//! child that ended by itself has left in the background is neither ended nor waited for.

mod family;
mod lines;
mod mark;
mod proc_fs;
mod terminal;
mod tree;

use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use crate::fault;

pub use family::{Family, Grace, adopt_orphans};
pub use lines::{Source, follow};
pub use mark::{
    ask_to_end, boot_time, has_ended, is_alive, is_out_of_sight, is_running, is_seen, mark, nobody,
    this_process,
};
pub use terminal::{ControllingTerminal, controlling_terminal};
pub use tree::{
    Ancestor, ancestors, descendants, name_of, seconds_since_start, standing_in, started_with,
    started_with_in, variable_of, was_started_by,
};

/// How long a child may take to die of SIGTERM before it gets SIGKILL.
const TERM_GRACE: Duration = Duration::from_secs(2);
/// How long the output of a child that has ended is read on: by then it has all come, and what keeps it open is a
/// process that the child has left in the background, such as a hook's.
const OUTPUT_GRACE: Duration = Duration::from_millis(500);

/// What a child that ran to its end left behind.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Finished {
    /// Returns standard output as text, invalid bytes replaced.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Returns standard error as trimmed text, invalid bytes replaced.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim().to_owned()
    }
}

/// Bounds on one child.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub time: Duration,
    /// Bytes kept of each output stream; more than that is an error, never a silent cut.
    pub output: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    #[error("`{program}` is not installed or not on PATH")]
    NotFound { program: String },
    #[error("cannot start `{program}`: {source}")]
    Spawn {
        program: String,
        source: std::io::Error,
    },
    #[error("lost contact with `{program}`: {source}")]
    Io {
        program: String,
        source: std::io::Error,
    },
    #[error("`{program}` did not finish within {} s and was ended", after.as_secs_f32())]
    TimedOut { program: String, after: Duration },
    #[error("`{program}` printed more than {limit} bytes and was ended")]
    TooMuchOutput { program: String, limit: usize },
}

/// Runs the command with the given standard input (none: empty) and collects its output.
///
/// Dropping the future ends the child's whole process group.
pub async fn run(
    command: &mut Command,
    input: Option<&[u8]>,
    limits: Limits,
) -> Result<Finished, ProcessError> {
    let program = command
        .as_std()
        .get_program()
        .to_string_lossy()
        .into_owned();
    command
        .stdin(if input.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let step = fault_step(command);
    fault::before(&step).map_err(|source| ProcessError::Spawn {
        program: program.clone(),
        source,
    })?;
    if fault::refuses(&step) {
        return Ok(refused());
    }
    let child = command.spawn().map_err(|source| {
        if source.kind() == std::io::ErrorKind::NotFound && !cwd_is_missing(command) {
            ProcessError::NotFound {
                program: program.clone(),
            }
        } else {
            ProcessError::Spawn {
                program: program.clone(),
                source,
            }
        }
    })?;
    let mut group = Group { child };
    let outcome = tokio::time::timeout(limits.time, group.collect(input, limits.output)).await;
    match outcome {
        Ok(Ok(Some(finished))) => {
            fault::after(&step);
            Ok(finished)
        }
        Ok(Ok(None)) => {
            group.end().await;
            Err(ProcessError::TooMuchOutput {
                program,
                limit: limits.output,
            })
        }
        Ok(Err(source)) => {
            group.end().await;
            Err(ProcessError::Io { program, source })
        }
        Err(_) => {
            group.end().await;
            Err(ProcessError::TimedOut {
                program,
                after: limits.time,
            })
        }
    }
}

/// Names a child for fault injection: the program and its first words.
fn fault_step(command: &Command) -> String {
    let command = command.as_std();
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ").chars().take(200).collect()
}

/// What is left of a child that was made to refuse its work: git's status when something is wrong.
fn refused() -> Finished {
    Finished {
        status: std::os::unix::process::ExitStatusExt::from_raw(128 << 8),
        stdout: Vec::new(),
        stderr: b"fatal: refused for a test".to_vec(),
    }
}

/// A missing working directory also gives `NotFound`; that is not a missing program.
fn cwd_is_missing(command: &Command) -> bool {
    command
        .as_std()
        .get_current_dir()
        .is_some_and(|directory| !directory.is_dir())
}

/// Builds a command from a program and its arguments.
pub fn command(
    program: impl Into<OsString>,
    args: impl IntoIterator<Item = impl Into<OsString>>,
) -> Command {
    let mut command = Command::new(program.into());
    for arg in args {
        command.arg(arg.into());
    }
    command
}

struct Group {
    child: Child,
}

impl Group {
    /// Feeds and drains the child; `None` means that it printed more than it may.
    async fn collect(
        &mut self,
        input: Option<&[u8]>,
        limit: usize,
    ) -> std::io::Result<Option<Finished>> {
        let stdin = self.child.stdin.take();
        let stdout = self.child.stdout.take();
        let stderr = self.child.stderr.take();
        let feed = async {
            if let (Some(mut stdin), Some(input)) = (stdin, input) {
                // A child that exits without reading its input breaks the pipe; its status says why.
                let _ = stdin.write_all(input).await;
            }
            Ok(())
        };
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        let status = {
            let exchange = async {
                tokio::try_join!(
                    feed,
                    read_up_to(stdout, limit, &mut output),
                    read_up_to(stderr, limit, &mut errors)
                )
            };
            tokio::pin!(exchange);
            tokio::select! {
                exchanged = &mut exchange => {
                    let ((), whole_output, whole_errors) = exchanged?;
                    if !(whole_output && whole_errors) {
                        return Ok(None);
                    }
                    self.child.wait().await?
                }
                status = self.child.wait() => {
                    if let Ok(exchanged) = tokio::time::timeout(OUTPUT_GRACE, exchange).await {
                        let ((), whole_output, whole_errors) = exchanged?;
                        if !(whole_output && whole_errors) {
                            return Ok(None);
                        }
                    }
                    status?
                }
            }
        };
        Ok(Some(Finished {
            status,
            stdout: output,
            stderr: errors,
        }))
    }

    fn signal(&self, signal: Signal) {
        let pid = self
            .child
            .id()
            .and_then(|id| Pid::from_raw(id.cast_signed()));
        if let Some(pid) = pid {
            // ESRCH means that it has ended already, which is what was wanted.
            let _ = kill_process_group(pid, signal);
        }
    }

    async fn end(&mut self) {
        self.signal(Signal::TERM);
        if tokio::time::timeout(TERM_GRACE, self.child.wait())
            .await
            .is_err()
        {
            self.signal(Signal::KILL);
            let _ = self.child.wait().await;
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // `id` is None once the child was waited for, so a recycled pid is never signalled.
        self.signal(Signal::TERM);
    }
}

/// Reads to the end; false as soon as there is more than `limit`.
async fn read_up_to(
    stream: Option<impl AsyncRead + Unpin>,
    limit: usize,
    bytes: &mut Vec<u8>,
) -> std::io::Result<bool> {
    if let Some(stream) = stream {
        let bound = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        stream.take(bound).read_to_end(bytes).await?;
    }
    Ok(bytes.len() <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        time: Duration::from_mins(1),
        output: 1 << 20,
    };

    async fn of_shell(script: &str) -> Result<Finished, ProcessError> {
        run(&mut command("sh", ["-c", script]), None, LIMITS).await
    }

    /// A hook may start a program that goes on: it keeps our pipes open, and it is not ours to end.
    #[tokio::test]
    async fn what_a_child_leaves_in_the_background_is_left_alone() {
        let began = std::time::Instant::now();
        let finished = of_shell("sleep 50 & echo $!; echo said >&2; exit 3")
            .await
            .unwrap();
        assert_eq!(finished.status.code(), Some(3));
        assert_eq!(finished.stderr_text(), "said");
        assert!(began.elapsed() < Duration::from_secs(40));
        let pid: i32 = finished.stdout_text().trim().parse().unwrap();
        let pid = Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, Signal::KILL).expect("it still runs");
    }

    #[tokio::test]
    async fn all_that_a_child_printed_last_is_read() {
        let finished = of_shell("head -c 1000000 /dev/zero | tr '\\0' x")
            .await
            .unwrap();
        assert_eq!(finished.stdout.len(), 1_000_000);
    }

    #[tokio::test]
    async fn too_much_output_is_an_error() {
        let result = of_shell("head -c 2000000 /dev/zero").await;
        assert!(matches!(result, Err(ProcessError::TooMuchOutput { .. })));
    }
}
