//! A person's terminal: a program in a tmux server of its own, so that a test can read its screen and press keys.

use crate::environment::{TestEnv, end_tmux};
use crate::waiting::until_or;

/// A terminal in which a program runs; both go when it is dropped.
#[derive(Debug)]
pub struct Terminal<'e> {
    env: &'e TestEnv,
    socket: String,
}

impl<'e> Terminal<'e> {
    /// Opens a terminal of 100 columns and 20 lines.
    pub fn open(env: &'e TestEnv, command: &[&str]) -> Self {
        Self::sized(env, 100, 20, command)
    }

    pub fn sized(env: &'e TestEnv, columns: u16, lines: u16, command: &[&str]) -> Self {
        let terminal = Self {
            env,
            socket: format!("{}-terminal", env.socket()),
        };
        let size = (columns.to_string(), lines.to_string());
        let config = ["-f", "/dev/null"];
        let new = ["new-session", "-d", "-x", &size.0, "-y", &size.1];
        let opened = env.tmux_on(&terminal.socket, &[&config, &new[..], command].concat());
        assert!(opened.status.success(), "{opened:?}");
        terminal
    }

    /// Returns the socket of its tmux server.
    pub fn socket(&self) -> &str {
        &self.socket
    }

    /// Returns what the terminal shows; nothing once its program has ended.
    pub fn screen(&self) -> String {
        let shown = self.env.tmux_on(&self.socket, &["capture-pane", "-p"]);
        String::from_utf8(shown.stdout).unwrap()
    }

    /// Waits until the terminal shows something.
    pub fn until_shows(&self, what: &str) {
        until_or(what, || self.screen().contains(what), || self.screen());
    }

    pub fn press(&self, keys: &[&str]) {
        let pressed = self
            .env
            .tmux_on(&self.socket, &[&["send-keys"], keys].concat());
        assert!(pressed.status.success(), "{pressed:?}");
    }

    pub fn has_ended(&self) -> bool {
        let session = self.env.tmux_on(&self.socket, &["has-session"]);
        !session.status.success()
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        end_tmux(self.env, &self.socket);
    }
}
