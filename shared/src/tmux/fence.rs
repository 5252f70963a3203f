//! Fencing token: tmux types for one lease, and refuses an older one.
//!
//! A deliverer that was stopped for longer than its lease lasts doesn't know it. So the pane itself knows who may type: an
//! option of the pane holds the highest epoch that has claimed it, and the tmux server compares it in the same step
//! that types. What was done last, and in which epoch, is written down in that step too: whoever takes over knows for
//! sure whether the dead one has pasted or pressed Enter.

use std::str::FromStr;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::command::{Script, Tmux};
use super::error::{TmuxError, excerpt};
use super::typed_text::{InputOutcome, TYPED, check_text};
use crate::model::instance::ProcessMark;
use crate::process::{self, ProcessError};

/// The pane option with the highest epoch that has claimed the pane.
const EPOCH: &str = "@claude_codex_epoch";
/// The pane option with what was done last: `7:pasted`, `7:entered`.
const LAST: &str = "@claude_codex_input";
/// What the server prints when another epoch has the pane, and behind it which. No program is called so: a `!` would be a `?`.
const OUTDATED: &str = "outdated!";
/// Between paste and Enter, for programs whose input box can't be read.
const SETTLE_SECONDS: &str = "0.15";
/// Longer than a submission takes from paste to Enter.
const SUBMIT_TIMEOUT: Duration = Duration::from_secs(1);
/// As many lines as a terminal keeps: the first line of a long message scrolls far up.
const HISTORY: &str = "-20000";
/// Begins the names of our paste buffers.
const BUFFER: &str = "claude-codex-";
const CURSOR: &str = "#{cursor_flag} #{cursor_x} #{cursor_y} #{pane_height}";

/// How far an attempt has got with a pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputStage {
    Pasted,
    Entered,
}

/// The last thing that was done to a pane under a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastInput {
    pub epoch: u64,
    pub stage: InputStage,
}

/// What came of claiming a pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// Nobody with an older epoch types from now on.
    Claimed { last: Option<LastInput> },
    /// A newer epoch has claimed it.
    Outdated { newest: u64 },
    /// The pane is gone, dead, or has another program.
    Unavailable,
}

/// What a terminal has shown, and where its cursor is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputView {
    /// All lines, those that have scrolled away first.
    pub text: String,
    /// The line with the cursor up to the cursor; none for a program that hides it.
    pub before_cursor: Option<String>,
}

/// A pane, the condition under which it may be typed into, and in which epoch.
#[derive(Debug, Clone)]
pub struct Fenced {
    pub(super) tmux: Tmux,
    pub(super) target: String,
    /// A format that is true while the pane is the right one, alive, with the expected program.
    pub(super) condition: String,
    /// Whether to leave copy mode first, which would swallow what is typed.
    pub(super) leave_mode: bool,
    pub(super) epoch: u64,
}

impl Fenced {
    /// Shuts out everybody with an older epoch, and tells what was done last.
    pub async fn claim(&self) -> Result<Claim, TmuxError> {
        let Self { target, epoch, .. } = self;
        let newest = format!("#{{?#{{{EPOCH}}},#{{e|<=:#{{{EPOCH}}},{epoch}}},1}}");
        let script = self.script(
            &newest,
            &format!(
                "set-option -p -t '{target}' {EPOCH} {epoch} ; display-message -p -t '{target}' '{TYPED} #{{{LAST}}}'"
            ),
        );
        let Some(printed) = self.tmux.run(&script, None).await?.found()? else {
            return Ok(Claim::Unavailable);
        };
        let line = printed.trim_end();
        let newest = line
            .strip_prefix(OUTDATED)
            .map(|newest| newest.trim().parse());
        Ok(match (line.strip_prefix(TYPED), newest) {
            (Some(last), _) => {
                self.tmux.remove_left_buffers().await;
                Claim::Claimed {
                    last: last.trim().parse().ok(),
                }
            }
            (None, Some(Ok(newest))) => Claim::Outdated { newest },
            (None, Some(Err(_)) | None) => Claim::Unavailable,
        })
    }

    /// Waits a moment for a submission that has pasted to press Enter: tmux goes on with it when its deliverer has died, and a
    /// claim in between would stop it there.
    pub async fn let_submission_end(&self, epoch: u64) -> Result<(), TmuxError> {
        let pasted = LastInput {
            epoch,
            stage: InputStage::Pasted,
        };
        let deadline = Instant::now() + SUBMIT_TIMEOUT;
        while self.last().await? == Some(pasted) && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    async fn last(&self) -> Result<Option<LastInput>, TmuxError> {
        let script = Script::new("display-message").args([
            "-p",
            "-t",
            &self.target,
            &format!("#{{{LAST}}}"),
        ]);
        let printed = self.tmux.run(&script, None).await?.found()?;
        Ok(printed.and_then(|printed| printed.trim_end().parse().ok()))
    }

    /// Pastes the parts, each as one bracketed paste, without pressing Enter.
    pub async fn paste(&self, parts: &[&str]) -> Result<InputOutcome, TmuxError> {
        let buffers = Buffers::new(parts)?;
        let act = format!("{} ; {}", self.pasting(&buffers), self.did("pasted"));
        let script = self.script(&self.is_mine(), &format!("{act} ; {}", printing(TYPED)));
        let printed = self.with_buffers(buffers, script).await?;
        Ok(outcome(&printed))
    }

    /// Presses Enter, if the terminal shows the text at that moment.
    pub async fn press_enter(&self, shown: &str) -> Result<InputOutcome, TmuxError> {
        let condition = format!("#{{&&:{},#{{C:{shown}}}}}", self.is_mine());
        self.enter_if(&condition).await
    }

    /// Presses Enter, whatever the terminal shows.
    pub async fn press_enter_blindly(&self) -> Result<InputOutcome, TmuxError> {
        self.enter_if(&self.is_mine()).await
    }

    async fn enter_if(&self, condition: &str) -> Result<InputOutcome, TmuxError> {
        let act = format!("{} ; {}", self.entering(), printing(TYPED));
        let script = self.script(condition, &act);
        let printed = self.run_to_its_end(script).await?;
        Ok(outcome(&printed))
    }

    /// Presses a key that edits what is in the input box.
    pub async fn erase_line(&self) -> Result<InputOutcome, TmuxError> {
        self.press_if(&self.is_mine(), "C-u").await
    }

    /// Presses a key, if the format is true at that moment.
    pub(super) async fn press_if(
        &self,
        condition: &str,
        key: &str,
    ) -> Result<InputOutcome, TmuxError> {
        let act = format!("send-keys -t '{}' {key} ; {}", self.target, printing(TYPED));
        let printed = self.run_to_its_end(self.script(condition, &act)).await?;
        Ok(outcome(&printed))
    }

    /// Pastes, waits a moment, looks and presses Enter, all by the tmux server: our death stops it nowhere.
    ///
    /// Returns what the terminal showed right before Enter.
    pub async fn submit(&self, text: &str) -> Result<(InputOutcome, Option<InputView>), TmuxError> {
        let buffers = Buffers::new(&[text])?;
        let Self { target, .. } = self;
        let again = format!("{} ; {}", self.entering(), printing(TYPED));
        let act = format!(
            "{} ; {} ; run-shell -d {SETTLE_SECONDS} ; {} ; if-shell -F -t '{target}' '{}' \"{again}\" '{}'",
            self.pasting(&buffers),
            self.did("pasted"),
            looking(target),
            self.whole(&self.is_mine()),
            printing(OUTDATED),
        );
        let script = self.script(&self.is_mine(), &act);
        let printed = self.with_buffers(buffers, script).await?;
        let printed = printed.trim_end_matches('\n');
        let (before, last) = printed.rsplit_once('\n').unwrap_or(("", printed));
        Ok((outcome(last), InputView::parse(before)))
    }

    /// Returns what the terminal has shown, and where the cursor is.
    pub async fn view(&self) -> Result<Option<InputView>, TmuxError> {
        let target = &self.target;
        let script = Script::new("capture-pane")
            .args(["-p", "-S", HISTORY, "-t", target])
            .then("display-message")
            .args(["-p", "-t", target, CURSOR]);
        let printed = self.tmux.run(&script, None).await?.found()?;
        Ok(printed.and_then(|printed| InputView::parse(printed.trim_end_matches('\n'))))
    }

    pub(super) fn is_mine(&self) -> String {
        format!("#{{==:#{{{EPOCH}}},{}}}", self.epoch)
    }

    /// Returns the format that is true while the pane is the right one, and the condition holds.
    fn whole(&self, condition: &str) -> String {
        format!("#{{&&:{},{condition}}}", self.condition)
    }

    /// Does something under a condition; says why not.
    fn script(&self, condition: &str, act: &str) -> Script {
        let Self { target, .. } = self;
        let whole = self.whole(condition);
        let leave = if self.leave_mode {
            format!("copy-mode -q -t '{target}' ; ")
        } else {
            String::new()
        };
        let explain = format!(
            "display-message -p -t '{target}' '#{{?{},{OUTDATED} #{{{EPOCH}}},#{{s/[^A-Za-z0-9_.+-]/?/:pane_current_command}}}}'",
            self.condition
        );
        Script::new("if-shell")
            .args(["-F", "-t", target, &whole])
            .arg(format!("{leave}{act}"))
            .arg(explain)
    }

    fn pasting(&self, buffers: &Buffers<'_>) -> String {
        let target = &self.target;
        let pastes: Vec<String> = buffers
            .parts
            .iter()
            .map(|(name, _)| format!("paste-buffer -p -r -d -b {name} -t '{target}'"))
            .collect();
        pastes.join(" ; ")
    }

    fn entering(&self) -> String {
        format!(
            "send-keys -t '{}' Enter ; {}",
            self.target,
            self.did("entered")
        )
    }

    fn did(&self, stage: &str) -> String {
        let Self { target, epoch, .. } = self;
        format!("set-option -p -t '{target}' {LAST} {epoch}:{stage}")
    }

    /// Loads the buffers, then runs the script, then removes what it has left of them, also where one of that failed.
    ///
    /// The buffers come first and by themselves: a load that is cut off half-way, by our death, pastes nothing.
    async fn with_buffers(
        &self,
        buffers: Buffers<'_>,
        script: Script,
    ) -> Result<String, TmuxError> {
        let tmux = self.tmux.clone();
        let parts: Vec<(String, String)> = buffers
            .parts
            .into_iter()
            .map(|(name, text)| (name, text.to_owned()))
            .collect();
        to_its_end(&self.tmux, async move {
            let printed = tmux.load_and_run(&parts, &script).await;
            let typed = |printed: &String| printed.trim_end().ends_with(TYPED);
            if !printed.as_ref().is_ok_and(typed) {
                for (name, _) in &parts {
                    let delete = Script::new("delete-buffer").args(["-b", name.as_str()]);
                    // Pasted, hence deleted, is fine.
                    let _ = tmux.run(&delete, None).await;
                }
            }
            printed
        })
        .await
    }

    async fn run_to_its_end(&self, script: Script) -> Result<String, TmuxError> {
        let tmux = self.tmux.clone();
        to_its_end(&self.tmux, async move {
            Ok(tmux.run(&script, None).await?.found()?.unwrap_or_default())
        })
        .await
    }
}

impl Tmux {
    async fn load_and_run(
        &self,
        parts: &[(String, String)],
        script: &Script,
    ) -> Result<String, TmuxError> {
        for (name, text) in parts {
            let load = Script::new("load-buffer").args(["-b", name.as_str(), "-"]);
            self.run(&load, Some(text.as_bytes())).await?.found()?;
        }
        Ok(self.run(script, None).await?.found()?.unwrap_or_default())
    }

    /// Returns the names of the paste buffers that we have made and not removed.
    pub async fn own_buffers(&self) -> Result<Vec<String>, TmuxError> {
        let script = Script::new("list-buffers").args(["-F", "#{buffer_name}"]);
        let printed = self.run(&script, None).await?.found()?;
        let names = printed.unwrap_or_default();
        Ok(names
            .lines()
            .filter(|name| name.starts_with(BUFFER))
            .map(str::to_owned)
            .collect())
    }

    /// Removes the buffers of deliverers that have died between loading and pasting: they hold what was said to an agent.
    pub(super) async fn remove_left_buffers(&self) {
        let names = self.own_buffers().await.unwrap_or_default();
        for name in names.iter().filter(|name| is_left(name)) {
            let delete = Script::new("delete-buffer").args(["-b", name.as_str()]);
            if let Err(error) = self.run(&delete, None).await {
                tracing::debug!(%error, "cannot remove the buffer {name}");
            }
        }
    }
}

/// Names a new buffer, and its maker in it.
pub(super) fn buffer_name() -> String {
    let me = process::this_process();
    let maker = format!("{}:{}", me.pid, me.started);
    let mut name = BUFFER.to_owned();
    for byte in maker.bytes() {
        name.push_str(&format!("{byte:02x}"));
    }
    format!("{name}-{}", Uuid::new_v4().simple())
}

/// Tells whether the maker of a buffer has ended; one that can't be read is taken for alive.
fn is_left(name: &str) -> bool {
    maker(name).is_some_and(|maker| !process::is_alive(&maker))
}

fn maker(name: &str) -> Option<ProcessMark> {
    let (maker, _) = name.strip_prefix(BUFFER)?.split_once('-')?;
    let digits = maker.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> = digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    let maker = String::from_utf8(bytes?).ok()?;
    let (pid, started) = maker.split_once(':')?;
    Some(ProcessMark {
        pid: pid.parse().ok()?,
        started: started.to_owned(),
    })
}

/// Runs something to its end even when the caller is dropped: half of it would leave a buffer, or a doubt.
async fn to_its_end<T: Send + 'static>(
    tmux: &Tmux,
    work: impl Future<Output = Result<T, TmuxError>> + Send + 'static,
) -> Result<T, TmuxError> {
    tokio::spawn(work).await.unwrap_or_else(|stopped| {
        Err(TmuxError::Process(ProcessError::Io {
            program: tmux.program.display().to_string(),
            source: stopped.into(),
        }))
    })
}

/// Texts and the names of the private buffers that they are pasted from.
struct Buffers<'a> {
    parts: Vec<(String, &'a str)>,
}

impl<'a> Buffers<'a> {
    fn new(parts: &[&'a str]) -> Result<Self, TmuxError> {
        let named = parts.iter().map(|text| {
            check_text(text)?;
            Ok((buffer_name(), *text))
        });
        Ok(Self {
            parts: named.collect::<Result<_, TmuxError>>()?,
        })
    }
}

impl InputView {
    /// Reads a capture of all lines, followed by one line about the cursor.
    fn parse(printed: &str) -> Option<Self> {
        let (text, cursor) = printed.rsplit_once('\n')?;
        let fields: Vec<usize> = cursor
            .split(' ')
            .map(|field| field.parse().ok())
            .collect::<Option<_>>()?;
        let [visible, column, row, height] = fields[..] else {
            return None;
        };
        let lines: Vec<&str> = text.split('\n').collect();
        let line = (lines.len() + row).checked_sub(height);
        let before = line
            .and_then(|line| lines.get(line))
            .map(|line| line.chars().take(column).collect());
        Some(Self {
            text: text.to_owned(),
            before_cursor: before.filter(|_| visible == 1),
        })
    }
}

impl FromStr for LastInput {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (epoch, stage) = text.split_once(':').ok_or(())?;
        Ok(Self {
            epoch: epoch.parse().map_err(drop)?,
            stage: match stage {
                "pasted" => InputStage::Pasted,
                "entered" => InputStage::Entered,
                _ => return Err(()),
            },
        })
    }
}

fn printing(word: &str) -> String {
    format!("display-message -p {word}")
}

fn looking(target: &str) -> String {
    format!(
        "capture-pane -p -S {HISTORY} -t '{target}' ; display-message -p -t '{target}' '{CURSOR}'"
    )
}

fn outcome(printed: &str) -> InputOutcome {
    match printed.trim_end() {
        TYPED => InputOutcome::Typed,
        outdated if outdated.starts_with(OUTDATED) => InputOutcome::Outdated,
        "" => InputOutcome::Missing,
        other => InputOutcome::OtherProgram {
            command: excerpt(other),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_input_is_read() {
        let pasted = LastInput {
            epoch: 7,
            stage: InputStage::Pasted,
        };
        assert_eq!("7:pasted".parse(), Ok(pasted));
        for text in ["", "7", "x:pasted", "7:x"] {
            assert!(text.parse::<LastInput>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_text_before_the_cursor_is_read() {
        let view = InputView::parse("old\n> héllo\n\n1 4 0 2").unwrap();
        assert_eq!(view.before_cursor.as_deref(), Some("> hé"));
        let view = InputView::parse("old\n> hello\n\n0 4 0 2").unwrap();
        assert_eq!(
            (view.before_cursor, view.text.as_str()),
            (None, "old\n> hello\n")
        );
        assert_eq!(InputView::parse("typed"), None);
    }
}
