//! Pane state (`list-panes`): alive, dead with exit status, attached clients.

use std::str::FromStr;

use super::command::{Script, Tmux};
use super::error::{TmuxError, excerpt};
use super::name::{LaunchId, PaneId, SessionName};

/// The pane option that marks the pane `create` made, to tell it from those a person adds.
///
/// Its value is the process that `create` started: a pane in which a person has since started
/// something else, such as a shell, is no agent's any more.
pub(super) const MARK: &str = "@claude_codex_agent";

/// The session option that says which launch a session was made by.
///
/// Sessions of the same name may be another state folder's, or of an earlier launch.
pub(super) const LAUNCH: &str = "@claude_codex_launch";

/// One pane as one line.
///
/// A program chooses its own name, newlines included, so tmux itself replaces all that could be taken
/// for a separator. tmux allows no `.` in session names: a replaced name is never a valid one.
pub(super) const PANE_FORMAT: &str = concat!(
    "#{s/[^A-Za-z0-9_-]/./:session_name}|#{pane_id}|#{pane_pid}|#{==:#{@claude_codex_agent},#{pane_pid}}|",
    "#{s/[^A-Za-z0-9_-]/?/:@claude_codex_launch}|",
    "#{pane_dead}|#{pane_dead_status}|#{pane_dead_signal}|#{pane_in_mode}|",
    "#{pane_input_off}#{pane_synchronized}|#{session_grouped}#{window_linked}|#{session_attached}|",
    "#{window_activity}|#{session_created}|#{s/[^A-Za-z0-9_.+-]/?/:pane_current_command}",
);

/// What keeps keys from reaching this pane, or takes them to others too: `select-pane -d`, `synchronize-panes`.
pub(super) const HELD: &str = "#{pane_input_off}#{pane_synchronized}";

/// How often to ask again for the exit status of a program that has ended.
const STATUS_RETRIES: usize = 2;

/// Whether the program in a pane runs, and if not, how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    Running,
    Exited {
        status: i32,
    },
    /// Ended by a signal; tmux on some systems gives a name that has no common number.
    Killed {
        signal: Option<i32>,
    },
    /// Ended, but tmux does not know how: not yet, or (before 3.3, by a signal) ever.
    Ended,
}

/// Which sessions have a pane's window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// This one alone.
    Own,
    /// Another one has it too (`link-window`), or may have (`new-session -t`).
    Shared,
}

/// One pane at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneState {
    pub session: SessionName,
    pub pane_id: PaneId,
    pub pid: u32,
    /// True for the pane that `create` made while it has the program that `create` started.
    pub is_agent: bool,
    /// The launch that made the session; none of a session of an older release, or of somebody else's.
    pub launch: Option<LaunchId>,
    pub life: Life,
    /// The foreground program; characters other than letters, digits and `_.+-` are `?`.
    pub command: String,
    /// True in copy mode and the like, where keys do not reach the program.
    pub in_mode: bool,
    /// True while a person has shut its input off, or types into several panes at once.
    pub is_held: bool,
    pub window: Window,
    /// How many terminals are attached to the session.
    pub attached: u32,
    /// When the window last changed, in seconds since 1970.
    pub last_output: u64,
    /// When the session was made, in seconds since 1970.
    pub created: u64,
}

impl Tmux {
    /// Returns all panes of all sessions; none when no server runs.
    ///
    /// Sessions that `create` could not have made, by their name, are left out.
    pub async fn list(&self) -> Result<Vec<PaneState>, TmuxError> {
        self.panes(&["-a", "-F", PANE_FORMAT]).await
    }

    /// Returns the agent's pane of a session; none when either is gone.
    pub async fn pane(&self, session: &SessionName) -> Result<Option<PaneState>, TmuxError> {
        let target = session.session_target();
        let panes = self
            .panes(&["-s", "-t", &target, "-F", PANE_FORMAT])
            .await?;
        Ok(panes
            .into_iter()
            .find(|pane| pane.is_agent && pane.launch == self.launch))
    }

    /// Returns the target of the agent's pane, which a person may have moved within the session.
    ///
    /// If none has the mark, it is the oldest pane: what `create` made, unless a person has closed that.
    pub(super) async fn pane_target(&self, session: &SessionName) -> Result<String, TmuxError> {
        let target = session.session_target();
        let panes = self
            .panes_now(&Script::new("list-panes").args(["-s", "-t", &target, "-F", PANE_FORMAT]))
            .await?;
        let pane = panes
            .iter()
            .min_by_key(|pane| (!pane.is_agent, pane.pane_id.0))
            .ok_or_else(|| TmuxError::SessionMissing {
                session: session.to_string(),
            })?;
        Ok(session.pane_target(pane.pane_id))
    }

    /// Lists panes, asking again while a program has ended but its exit status is not known.
    ///
    /// tmux 3.3a can miss the end of a program that exits while the server is starting, and then
    /// notices only when another child of the server ends: so one is run.
    async fn panes(&self, args: &[&str]) -> Result<Vec<PaneState>, TmuxError> {
        let mut panes = self
            .panes_now(&Script::new("list-panes").args(args))
            .await?;
        for _ in 0..STATUS_RETRIES {
            if panes.iter().all(|pane| pane.life != Life::Ended) {
                break;
            }
            let script = Script::new("run-shell").arg("true");
            panes = self
                .panes_now(&script.then("list-panes").args(args))
                .await?;
        }
        Ok(panes)
    }

    async fn panes_now(&self, script: &Script) -> Result<Vec<PaneState>, TmuxError> {
        match self.run(script, None).await?.found()? {
            Some(lines) => parse_panes(&lines),
            None => Ok(Vec::new()),
        }
    }
}

fn parse_panes(lines: &str) -> Result<Vec<PaneState>, TmuxError> {
    lines
        .lines()
        .filter_map(|line| parse_pane(line).transpose())
        .collect()
}

/// Reads one line of `PANE_FORMAT`; none when it is about no session of ours.
pub(super) fn parse_pane(line: &str) -> Result<Option<PaneState>, TmuxError> {
    let unexpected = || TmuxError::UnexpectedOutput {
        action: "list-panes",
        output: excerpt(line),
    };
    let fields: Vec<&str> = line.split('|').collect();
    let [
        session,
        pane_id,
        pid,
        is_agent,
        launch,
        dead,
        status,
        signal,
        mode,
        held,
        shared,
        attached,
        output,
        created,
        command,
    ] = fields[..]
    else {
        return Err(unexpected());
    };
    let Ok(session) = SessionName::new(session) else {
        return Ok(None);
    };
    let pane_id = pane_id.strip_prefix('%').ok_or_else(unexpected)?;
    Ok(Some(PaneState {
        session,
        pane_id: PaneId(number(pane_id).ok_or_else(unexpected)?),
        pid: number(pid).ok_or_else(unexpected)?,
        is_agent: is_agent == "1",
        launch: LaunchId::new(launch).ok(),
        life: life(dead, status, signal),
        command: command.to_owned(),
        // Modes stack: the field counts them.
        in_mode: !matches!(mode, "" | "0"),
        is_held: is_held(held),
        window: if shared.contains('1') {
            Window::Shared
        } else {
            Window::Own
        },
        attached: number(attached).ok_or_else(unexpected)?,
        last_output: number(output).ok_or_else(unexpected)?,
        created: number(created).ok_or_else(unexpected)?,
    }))
}

/// Reads `HELD`.
pub(super) fn is_held(field: &str) -> bool {
    field.contains('1')
}

fn number<N: FromStr>(field: &str) -> Option<N> {
    field.parse().ok()
}

fn life(dead: &str, status: &str, signal: &str) -> Life {
    if dead != "1" {
        Life::Running
    } else if !signal.is_empty() {
        Life::Killed {
            signal: signal_number(signal),
        }
    } else if let Some(status) = number(status) {
        Life::Exited { status }
    } else {
        Life::Ended
    }
}

/// Reads a signal that tmux gives as a number (Linux) or a name (BSD, macOS).
fn signal_number(signal: &str) -> Option<i32> {
    let common = [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("ILL", 4),
        ("TRAP", 5),
        ("ABRT", 6),
        ("FPE", 8),
        ("KILL", 9),
        ("SEGV", 11),
        ("PIPE", 13),
        ("ALRM", 14),
        ("TERM", 15),
    ];
    number(signal).or_else(|| {
        common
            .into_iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(signal))
            .map(|(_, number)| number)
    })
}

#[cfg(test)]
mod tests {
    use super::{Life, Window, parse_pane, parse_panes};

    #[test]
    fn a_line_is_read() {
        let line = "work-42-a1|%7|812|1|launch-1|1||9|2|01|10|3|1700000002|1700000001|claude";
        let pane = parse_pane(line).unwrap().unwrap();
        assert_eq!(
            (pane.session.as_str(), pane.pane_id.0, pane.pid),
            ("work-42-a1", 7, 812)
        );
        assert_eq!(pane.life, Life::Killed { signal: Some(9) });
        assert!(pane.is_agent && pane.in_mode && pane.is_held);
        assert_eq!(pane.window, Window::Shared);
        assert_eq!(pane.launch.unwrap().as_str(), "launch-1");
        assert_eq!(
            (pane.attached, pane.last_output, pane.created),
            (3, 1_700_000_002, 1_700_000_001)
        );
        assert_eq!(pane.command, "claude");
    }

    #[test]
    fn ends_are_told_apart() {
        let life = |dead_status_signal: &str| {
            let line = format!("a|%1|2|1||{dead_status_signal}|0|00|00|0|5|6|sh");
            parse_pane(&line).unwrap().unwrap().life
        };
        assert_eq!(life("0||"), Life::Running);
        assert_eq!(life("1|7|"), Life::Exited { status: 7 });
        assert_eq!(life("1||15"), Life::Killed { signal: Some(15) });
        assert_eq!(life("1||kill"), Life::Killed { signal: Some(9) });
        assert_eq!(life("1||ODD"), Life::Killed { signal: None });
        assert_eq!(life("1||"), Life::Ended);
    }

    #[test]
    fn foreign_sessions_are_left_out_and_nonsense_is_an_error() {
        let ours = "a|%1|2|1||0|||0|00|00|0|5|6|sh";
        let foreign = "my.session|%1|2|0||0|||0|00|00|0|5|6|sh";
        assert_eq!(
            parse_panes(&format!("{foreign}\n{ours}\n")).unwrap().len(),
            1
        );
        assert!(parse_panes("a|%1|2\n").is_err());
        assert!(parse_pane("a|%1|many|1||0|||0|00|00|0|5|6|sh").is_err());
    }
}
