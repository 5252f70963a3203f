//! Paste and Enter into an agent's pane, and only there.
//!
//! Whether the pane is the agent's, alive and running what is expected is decided by the tmux server
//! in the same step that types: pasting into a dead pane crashes tmux 3.3a, and text that reaches
//! a shell would run.

use super::command::{Script, Tmux};
use super::error::{TmuxError, excerpt};
use super::fence::{Fenced, buffer_name};
use super::name::{PaneId, ProgramName, SessionName};
use super::state::{HELD, LAUNCH, Life, MARK, PANE_FORMAT, parse_pane};
use super::typed_text::{InputOutcome, TYPED, check_text};
use crate::model::closed_enum;
use crate::process::ProcessError;

closed_enum!(
    /// The keys that may be pressed. None of them means anything to tmux itself.
    Key, "key" {
        Enter = "Enter",
        Escape = "Escape",
        Up = "Up",
        Down = "Down",
        Left = "Left",
        Right = "Right",
        Home = "Home",
        End = "End",
        PageUp = "PageUp",
        PageDown = "PageDown",
        Tab = "Tab",
        BackTab = "BackTab",
        Backspace = "Backspace",
        Delete = "Delete",
        CtrlA = "C-a",
        CtrlB = "C-b",
        CtrlC = "C-c",
        CtrlD = "C-d",
        CtrlE = "C-e",
        CtrlF = "C-f",
        CtrlG = "C-g",
        CtrlK = "C-k",
        CtrlL = "C-l",
        CtrlN = "C-n",
        CtrlO = "C-o",
        CtrlP = "C-p",
        CtrlR = "C-r",
        CtrlT = "C-t",
        CtrlU = "C-u",
        CtrlW = "C-w",
    }
);

impl Key {
    /// Returns what tmux calls it: mostly the same.
    fn tmux_name(self) -> &'static str {
        match self {
            Self::PageUp => "PPage",
            Self::PageDown => "NPage",
            Self::BackTab => "BTab",
            Self::Backspace => "BSpace",
            Self::Delete => "DC",
            same => same.as_str(),
        }
    }
}

/// How a program is to see a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// As one paste, if it can tell the difference.
    Pasted,
    /// As if each character was typed.
    Typed,
}

impl Tmux {
    /// Returns a pane, which must be the agent's, for typing in one epoch.
    ///
    /// It is not typed into while a person has shut its input off, or types into several panes at once.
    pub fn fenced(
        &self,
        session: &SessionName,
        pane: PaneId,
        expected: Option<&ProgramName>,
        epoch: u64,
    ) -> Fenced {
        Fenced {
            tmux: self.clone(),
            target: session.pane_target(pane),
            condition: format!(
                "#{{&&:#{{==:{HELD},00}},{}}}",
                self.condition(session, expected)
            ),
            leave_mode: true,
            epoch,
        }
    }

    /// Pastes text as one bracketed paste, without pressing Enter.
    ///
    /// A paste that has begun is finished even when this future is dropped.
    /// Leaves copy mode first, which would swallow the text. Text with control characters other than
    /// newline and tab is refused: it could end the bracketed paste and act as keys.
    pub async fn paste(
        &self,
        session: &SessionName,
        text: &str,
        expected: Option<&ProgramName>,
    ) -> Result<InputOutcome, TmuxError> {
        self.put(session, text, expected, Manner::Pasted).await
    }

    /// Types text as a person does, character by character. It has no line breaks: those are Enter.
    pub async fn type_text(
        &self,
        session: &SessionName,
        text: &str,
    ) -> Result<InputOutcome, TmuxError> {
        if let Some(offset) = text.find(['\n', '\t']) {
            let character = if text.as_bytes()[offset] == b'\n' {
                '\n'
            } else {
                '\t'
            };
            return Err(TmuxError::UnsafeText { character, offset });
        }
        self.put(session, text, None, Manner::Typed).await
    }

    async fn put(
        &self,
        session: &SessionName,
        text: &str,
        expected: Option<&ProgramName>,
        manner: Manner,
    ) -> Result<InputOutcome, TmuxError> {
        check_text(text)?;
        let brackets = match manner {
            Manner::Pasted => "-p ",
            Manner::Typed => "",
        };
        let buffer = buffer_name();
        let condition = self.condition(session, expected);
        // A client that dies between loading and pasting leaves its buffer behind, so this one runs
        // to its end whatever becomes of us.
        let (tmux, session, text) = (self.clone(), session.clone(), text.to_owned());
        let paste = async move {
            let Some(target) = tmux.found_target(&session).await? else {
                return Ok(InputOutcome::Missing);
            };
            let script = Script::new("load-buffer")
                .args(["-b", &buffer, "-"])
                .then("if-shell")
                .args(["-F", "-t", &target, &condition])
                .arg(format!(
                    "copy-mode -q -t '{target}' ; paste-buffer {brackets}-r -d -b {buffer} -t '{target}' ; \
                     display-message -p {TYPED}"
                ))
                .arg(format!("delete-buffer -b {buffer} ; {}", explain(&target)));
            tmux.type_with(&script, Some(text.as_bytes())).await
        };
        tokio::spawn(paste).await.unwrap_or_else(|stopped| {
            Err(TmuxError::Process(ProcessError::Io {
                program: self.program.display().to_string(),
                source: stopped.into(),
            }))
        })
    }

    /// Presses Enter.
    pub async fn press_enter(
        &self,
        session: &SessionName,
        expected: Option<&ProgramName>,
    ) -> Result<InputOutcome, TmuxError> {
        self.press(session, Key::Enter, expected).await
    }

    /// Presses one key, after leaving copy mode.
    pub async fn press(
        &self,
        session: &SessionName,
        key: Key,
        expected: Option<&ProgramName>,
    ) -> Result<InputOutcome, TmuxError> {
        let Some(target) = self.found_target(session).await? else {
            return Ok(InputOutcome::Missing);
        };
        let script = Script::new("if-shell")
            .args(["-F", "-t", &target, &self.condition(session, expected)])
            .arg(format!(
                "copy-mode -q -t '{target}' ; send-keys -t '{target}' {} ; display-message -p {TYPED}",
                key.tmux_name()
            ))
            .arg(explain(&target));
        self.type_with(&script, None).await
    }

    async fn found_target(&self, session: &SessionName) -> Result<Option<String>, TmuxError> {
        match self.pane_target(session).await {
            Ok(target) => Ok(Some(target)),
            Err(TmuxError::SessionMissing { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn type_with(
        &self,
        script: &Script,
        input: Option<&[u8]>,
    ) -> Result<InputOutcome, TmuxError> {
        match self.run(script, input).await?.found()? {
            Some(printed) => self.read_outcome(&printed),
            None => Ok(InputOutcome::Missing),
        }
    }

    /// Returns the format that is true only for the living pane of this launch with the expected program.
    ///
    /// One comparison of fixed fields; the program comes last, because it alone may hold any text.
    /// A target that does not exist has no fields at all.
    fn condition(&self, session: &SessionName, expected: Option<&ProgramName>) -> String {
        let (actual, expected) = match expected {
            Some(program) => ("#{pane_current_command}", program.as_str()),
            None => ("", ""),
        };
        let launch = self.launch_mark();
        format!(
            "#{{==:#{{session_name}}/#{{{LAUNCH}}}/#{{==:#{{{MARK}}},#{{pane_pid}}}}/#{{pane_dead}}/{actual},\
             {session}/{launch}/1/0/{expected}}}"
        )
    }

    fn read_outcome(&self, printed: &str) -> Result<InputOutcome, TmuxError> {
        let line = printed.trim_end();
        if line == TYPED {
            return Ok(InputOutcome::Typed);
        }
        let ours = parse_pane(line)?.filter(|pane| pane.is_agent && pane.launch == self.launch);
        let Some(pane) = ours else {
            return Ok(InputOutcome::Missing);
        };
        match pane.life {
            Life::Running => Ok(InputOutcome::OtherProgram {
                command: excerpt(&pane.command),
            }),
            Life::Exited { .. } | Life::Killed { .. } | Life::Ended => Ok(InputOutcome::Dead),
        }
    }
}

/// Returns the tmux command that prints why nothing was typed.
fn explain(target: &str) -> String {
    format!("display-message -p -t '{target}' '{PANE_FORMAT}'")
}
