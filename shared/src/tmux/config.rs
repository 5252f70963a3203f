//! The configuration of our tmux server, in place of the user's.

use super::command::Tmux;
use super::error::TmuxError;
use crate::file;

/// What `tmux -f` reads. Unknown options are skipped (`-q`), so that one text serves all versions.
const CONFIG: &str = r##"# Written by claude-codex; changes are lost.

# An agent that ended stays visible, and its exit status can be read.
set -gq remain-on-exit on

# Sessions live without anybody looking; the server ends with the last of them.
set -gq destroy-unattached off
set -sq exit-unattached off
set -sq exit-empty on

# A full pane of this length takes 10 to 20 MB; an empty one takes nothing.
set -gq history-limit 20000

# A session has this size until a person attaches, then that of the last active terminal.
set -gq default-size 200x50
set -gq window-size latest

# A session has the environment it was made with, whoever attaches later.
set -gq update-environment ""

# screen-256color is known on every system, tmux-256color is not. tmux turns true colour
# into 256 colours for terminals that are not known to have it.
set -gq default-terminal screen-256color
set-environment -g COLORTERM truecolor
set -asq terminal-features ",alacritty*:RGB,foot*:RGB,xterm-kitty:RGB,xterm-ghostty:RGB,wezterm*:RGB,*-direct:RGB"

# Escape reaches the agent at once, and Shift-Enter as itself.
set -sq escape-time 0
set -sq extended-keys on
set -gq mouse on

# What an agent prints must not rename windows, set titles, reach the clipboard or the outer terminal.
set -gq allow-rename off
set -gq automatic-rename off
set -gq set-titles off
set -sq set-clipboard external
set -gq allow-passthrough off

# Only names of ours in the status line: titles and commands are the agent's text.
set -gq status-left-length 60
set -gq status-left "#{session_name} "
set -gq status-right "#{?pane_dead,ended ,}#{prefix} d leaves the agent running"
set -gq status-right-length 60
set -gq window-status-format " #I "
set -gq window-status-current-format "[#I]"
"##;

impl Tmux {
    /// Writes the configuration file unless it is there already; `create` does so by itself.
    pub fn write_config(&self) -> Result<(), TmuxError> {
        let path = &self.config_file;
        if std::fs::read(path).is_ok_and(|present| present == CONFIG.as_bytes()) {
            return Ok(());
        }
        // Atomically: another process may be starting a server with it at this moment.
        path.parent()
            .map_or(Ok(()), file::make_private_folder)
            .and_then(|()| file::replace(path, CONFIG, Some(0o600)))
            .map_err(|source| TmuxError::Write {
                path: path.clone(),
                source,
            })
    }
}
