//! The pane of an agent, and whether it is safe to type into it now (`ready`).

use std::time::{SystemTime, UNIX_EPOCH};

use uuid::Uuid;

use crate::agent::{self, AgentState, Draft, Screen, Waiting};
use crate::error::Error;
use crate::model::{Instance, InstanceId, Origin, SessionMode, Status, WaitReason};
use crate::process;
use crate::tmux::{Fenced, Life, Lines, OwnPane, PaneId, ProgramName, SessionName, Tmux};
use crate::workflow::Context;
use crate::workflow::instance::facts::session_name;

/// A person who typed this recently may be in the middle of something.
const TYPING_GRACE_SECONDS: u64 = 5;
/// Programs that would run what is typed.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "tcsh"];

/// Where an agent's terminal is.
#[derive(Debug)]
pub(crate) enum PaneOwner {
    /// The session that we made for it, on the server that has it.
    Ours(Tmux, SessionName),
    /// A pane in a person's own tmux.
    User(OwnPane),
}

impl PaneOwner {
    /// Finds the terminal of an agent; none for one that nobody launched, unless its own server asks.
    ///
    /// Only that server runs in the same pane, so only it knows for sure which one that is.
    pub(crate) async fn of(context: &Context, instance: &Instance) -> Result<Option<Self>, Error> {
        if instance.origin == Origin::Launched {
            return Ok(Some(Self::Ours(
                context.terminals(instance),
                session_name(instance)?,
            )));
        }
        let is_own = instance.server.as_ref() == Some(&process::this_process());
        if !is_own || !is_claude(instance) {
            return Ok(None);
        }
        Ok(pane_of_this_process(context).await?.map(Self::User))
    }

    /// Returns what the terminal shows, with colours as escape sequences.
    pub(crate) async fn shown(&self) -> Result<String, Error> {
        Ok(match self {
            Self::Ours(tmux, name) => tmux.capture(name, Lines::Visible, true).await?,
            Self::User(pane) => pane.capture().await?,
        })
    }

    /// Returns the terminal with the program that has it now; none when it is gone.
    pub(crate) async fn into_terminal(self) -> Result<Option<Terminal>, Error> {
        let found = match &self {
            Self::Ours(tmux, name) => {
                let pane = tmux.pane(name).await?;
                pane.filter(|pane| pane.life == Life::Running)
                    .map(|pane| (pane.pane_id, pane.command, pane.is_held))
            }
            Self::User(pane) => {
                let state = pane.state().await?;
                state.map(|state| (pane.id(), state.command, state.is_held))
            }
        };
        Ok(found.map(|(pane, command, is_held)| Terminal {
            owner: self,
            pane,
            program: ProgramName::new(command).ok(),
            is_held,
        }))
    }

    /// Tells whether a person is busy in the terminal.
    pub(crate) async fn is_in_use(
        &self,
        context: &Context,
        id: &InstanceId,
    ) -> Result<bool, Error> {
        if super::control::control(context, id).await?.is_some() {
            return Ok(true);
        }
        self.is_typed_into().await
    }

    /// Tells whether a person has typed in the terminal a moment ago, or reads what has scrolled away in their own.
    pub(crate) async fn is_typed_into(&self) -> Result<bool, Error> {
        let typed = match self {
            Self::Ours(tmux, name) => tmux.clients(name).await?.last_activity,
            Self::User(pane) => {
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

/// Finds the pane of a person's own tmux that this server and its Claude Code run in.
///
/// `TMUX` and `TMUX_PANE` are inherited by whatever is started from a pane, a terminal window too. So Claude Code must be
/// below the pane's process, on the pane's own terminal, and in its foreground.
pub(crate) async fn pane_of_this_process(context: &Context) -> Result<Option<OwnPane>, Error> {
    let environment = &context.environment;
    let pane = environment
        .tmux_server()
        .zip(environment.tmux_pane())
        .and_then(|(server, pane)| OwnPane::of(&context.tmux, server, pane));
    let Some(pane) = pane else {
        return Ok(None);
    };
    let claude = agent::nearest_claude(&context.claude_folder()?);
    let (Some(claude), Some(state)) = (claude, pane.state().await?) else {
        return Ok(None);
    };
    let is_below = claude.pid == state.pid
        || process::ancestors(claude.pid)
            .iter()
            .any(|ancestor| ancestor.pid == state.pid);
    let own = process::controlling_terminal(claude.pid);
    let shown = process::controlling_terminal(state.pid);
    let has_terminal = own
        .zip(shown)
        .is_some_and(|(own, shown)| own.is_same(shown) && own.in_foreground);
    Ok((is_below && has_terminal).then_some(pane))
}

/// A terminal into which text can be typed.
#[derive(Debug)]
pub(crate) struct Terminal {
    pub(crate) owner: PaneOwner,
    pane: PaneId,
    /// The program that must still have the terminal when the text arrives.
    program: Option<ProgramName>,
    /// A person has shut its input off, or types into several panes at once.
    is_held: bool,
}

impl Terminal {
    /// Returns the terminal for typing in one epoch.
    pub(crate) fn fenced(&self, epoch: u64) -> Fenced {
        let program = self.program.as_ref();
        match &self.owner {
            PaneOwner::Ours(tmux, name) => tmux.fenced(name, self.pane, program, epoch),
            PaneOwner::User(pane) => pane.fenced(program, epoch),
        }
    }
}

pub(crate) fn is_claude(instance: &Instance) -> bool {
    instance.claude_session_id.is_some()
}

pub(crate) fn claude_session(instance: &Instance) -> Option<Uuid> {
    instance.claude_session_id.as_deref()?.parse().ok()
}

/// Returns what the agent's own Claude Code is doing.
pub(crate) fn claude_state(context: &Context, instance: &Instance) -> Result<AgentState, Error> {
    let Some(session) = claude_session(instance) else {
        return Ok(AgentState::Unknown);
    };
    let living = agent::sessions(&context.claude_folder()?);
    Ok(agent::state_among(
        &living,
        session,
        instance.agent.as_ref(),
    ))
}

/// Returns what has to be waited for before Claude Code can be typed at; none if it is at its prompt.
pub(crate) fn reason_to_wait(state: &AgentState) -> Option<WaitReason> {
    Some(match state {
        AgentState::Idle => return None,
        AgentState::Busy => WaitReason::Busy,
        AgentState::Waiting {
            on: Waiting::Background,
        } => WaitReason::NoInputBox,
        AgentState::Waiting { .. } => WaitReason::DialogQuestion,
        AgentState::Gone => WaitReason::AgentEnded,
        AgentState::Unknown => WaitReason::AgentStarting,
    })
}

/// Returns a launched instance with the session that its agent has now.
///
/// `/clear` gives the same process another session. A hook says so, unless it gave up (a locked database); the agent's
/// own process tells it as well.
pub(crate) async fn with_present_session(
    context: &Context,
    mut instance: Instance,
) -> Result<Instance, Error> {
    if instance.origin != Origin::Launched
        || !is_claude(&instance)
        || claude_state(context, &instance)? != AgentState::Gone
    {
        return Ok(instance);
    }
    let folder = context.claude_folder()?;
    let present = instance
        .agent
        .as_ref()
        .and_then(|agent| agent::session_of(&folder, agent));
    let Some(present) = present else {
        return Ok(instance);
    };
    let (id, session) = (instance.id.clone(), present.session_id.to_string());
    instance.claude_session_id = Some(session.clone());
    context
        .store
        .write(move |w| w.set_claude_session(&id, &session))
        .await?;
    Ok(instance)
}

/// Tells whether the agent is at its prompt with nobody typing, or what has to be waited for.
pub(crate) async fn ready(
    context: &Context,
    instance: &Instance,
) -> Result<Result<Terminal, WaitReason>, Error> {
    if !instance.status.is_live() && instance.status != Status::PrCreated {
        return Ok(Err(WaitReason::AgentEnded));
    }
    let Some(owner) = PaneOwner::of(context, instance).await? else {
        return Ok(Err(WaitReason::StopHook));
    };
    if instance.session_mode == SessionMode::Headless {
        return Ok(Err(WaitReason::NextTurn));
    }
    // An agent that was sent back is not `started`: no server has spoken for it since its last end.
    let is_silent = instance.origin == Origin::Launched && instance.server.is_none();
    if instance.status == Status::Started || is_silent {
        return Ok(Err(WaitReason::AgentStarting));
    }
    if is_claude(instance)
        && let Some(reason) = reason_to_wait(&claude_state(context, instance)?)
    {
        return Ok(Err(reason));
    }
    let Some(mut terminal) = owner.into_terminal().await? else {
        return Ok(Err(WaitReason::AgentEnded));
    };
    if terminal.is_held || terminal.owner.is_in_use(context, &instance.id).await? {
        return Ok(Err(WaitReason::PersonTyping));
    }
    if !is_claude(instance) {
        // What its program is called is for it to say; that the pane is still its own, tmux knows.
        terminal.program = None;
        return Ok(Ok(terminal));
    }
    let program = terminal.program.as_ref().map(ProgramName::as_str);
    if program.is_some_and(|program| SHELLS.contains(&program)) {
        return Ok(Err(WaitReason::ShellInTerminal));
    }
    let shown = terminal.owner.shown().await?;
    match (agent::screen(&shown), agent::draft(&shown)) {
        (Screen::Prompt, Draft::Empty) => Ok(Ok(terminal)),
        (Screen::Prompt, Draft::Text) => Ok(Err(WaitReason::Draft)),
        (Screen::Dialog, _) => Ok(Err(WaitReason::DialogOpen)),
        (Screen::Unknown, _) | (Screen::Prompt, Draft::Unknown) => Ok(Err(WaitReason::NoInputBox)),
    }
}

fn is_recent(activity: u64) -> bool {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    is_moments_before(activity, now)
}

/// Tells whether a person typed just now. A time in the future is from before the clock was set back.
fn is_moments_before(activity: u64, now: u64) -> bool {
    now.checked_sub(activity)
        .is_some_and(|ago| ago < TYPING_GRACE_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::is_moments_before;

    #[test]
    fn what_was_typed_in_the_future_was_typed_before_the_clock_was_set_back() {
        assert!(is_moments_before(1_000, 1_000));
        assert!(is_moments_before(996, 1_000));
        assert!(!is_moments_before(995, 1_000));
        assert!(!is_moments_before(4_600, 1_000));
    }
}
