//! Starts, finds and ends sessions.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Access, access};

use super::command::{Answer, Script, Tmux};
use super::error::{TmuxError, excerpt};
use super::inherited::replace_inherited;
use super::name::{PaneId, SessionName};
use super::state::{LAUNCH, MARK};
use crate::process::ProcessError;

/// Waits before trying again when the server went away while a session was being made.
///
/// A server that ends (`kill-server`, or the last session gone) holds its socket for a moment.
const RETRIES: [Duration; 6] = [
    Duration::from_millis(10),
    Duration::from_millis(20),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(300),
    Duration::from_secs(1),
];

/// Characters that a terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub columns: u16,
    pub rows: u16,
}

impl Default for Size {
    fn default() -> Self {
        Self {
            columns: 200,
            rows: 50,
        }
    }
}

/// What to start.
#[derive(Debug, Clone)]
pub struct NewSession {
    pub name: SessionName,
    /// Where the program starts; absolute.
    pub directory: PathBuf,
    /// The program and its arguments, never seen by a shell.
    pub argv: Vec<OsString>,
    /// Added to the base environment; small and without secrets, as that is.
    pub environment: Vec<(String, String)>,
    pub size: Size,
}

/// A pane that was just made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pane {
    pub pane_id: PaneId,
    pub pid: u32,
}

impl Tmux {
    /// Starts a program in a new detached session, and the server if none runs.
    ///
    /// When this future is dropped the session may or may not exist; `kill` settles it.
    pub async fn create(&self, session: &NewSession) -> Result<Pane, TmuxError> {
        let script = self.new_session(session)?;
        self.write_config()?;
        let mut lost = String::new();
        for wait in RETRIES.into_iter().map(Some).chain([None]) {
            let mut command = self.bare();
            replace_inherited(&mut command).map_err(|source| ProcessError::Spawn {
                program: self.program.display().to_string(),
                source,
            })?;
            match self.run_as(&mut command, &script, None).await? {
                Answer::Done { stdout } => {
                    let printed = String::from_utf8_lossy(&stdout);
                    return parse_created(&printed).ok_or_else(|| TmuxError::UnexpectedOutput {
                        action: "new-session",
                        output: excerpt(&printed),
                    });
                }
                Answer::NoTarget => {
                    return Err(TmuxError::SessionMissing {
                        session: session.name.to_string(),
                    });
                }
                Answer::Refused { error } => return Err(error),
                Answer::NoServer { stderr } | Answer::ServerLost { stderr } => lost = stderr,
            }
            if let Some(wait) = wait {
                tokio::time::sleep(wait).await;
            }
        }
        Err(TmuxError::ServerLost {
            action: "new-session",
            attempts: RETRIES.len() + 1,
            stderr: lost,
        })
    }

    /// Tells whether a session of exactly this name exists.
    pub async fn has(&self, session: &SessionName) -> Result<bool, TmuxError> {
        let script = Script::new("has-session").args(["-t", &session.session_target()]);
        Ok(self.run(&script, None).await?.found()?.is_some())
    }

    /// Ends the session of our launch; false when there is none, also if another has its name.
    ///
    /// Its programs get SIGHUP. One that ignores that lives on: its pid is in `PaneState`.
    pub async fn kill(&self, session: &SessionName) -> Result<bool, TmuxError> {
        const NOT_OURS: &str = "other";
        let target = session.session_target();
        let script = Script::new("if-shell")
            .args(["-F", "-t", &target])
            .arg(format!(
                "#{{==:#{{session_name}}/#{{{LAUNCH}}},{session}/{}}}",
                self.launch_mark()
            ))
            .arg(format!("kill-session -t '{target}'"))
            .arg(format!("display-message -p {NOT_OURS}"));
        let printed = self.run(&script, None).await?.found()?;
        // Nobody comes any more to hand over what was loaded for it.
        self.remove_left_buffers().await;
        Ok(printed.is_some_and(|printed| printed.trim_end() != NOT_OURS))
    }

    /// Ends the server and all sessions; false when there was none.
    pub async fn kill_server(&self) -> Result<bool, TmuxError> {
        Ok(self
            .run(&Script::new("kill-server"), None)
            .await?
            .found()?
            .is_some())
    }

    /// Returns the command line that shows a session in the terminal it is run in.
    ///
    /// It works inside another tmux too, and whatever `TMUX_TMPDIR` the terminal has.
    pub fn attach_argv(&self, session: &SessionName) -> Vec<OsString> {
        let mut argv: Vec<OsString> = ["env", "-u", "TMUX", "-u", "TMUX_PANE"]
            .map(OsString::from)
            .into();
        let directory = self
            .base_environment
            .iter()
            .find(|(name, _)| name == "TMUX_TMPDIR");
        match directory {
            Some((name, value)) => {
                argv.push(assignment(name, value));
            }
            None => argv.extend(["-u", "TMUX_TMPDIR"].map(OsString::from)),
        }
        argv.push(self.program.clone().into());
        argv.extend(self.flags());
        argv.extend(["attach-session", "-E", "-t"].map(OsString::from));
        argv.push(session.session_target().into());
        argv
    }

    /// Appends all that the agent's terminal shows from now on to a file that only we can read.
    ///
    /// tmux runs a shell for this, with one quoted path in it. A second call moves the log.
    pub async fn log_to(&self, session: &SessionName, path: &Path) -> Result<(), TmuxError> {
        let append =
            shell_command("exec cat >> ", path).ok_or_else(|| TmuxError::UnsafeLogPath {
                path: path.to_owned(),
            })?;
        std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)
            .map_err(|source| TmuxError::Write {
                path: path.to_owned(),
                source,
            })?;
        // Not `-o`: with a pipe open already, that closes it and opens none.
        let script = Script::new("pipe-pane")
            .args(["-t", &self.pane_target(session).await?])
            .arg(append);
        match self.run(&script, None).await?.found()? {
            Some(_) => Ok(()),
            None => Err(TmuxError::SessionMissing {
                session: session.to_string(),
            }),
        }
    }

    fn new_session(&self, session: &NewSession) -> Result<Script, TmuxError> {
        let (program, arguments) = session.argv.split_first().ok_or(TmuxError::EmptyCommand)?;
        let directory = &session.directory;
        // tmux would silently start in the home directory instead.
        if !directory.is_absolute()
            || !directory.is_dir()
            || access(directory, Access::EXEC_OK).is_err()
        {
            return Err(TmuxError::InvalidDirectory {
                directory: directory.clone(),
            });
        }
        let mut script = Script::new("new-session")
            .args(["-d", "-P", "-F", "#{pane_id} #{pane_pid}"])
            .args(["-s", session.name.as_str()])
            .args(["-x", &session.size.columns.to_string()])
            .args(["-y", &session.size.rows.to_string()])
            .arg("-c")
            .arg(escape_format(directory));
        // The server itself keeps the environment of the client that happened to start it, so each
        // session gets the base of its own maker over that.
        for (name, value) in &self.base_environment {
            script = script.arg("-e").arg(assignment(name, value));
        }
        for (name, value) in &session.environment {
            if !is_variable_name(name) {
                return Err(TmuxError::InvalidVariable {
                    name: excerpt(name),
                });
            }
            script = script.arg("-e").arg(format!("{name}={value}"));
        }
        script = script.arg("--");
        if arguments.is_empty() {
            // tmux gives a lone word to a shell. `nice -n 0` does nothing but run it, and unlike
            // `env` takes no `=` in it for an assignment.
            script = script.args(["nice", "-n", "0", "--"]);
        }
        script = script
            .arg(program)
            .args(arguments)
            .then("set-option")
            // The only pane that it has yet; a person may have set another `base-index`.
            .args(["-F", "-p", "-t", &session.name.session_target()])
            .args([MARK, "#{pane_pid}"]);
        if let Some(launch) = &self.launch {
            script = script
                .then("set-option")
                .args(["-t", &session.name.session_target()])
                .args([LAUNCH, launch.as_str()]);
        }
        Ok(script)
    }
}

fn assignment(name: &OsStr, value: &OsStr) -> OsString {
    let mut assignment = name.to_owned();
    assignment.push("=");
    assignment.push(value);
    assignment
}

/// Doubles each `#`, so that tmux finds no format to expand (`#(…)` would run a command).
///
/// Only before `[` tmux takes any number of them as they are.
fn escape_format(path: &Path) -> OsString {
    let mut escaped = Vec::new();
    let mut rest = path.as_os_str().as_bytes();
    while let Some(start) = rest.iter().position(|&byte| byte == b'#') {
        let (before, hashes) = rest.split_at(start);
        let count = hashes.iter().take_while(|&&byte| byte == b'#').count();
        let (hashes, after) = hashes.split_at(count);
        escaped.extend_from_slice(before);
        escaped.extend_from_slice(hashes);
        if after.first() != Some(&b'[') {
            escaped.extend_from_slice(hashes);
        }
        rest = after;
    }
    escaped.extend_from_slice(rest);
    OsString::from_vec(escaped)
}

fn is_variable_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Reads what `new-session -P` prints here: `%12 3456`.
fn parse_created(printed: &str) -> Option<Pane> {
    let (pane_id, pid) = printed.trim_end().strip_prefix('%')?.split_once(' ')?;
    Some(Pane {
        pane_id: PaneId(pane_id.parse().ok()?),
        pid: pid.parse().ok()?,
    })
}

/// Returns the shell command with a path behind it; none when that can't be quoted for sure.
///
/// tmux expands `#` and `%` before the shell sees the command. In single quotes the shell leaves
/// everything as it is but the quote itself.
pub(super) fn shell_command(program: &str, path: &Path) -> Option<OsString> {
    let bytes = path.as_os_str().as_bytes();
    let unsafe_byte = |&byte: &u8| byte == b'#' || byte == b'%' || byte.is_ascii_control();
    if !path.is_absolute() || bytes.iter().any(unsafe_byte) {
        return None;
    }
    let mut command = program.as_bytes().to_vec();
    command.push(b'\'');
    for &byte in bytes {
        match byte {
            b'\'' => command.extend_from_slice(br"'\''"),
            other => command.push(other),
        }
    }
    command.push(b'\'');
    Some(OsString::from_vec(command))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{escape_format, is_variable_name, parse_created, shell_command};

    #[test]
    fn formats_are_escaped() {
        let escape = |path: &str| escape_format(Path::new(path)).into_string().unwrap();
        assert_eq!(escape("/a b/é"), "/a b/é");
        assert_eq!(escape("/#(x)/##{y}"), "/##(x)/####{y}");
        assert_eq!(escape("/#[a/##[b/#"), "/#[a/##[b/##");
    }

    #[test]
    fn log_paths_are_quoted_or_refused() {
        let append = |path: &str| shell_command("exec cat >> ", Path::new(path));
        assert_eq!(append("/a b/it's").unwrap(), r"exec cat >> '/a b/it'\''s'");
        for refused in ["relative", "/a#b", "/a%b", "/a\nb"] {
            assert_eq!(append(refused), None);
        }
    }

    #[test]
    fn created_panes_are_read() {
        let pane = parse_created("%12 3456\n").unwrap();
        assert_eq!((pane.pane_id.0, pane.pid), (12, 3456));
        assert_eq!(parse_created(""), None);
        assert_eq!(parse_created("12 3456"), None);
    }

    #[test]
    fn variable_names_are_checked() {
        assert!(is_variable_name("CODEX_INSTANCE_ID") && is_variable_name("_a1"));
        assert!(!is_variable_name("") && !is_variable_name("1a") && !is_variable_name("A=B"));
    }
}
