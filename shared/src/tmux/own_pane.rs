//! Panes in a person's own tmux, where an adopted agent runs.
//!
//! Nothing of theirs is changed: no mode, and no option but two of our own on the pane. It is typed into only while the expected program has it and nobody
//! scrolls in it, which the tmux server decides in the same step.

use std::fmt;
use std::path::PathBuf;

use super::command::{Script, Socket, Tmux};
use super::error::TmuxError;
use super::fence::Fenced;
use super::name::{PaneId, ProgramName};
use super::state::{HELD, is_held};

const FORMAT: &str = "#{pane_id}|#{pane_dead}|#{pane_pid}|#{pane_in_mode}|#{pane_input_off}#{pane_synchronized}|#{s/[^A-Za-z0-9_.+-]/?/:pane_current_command}";

/// A pane of a person's own.
#[derive(Debug, Clone)]
pub struct OwnPane {
    server: Tmux,
    pane: PaneId,
}

/// What such a pane is at, at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPaneState {
    /// The process that the pane was made for: a shell, as a rule.
    pub pid: u32,
    /// The foreground program; characters other than letters, digits and `_.+-` are `?`.
    pub command: String,
    /// True in copy mode and the like: somebody reads what has scrolled away.
    pub in_mode: bool,
    /// True while a person has shut its input off, or types into several panes at once.
    pub is_held: bool,
}

impl OwnPane {
    /// Finds the pane that a process runs in, by what tmux has told it (`TMUX`, `TMUX_PANE`).
    pub fn of(tmux: &Tmux, server: &str, pane: &str) -> Option<Self> {
        // `socket,pid,session`; the socket may have commas of its own.
        let mut parts = server.rsplitn(3, ',');
        let (_, _, socket) = (parts.next()?, parts.next()?, parts.next()?);
        let socket = PathBuf::from(socket);
        let pane = PaneId(pane.strip_prefix('%')?.parse().ok()?);
        let mut server = tmux.clone();
        server.socket = Socket::Person(socket.is_absolute().then_some(socket)?);
        Some(Self { server, pane })
    }

    pub fn id(&self) -> PaneId {
        self.pane
    }

    /// Returns the state of the pane; none when it is gone or its program has ended.
    pub async fn state(&self) -> Result<Option<OwnPaneState>, TmuxError> {
        let target = self.pane.to_string();
        let script = Script::new("list-panes").args(["-t", &target, "-F", FORMAT]);
        let Some(printed) = self.server.run(&script, None).await?.found()? else {
            return Ok(None);
        };
        Ok(printed.lines().find_map(|line| parse(line, self.pane)))
    }

    /// Returns when a person last typed in a terminal that has the pane's window, in seconds since 1970.
    pub async fn last_activity(&self) -> Result<Option<u64>, TmuxError> {
        let target = self.pane.to_string();
        let window = Script::new("display-message").args(["-p", "-t", &target, "#{window_id}"]);
        Ok(self.server.clients_with(window).await?.last_activity)
    }

    /// Returns what the pane shows, with colours as escape sequences.
    pub async fn capture(&self) -> Result<String, TmuxError> {
        let target = self.pane.to_string();
        let script = Script::new("capture-pane").args(["-p", "-e", "-t", &target]);
        let found = self.server.run(&script, None).await?.found()?;
        found.ok_or(TmuxError::SessionMissing { session: target })
    }

    /// Returns the pane for typing in one epoch.
    ///
    /// Without a program to expect, it is never typed into.
    pub fn fenced(&self, expected: Option<&ProgramName>, epoch: u64) -> Fenced {
        Fenced {
            tmux: self.server.clone(),
            target: self.pane.to_string(),
            condition: expected.map_or_else(|| "0".to_owned(), |program| self.condition(program)),
            // Somebody reads what has scrolled away; it is their terminal.
            leave_mode: false,
            epoch,
        }
    }

    /// Returns the format that is true only while the pane is alive, not scrolled, and has the expected program.
    fn condition(&self, expected: &ProgramName) -> String {
        let fields = format!(
            "#{{pane_id}}/#{{pane_dead}}/#{{pane_in_mode}}/{HELD}/#{{pane_current_command}}"
        );
        format!("#{{==:{fields},{}/0/0/00/{expected}}}", self.pane)
    }
}

impl fmt::Display for OwnPane {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pane.fmt(formatter)
    }
}

fn parse(line: &str, wanted: PaneId) -> Option<OwnPaneState> {
    let fields: Vec<&str> = line.splitn(6, '|').collect();
    let [pane, dead, pid, mode, held, command] = fields[..] else {
        return None;
    };
    let pid = pid.parse().ok()?;
    (pane == wanted.to_string() && dead == "0").then(|| OwnPaneState {
        pid,
        command: command.to_owned(),
        in_mode: !matches!(mode, "" | "0"),
        is_held: is_held(held),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tmux::SocketName;

    #[test]
    fn a_pane_is_known_by_what_tmux_says() {
        let tmux = Tmux::new(
            SocketName::new("x").unwrap(),
            "/c".into(),
            "tmux".into(),
            Vec::new(),
        );
        let of = |server, pane| OwnPane::of(&tmux, server, pane);
        let found = of("/tmp/tmux-0/a,b,123,0", "%7").unwrap();
        assert_eq!(found.pane, PaneId(7));
        assert!(matches!(&found.server.socket, Socket::Person(path) if path.ends_with("a,b")));
        for (server, pane) in [
            ("", "%1"),
            ("relative,1,0", "%1"),
            ("/s,1,0", "1"),
            ("/s", "%1"),
        ] {
            assert!(of(server, pane).is_none(), "{server} {pane}");
        }
    }

    #[test]
    fn only_the_living_pane_counts() {
        let pane = PaneId(2);
        let state = parse("%2|0|77|1|10|claude", pane).unwrap();
        assert_eq!((state.command.as_str(), state.in_mode), ("claude", true));
        assert!(state.is_held);
        assert_eq!(state.pid, 77);
        assert_eq!(parse("%2|1|77|0|00|claude", pane), None);
        assert_eq!(parse("%22|0|77|0|00|claude", pane), None);
        assert_eq!(parse("", pane), None);
    }
}
