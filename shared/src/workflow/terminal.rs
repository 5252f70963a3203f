//! The terminal of an agent: where it is, and whether this is a moment to type into it.

use std::time::{SystemTime, UNIX_EPOCH};

use super::Context;
use super::deliver::{claude_state, is_claude};
use super::launch::session_name;
use super::tdd::tdd_run_of;
use crate::agent::{self, AgentState, Draft, Screen};
use crate::error::Error;
use crate::model::{Instance, Origin, Status};
use crate::process;
use crate::tmux::{InputOutcome, Life, Lines, OwnPane, ProgramName, SessionName, Tmux};

/// A person who typed this recently may be in the middle of something.
const TYPING_SECONDS: u64 = 5;
/// As many lines as a terminal keeps: the first line of a long message scrolls far up.
const SCREEN_HISTORY: u32 = 20_000;
/// Programs that would run what is typed.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "tcsh"];

/// What a message waits for when something lies in the agent's input box.
pub(super) const DRAFTED: &str = "the draft in its input box to be sent or deleted";

/// Where an agent's terminal is.
#[derive(Debug)]
pub(super) enum Place {
    /// The session that we made for it, on the server that has it.
    Agent(Tmux, SessionName),
    /// A pane in a person's own tmux.
    Person(OwnPane),
}

impl Place {
    /// Finds the terminal of an agent; none for one that nobody launched, unless its own server asks.
    ///
    /// Only that server runs in the same pane, so only it knows for sure which one that is.
    pub(super) fn of(context: &Context, instance: &Instance) -> Result<Option<Self>, Error> {
        if instance.origin == Origin::Launched {
            return Ok(Some(Self::Agent(
                context.terminals(instance),
                session_name(instance)?,
            )));
        }
        let is_own = instance.server.as_ref() == Some(&process::this_process());
        let environment = &context.environment;
        let pane = environment.tmux_server().zip(environment.tmux_pane());
        Ok(pane
            .filter(|_| is_own && is_claude(instance))
            .and_then(|(server, pane)| OwnPane::of(&context.tmux, server, pane))
            .map(Self::Person))
    }

    /// Returns what the terminal shows, with colours as escape sequences.
    pub(super) async fn shown(&self) -> Result<String, Error> {
        Ok(match self {
            Self::Agent(tmux, name) => tmux.capture(name, Lines::Visible, true).await?,
            Self::Person(pane) => pane.capture().await?,
        })
    }

    /// Tells whether a text is to be seen, or was and has scrolled away.
    pub(super) async fn ever_shown(&self, text: &str) -> bool {
        let shown = match self {
            Self::Agent(tmux, name) => {
                let lines = Lines::History(SCREEN_HISTORY);
                tmux.capture(name, lines, false).await
            }
            Self::Person(pane) => pane.capture().await,
        };
        shown.is_ok_and(|shown| shown.contains(text))
    }

    /// Returns the terminal with the program that has it now; none when it is gone.
    pub(super) async fn into_terminal(self) -> Result<Option<Terminal>, Error> {
        let command = match &self {
            Self::Agent(tmux, name) => {
                let pane = tmux.pane(name).await?;
                pane.filter(|pane| pane.life == Life::Running)
                    .map(|pane| pane.command)
            }
            Self::Person(pane) => pane.state().await?.map(|state| state.command),
        };
        Ok(command.map(|command| Terminal {
            place: self,
            guard: ProgramName::new(command).ok(),
        }))
    }

    /// Tells whether a person is busy in the terminal.
    async fn is_in_use(&self) -> Result<bool, Error> {
        let typed = match self {
            Self::Agent(tmux, name) => tmux.clients(name).await?.last_activity,
            Self::Person(pane) => {
                // Somebody reads what has scrolled away; it is their terminal.
                if pane.state().await?.is_some_and(|state| state.in_mode) {
                    return Ok(true);
                }
                pane.last_activity().await?
            }
        };
        Ok(typed.is_some_and(is_recent))
    }
}

/// A terminal into which text can be typed.
#[derive(Debug)]
pub(super) struct Terminal {
    pub(super) place: Place,
    /// The program that must still have the terminal when the text arrives.
    guard: Option<ProgramName>,
}

impl Terminal {
    /// Pastes text, if the expected program still has the terminal.
    pub(super) async fn paste(&self, text: &str) -> Result<InputOutcome, Error> {
        Ok(match (&self.place, &self.guard) {
            (Place::Agent(tmux, name), guard) => tmux.paste(name, text, guard.as_ref()).await?,
            (Place::Person(pane), Some(guard)) => pane.paste(text, guard).await?,
            (Place::Person(_), None) => InputOutcome::Missing,
        })
    }

    /// Presses Enter, if the expected program still has the terminal.
    pub(super) async fn press_enter(&self) -> Result<InputOutcome, Error> {
        Ok(match (&self.place, &self.guard) {
            (Place::Agent(tmux, name), guard) => tmux.press_enter(name, guard.as_ref()).await?,
            (Place::Person(pane), Some(guard)) => pane.press_enter(guard).await?,
            (Place::Person(_), None) => InputOutcome::Missing,
        })
    }
}

/// Tells whether the agent is at its prompt with nobody typing, or what has to be waited for.
pub(super) async fn ready(
    context: &Context,
    instance: &Instance,
) -> Result<Result<Terminal, &'static str>, Error> {
    if !instance.status.is_live() && instance.status != Status::PrCreated {
        return Ok(Err("the agent to be resumed"));
    }
    let Some(place) = Place::of(context, instance)? else {
        return Ok(Err(
            "the end of its turn (Stop hook), or a look at codex://feedback",
        ));
    };
    if tdd_run_of(context, &instance.id).await?.is_some() {
        return Ok(Err("the end of its turn, or its next one"));
    }
    if instance.status == Status::Started {
        return Ok(Err("the agent to be ready"));
    }
    if is_claude(instance) {
        match claude_state(context, instance)? {
            AgentState::Idle => {}
            AgentState::Busy => return Ok(Err("the end of its turn")),
            AgentState::Waiting { .. } => return Ok(Err("a person to answer its dialog")),
            AgentState::Gone => return Ok(Err("the agent to be resumed")),
            AgentState::Unknown => return Ok(Err("the agent to be ready")),
        }
    }
    let Some(mut terminal) = place.into_terminal().await? else {
        return Ok(Err("the agent to be resumed"));
    };
    let controlled = super::control(context, &instance.id).await?.is_some();
    if controlled || terminal.place.is_in_use().await? {
        return Ok(Err("a person who is typing in its terminal"));
    }
    if !is_claude(instance) {
        // What its program is called is for it to say; that the pane is still its own, tmux knows.
        terminal.guard = None;
        return Ok(Ok(terminal));
    }
    let guard = terminal.guard.as_ref().map(ProgramName::as_str);
    if guard.is_some_and(|program| SHELLS.contains(&program)) {
        return Ok(Err("the agent: a shell has its terminal"));
    }
    let shown = terminal.place.shown().await?;
    match (agent::screen(&shown), agent::draft(&shown)) {
        (Screen::Prompt, Draft::Empty) => Ok(Ok(terminal)),
        (Screen::Prompt, Draft::Text) => Ok(Err(DRAFTED)),
        (Screen::Dialog, _) => Ok(Err("a person to close its dialog")),
        (Screen::Unknown, _) | (Screen::Prompt, Draft::Unknown) => {
            Ok(Err("its input box to be visible"))
        }
    }
}

fn is_recent(activity: u64) -> bool {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    now.saturating_sub(activity) < TYPING_SECONDS
}
