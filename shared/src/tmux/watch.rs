//! Live terminal view: captures a pane with colours, and signals when it has changed.
//!
//! tmux gives what a program prints to a pipe as well. Nothing is read out of it: that something came is
//! the signal, and what the terminal shows then is asked of tmux, which knows. A pipe whose reader has gone
//! ends by itself with the next output.

use std::path::Path;

use super::command::{Script, Tmux};
use super::error::{TmuxError, excerpt};
use super::name::SessionName;
use super::session::shell_command;

/// The pane option that says whose the pipe is.
const OWNER: &str = "@claude_codex_pipe";

/// What a terminal shows at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneView {
    pub columns: u32,
    pub rows: u32,
    pub cursor_x: u32,
    pub cursor_y: u32,
    pub cursor_visible: bool,
    pub dead: bool,
    /// How many lines have scrolled away.
    pub scrolled: u32,
    pub pipe: PipeOwner,
    /// As the program in it calls it.
    pub title: String,
    /// With colours as escape sequences; first the lines of the history, if some were asked for.
    pub text: String,
}

/// Who is told of a pane's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PipeOwner {
    Nobody,
    /// Whoever called [`Tmux::signal_output`] and gave this name.
    Named(String),
    Stranger,
}

/// The fields before the title. A title has no line breaks, but may have anything else.
const FORMAT: &str = concat!(
    "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{pane_dead} #{history_size} ",
    "#{pane_pipe} #{s/[^A-Za-z0-9_-]/?/:@claude_codex_pipe}|#{pane_title}",
);

impl Tmux {
    /// Returns what the agent's terminal shows, and up to so many lines that have scrolled away.
    pub async fn look(&self, session: &SessionName, history: u32) -> Result<PaneView, TmuxError> {
        let target = self.pane_target(session).await?;
        let mut script = Script::new("display-message")
            .args(["-p", "-t", &target, FORMAT])
            .then("capture-pane")
            .args(["-e", "-p", "-N", "-t", &target]);
        if history > 0 {
            script = script.arg("-S").arg(format!("-{history}"));
        }
        let printed = self.run(&script, None).await?.found()?;
        let printed = printed.ok_or_else(|| TmuxError::SessionMissing {
            session: session.to_string(),
        })?;
        parse(&printed).ok_or_else(|| TmuxError::UnexpectedOutput {
            action: "capture-pane",
            output: excerpt(&printed),
        })
    }

    /// Writes what the agent's terminal prints from now on to a named pipe, too.
    ///
    /// `owner` is for others who would like to: letters, digits, `_` and `-`. tmux runs a shell for
    /// this, with one quoted path in it.
    pub async fn signal_output(
        &self,
        session: &SessionName,
        pipe: &Path,
        owner: &str,
    ) -> Result<(), TmuxError> {
        let command =
            shell_command("exec cat > ", pipe).ok_or_else(|| TmuxError::UnsafeLogPath {
                path: pipe.to_owned(),
            })?;
        let target = self.pane_target(session).await?;
        // Asked first, because it has a clear answer where there is no such session.
        let script = Script::new("has-session")
            .args(["-t", &session.session_target()])
            .then("set-option")
            .args(["-p", "-t", &target, OWNER, owner])
            .then("pipe-pane")
            .args(["-t", &target])
            .arg(command);
        self.found_session(&script, session).await
    }

    /// Ends what [`Tmux::signal_output`] began, if it is still ours.
    pub async fn signal_no_more(
        &self,
        session: &SessionName,
        owner: &str,
    ) -> Result<(), TmuxError> {
        let target = self.pane_target(session).await?;
        let script = Script::new("if-shell")
            .args(["-F", "-t", &target])
            .arg(format!("#{{==:#{{{OWNER}}},{owner}}}"))
            .arg(format!(
                "pipe-pane -t '{target}' ; set-option -p -u -t '{target}' {OWNER}"
            ));
        self.found_session(&script, session).await
    }

    async fn found_session(&self, script: &Script, session: &SessionName) -> Result<(), TmuxError> {
        match self.run(script, None).await?.found()? {
            Some(_) => Ok(()),
            None => Err(TmuxError::SessionMissing {
                session: session.to_string(),
            }),
        }
    }
}

fn parse(printed: &str) -> Option<PaneView> {
    let (first, text) = printed.split_once('\n')?;
    let (fields, title) = first.split_once('|')?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let [columns, rows, x, y, visible, dead, scrolled, piped, owner] = fields[..] else {
        return None;
    };
    let pipe = match (piped, owner) {
        ("1", "") => PipeOwner::Stranger,
        ("1", owner) => PipeOwner::Named(owner.to_owned()),
        _ => PipeOwner::Nobody,
    };
    Some(PaneView {
        columns: columns.parse().ok()?,
        rows: rows.parse().ok()?,
        cursor_x: x.parse().ok()?,
        cursor_y: y.parse().ok()?,
        cursor_visible: visible == "1",
        dead: dead == "1",
        scrolled: scrolled.parse().ok()?,
        pipe,
        title: title.to_owned(),
        text: text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{PipeOwner, parse};

    #[test]
    fn a_view_is_read() {
        let view = parse("80 24 3 4 1 0 17 1 12-34|a | title\nfirst\n\x1b[1msecond\n").unwrap();
        assert_eq!((view.columns, view.rows, view.scrolled), (80, 24, 17));
        assert_eq!((view.cursor_x, view.cursor_y), (3, 4));
        assert!(view.cursor_visible && !view.dead);
        assert_eq!(view.title, "a | title");
        assert_eq!(view.text, "first\n\x1b[1msecond\n");
        assert_eq!(view.pipe, PipeOwner::Named("12-34".to_owned()));
        let pipe = |fields: &str| parse(&format!("80 24 0 0 1 0 0 {fields}|\n")).unwrap().pipe;
        assert_eq!(pipe("0 "), PipeOwner::Nobody);
        assert_eq!(pipe("0 12-34"), PipeOwner::Nobody);
        assert_eq!(pipe("1 "), PipeOwner::Stranger);
        assert!(parse("").is_none() && parse("a b|c\n").is_none());
    }
}
