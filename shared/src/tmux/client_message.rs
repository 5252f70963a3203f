//! A message to all terminals that are attached to a tmux server (`display-message`).

use super::command::{Script, Tmux};
use super::error::TmuxError;
use crate::model::hidden::drop_hidden_in_line;

/// The longest message, in characters: it stands in one line.
const MAX_CHARS: usize = 200;

impl Tmux {
    /// Shows a line to everybody who is attached to the server, if there is one.
    pub async fn tell_clients(&self, text: &str) -> Result<(), TmuxError> {
        let list = Script::new("list-clients").args(["-F", "#{client_name}"]);
        let clients = self.run(&list, None).await?.found()?.unwrap_or_default();
        let text = literal(text);
        for client in clients.lines() {
            let show = Script::new("display-message").args(["-c", client, &text]);
            // Who has detached meanwhile is not there to be told.
            self.run(&show, None).await?.found()?;
        }
        Ok(())
    }
}

/// Returns a text in which tmux finds neither formats, nor styles, nor times.
fn literal(text: &str) -> String {
    let text: String = drop_hidden_in_line(text).chars().take(MAX_CHARS).collect();
    // A leading dash would be an option.
    format!(" {}", text.trim().replace('#', "##").replace('%', "%%"))
}

#[cfg(test)]
mod tests {
    use super::literal;

    #[test]
    fn what_tmux_would_run_or_fill_in_is_text() {
        assert_eq!(
            literal("-x #(id) #{pid} %H\n\u{1b}[1m"),
            " -x ##(id) ##{pid} %%H [1m"
        );
        assert!(literal(&"x".repeat(900)).len() < 300);
    }
}
