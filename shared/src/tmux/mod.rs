//! Terminal sessions for agents: starts, watches, types into and ends them through the tmux binary.
//!
//! Everything runs on a socket and a configuration of our own, so neither the user's tmux server nor
//! their `~/.tmux.conf` is touched. tmux treats much of what it is given as code (formats in names and
//! directories, `;` at the end of an argument, a lone command word): `command` and `session` make
//! that harmless. `state` reads, `input` types, `screen` looks, `watch` tells when to look again.

mod check;
mod client_message;
mod command;
mod config;
mod dialog_keys;
mod error;
mod fence;
mod inherited;
mod input;
mod name;
mod own_pane;
mod screen;
mod session;
mod state;
#[cfg(test)]
mod tests;
mod typed_text;
mod version;
mod watch;

pub use command::Tmux;
pub use error::TmuxError;
pub use fence::{Claim, Fenced, InputStage, InputView, LastInput};
pub use input::Key;
pub use name::{LaunchId, PaneId, ProgramName, SessionName, SocketName};
pub use own_pane::{OwnPane, OwnPaneState};
pub use screen::{Clients, Cursor, Lines};
pub use session::{NewSession, Pane, Size};
pub use state::{Life, PaneState, Window};
pub use typed_text::InputOutcome;
pub use version::{MINIMUM_VERSION, Version};
pub use watch::{PaneView, PipeOwner};
