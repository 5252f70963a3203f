//! Runs a child whose output is followed line by line while it works.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

use super::{ProcessError, TERM_GRACE};

/// The longest line that is handed on whole; of a longer one the rest is left out.
const MAX_LINE_BYTES: usize = 8 << 20;
/// Lines that may wait for whoever takes them.
const MAX_BUFFERED_LINES: usize = 64;

/// Where a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Output,
    Error,
}

/// Runs the command and hands on each line that it prints, without its line break.
///
/// The child stays in our process group: what ends a terminal ends both. When `stop` is over, the
/// child is asked to end, then made to. What it leaves running may keep its output open; that is not
/// waited for.
pub async fn follow(
    command: &mut Command,
    input: Stdio,
    mut take: impl FnMut(Source, &[u8]),
    stop: impl Future<Output = ()>,
) -> Result<ExitStatus, ProcessError> {
    let program = command
        .as_std()
        .get_program()
        .to_string_lossy()
        .into_owned();
    let spawned = command
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn();
    let mut child = spawned.map_err(|source| ProcessError::Spawn {
        program: program.clone(),
        source,
    })?;
    let (sender, mut lines) = mpsc::channel(MAX_BUFFERED_LINES);
    let output = pump(child.stdout.take(), Source::Output, sender.clone());
    let errors = pump(child.stderr.take(), Source::Error, sender);
    let pumps = async {
        tokio::join!(output, errors);
    };
    tokio::pin!(pumps);
    let ended = end_of(&mut child, stop);
    tokio::pin!(ended);
    let (mut status, mut drained) = (None, false);
    // Armed when the child has ended: what it printed last is on its way.
    let late = tokio::time::sleep(Duration::MAX);
    tokio::pin!(late);
    loop {
        tokio::select! {
            Some((source, line)) = lines.recv() => take(source, &line),
            () = &mut pumps, if !drained => drained = true,
            result = &mut ended, if status.is_none() => {
                status = Some(result.map_err(|source| ProcessError::Io {
                    program: program.clone(),
                    source,
                })?);
                late.as_mut().reset(tokio::time::Instant::now() + TERM_GRACE);
            }
            () = &mut late, if status.is_some() => drained = true,
        }
        if drained && let Some(status) = status {
            while let Ok((source, line)) = lines.try_recv() {
                take(source, &line);
            }
            return Ok(status);
        }
    }
}

/// Waits for the child, ending it when it is to stop.
async fn end_of(child: &mut Child, stop: impl Future<Output = ()>) -> std::io::Result<ExitStatus> {
    tokio::select! {
        status = child.wait() => return status,
        () = stop => {}
    }
    if let Some(pid) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
        // ESRCH means that it has ended already, which is what was wanted.
        let _ = kill_process(pid, Signal::TERM);
    }
    if let Ok(status) = tokio::time::timeout(TERM_GRACE, child.wait()).await {
        return status;
    }
    child.kill().await?;
    child.wait().await
}

/// Sends a stream line by line, until it ends or nobody listens.
async fn pump(
    stream: Option<impl AsyncRead + Unpin>,
    source: Source,
    lines: mpsc::Sender<(Source, Vec<u8>)>,
) {
    let Some(stream) = stream else { return };
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        // A stream that can't be read any more has ended for us.
        let Ok(buffer) = reader.fill_buf().await else {
            return;
        };
        if buffer.is_empty() {
            if !line.is_empty() {
                let _ = lines.send((source, line)).await;
            }
            return;
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        let room = MAX_LINE_BYTES.saturating_sub(line.len());
        line.extend_from_slice(&part[..part.len().min(room)]);
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some()
            && lines
                .send((source, std::mem::take(&mut line)))
                .await
                .is_err()
        {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process;

    async fn lines_of(script: &str, stop: impl Future<Output = ()>) -> (Vec<String>, ExitStatus) {
        let mut found = Vec::new();
        let mut command = process::command("sh", ["-c", script]);
        let take = |source: Source, line: &[u8]| {
            found.push(format!("{source:?} {}", String::from_utf8_lossy(line)));
        };
        let status = follow(&mut command, Stdio::null(), take, stop)
            .await
            .unwrap();
        (found, status)
    }

    #[tokio::test]
    async fn every_line_arrives_also_one_without_an_end() {
        let (lines, status) = lines_of(
            "echo one; echo; printf two; echo bad >&2; exit 3",
            std::future::pending(),
        )
        .await;
        let output: Vec<_> = lines
            .iter()
            .filter(|line| line.starts_with("Output"))
            .collect();
        assert_eq!(output, ["Output one", "Output ", "Output two"]);
        assert!(lines.contains(&"Error bad".to_owned()));
        assert_eq!(status.code(), Some(3));
    }

    #[tokio::test]
    async fn what_a_child_leaves_running_is_not_waited_for() {
        let began = tokio::time::Instant::now();
        let (lines, status) = lines_of("echo begun; sleep 30 &", std::future::pending()).await;
        assert_eq!(lines, ["Output begun"]);
        assert!(status.success());
        assert!(began.elapsed() < Duration::from_secs(20));
    }

    #[tokio::test]
    async fn a_child_is_ended_when_it_is_to_stop() {
        let (_, status) = lines_of(
            "exec sleep 30",
            tokio::time::sleep(Duration::from_millis(50)),
        )
        .await;
        assert!(!status.success());
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_an_error() {
        let mut command = process::command("/no/such/program", [""; 0]);
        let result = follow(
            &mut command,
            Stdio::null(),
            |_, _| (),
            std::future::pending(),
        )
        .await;
        assert!(matches!(result, Err(ProcessError::Spawn { .. })));
    }
}
