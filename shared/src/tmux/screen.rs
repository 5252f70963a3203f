//! Screen capture (`capture-pane`), and who else is attached.

use super::command::{Script, Tmux};
use super::error::{TmuxError, excerpt};
use super::name::SessionName;

/// How much of a terminal to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    Visible,
    /// The visible lines and up to this many that have scrolled away.
    History(u32),
}

/// Where the cursor is, counted from the top left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub column: u32,
    pub row: u32,
}

/// The terminals that show a session's windows, through it or through another session that has them too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clients {
    pub count: usize,
    /// When a person last typed in any of them (or attached), in seconds since 1970.
    pub last_activity: Option<u64>,
}

impl Tmux {
    /// Returns the text of the agent's terminal, with colours as escape sequences if wanted.
    pub async fn capture(
        &self,
        session: &SessionName,
        lines: Lines,
        with_escapes: bool,
    ) -> Result<String, TmuxError> {
        let target = self.pane_target(session).await?;
        let mut script = Script::new("capture-pane").args(["-p", "-t", &target]);
        if with_escapes {
            script = script.arg("-e");
        }
        if let Lines::History(count) = lines {
            script = script.arg("-S").arg(format!("-{count}"));
        }
        self.run(&script, None)
            .await?
            .found()?
            .ok_or_else(|| missing(session))
    }

    /// Returns the visible lines of the agent's terminal and so many that have scrolled away. What was wrapped is one line
    /// again, so that nothing in it (a secret, an address) is cut in two.
    pub async fn capture_unwrapped(
        &self,
        session: &SessionName,
        history: u32,
    ) -> Result<String, TmuxError> {
        let target = self.pane_target(session).await?;
        let script = Script::new("capture-pane")
            .args(["-p", "-J", "-t", &target, "-S"])
            .arg(format!("-{history}"));
        self.run(&script, None)
            .await?
            .found()?
            .ok_or_else(|| missing(session))
    }

    /// Returns the cursor of the agent's terminal.
    pub async fn cursor(&self, session: &SessionName) -> Result<Cursor, TmuxError> {
        let target = self.pane_target(session).await?;
        let format = "#{cursor_x} #{cursor_y}";
        let script = Script::new("display-message").args(["-p", "-t", &target, format]);
        let printed = self
            .run(&script, None)
            .await?
            .found()?
            .ok_or_else(|| missing(session))?;
        parse_cursor(&printed).ok_or_else(|| TmuxError::UnexpectedOutput {
            action: "display-message",
            output: excerpt(&printed),
        })
    }

    /// Returns who has the windows of a session before them; nobody when it does not exist.
    pub async fn clients(&self, session: &SessionName) -> Result<Clients, TmuxError> {
        let target = session.session_target();
        let windows = Script::new("list-windows").args(["-t", &target, "-F", "#{window_id}"]);
        self.clients_with(windows).await
    }

    /// Returns the terminals whose session has any of the windows that a command prints.
    ///
    /// Not by the name of a session: several may have the same windows (`new-session -t`, `link-window`).
    pub(super) async fn clients_with(&self, windows: Script) -> Result<Clients, TmuxError> {
        let format = "#{client_activity}#{W: #{window_id}}";
        let script = windows.then("list-clients").args(["-F", format]);
        let printed = self.run(&script, None).await?.found()?.unwrap_or_default();
        parse_clients(&printed).ok_or_else(|| TmuxError::UnexpectedOutput {
            action: "list-clients",
            output: excerpt(&printed),
        })
    }
}

fn missing(session: &SessionName) -> TmuxError {
    TmuxError::SessionMissing {
        session: session.to_string(),
    }
}

/// Reads `x y`; a pane that has gone in between has neither.
fn parse_cursor(printed: &str) -> Option<Cursor> {
    let (column, row) = printed.trim_end().split_once(' ')?;
    Some(Cursor {
        column: column.parse().ok()?,
        row: row.parse().ok()?,
    })
}

/// Reads windows (`@4`), and of the clients (`TIME @4 @5`) those that have one of them.
fn parse_clients(printed: &str) -> Option<Clients> {
    let (wanted, clients): (Vec<&str>, Vec<&str>) =
        printed.lines().partition(|line| line.starts_with('@'));
    let mut found = Clients::default();
    for client in clients {
        let mut words = client.split(' ');
        let activity = words.next()?.parse().ok()?;
        if words.any(|window| wanted.contains(&window)) {
            found.count += 1;
            found.last_activity = found.last_activity.max(Some(activity));
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::{Clients, Cursor, parse_clients, parse_cursor};

    #[test]
    fn answers_are_read() {
        let cursor = Cursor { column: 3, row: 4 };
        assert_eq!(parse_cursor("3 4\n"), Some(cursor));
        assert_eq!(parse_cursor(" \n"), None);
        let two = Clients {
            count: 2,
            last_activity: Some(12),
        };
        assert_eq!(parse_clients("@4\n@5\n7 @4\n12 @1 @5\n90 @44\n"), Some(two));
        assert_eq!(parse_clients(""), Some(Clients::default()));
        assert_eq!(parse_clients("@4\nsoon @4\n"), None);
    }
}
