//! Terminal control: a lease by which one dashboard user types into an agent's terminal.
//!
//! Control is a lease on a row: while it lasts, delivery types nothing into the same terminal. It ends by
//! itself when the one who has it goes away without a word.

use uuid::Uuid;

use crate::error::{Code, Error, way_on};
use crate::model::hidden::{self, first_hidden};
use crate::model::text::check_line;
use crate::model::{Instance, InstanceId};
use crate::store::PaneControl;
use crate::tmux::{InputOutcome, Key, Life, SessionName};
use crate::workflow::Context;
use crate::workflow::instance::facts::session_name;

/// How long control lasts unless it is renewed.
const CONTROL_LEASE_SECONDS: u32 = 30;
/// Renewals are written only when this much or less is left: every change wakes all that look.
const RENEW_BELOW_SECONDS: f64 = 16.0;
/// The longest text that is typed at once, in characters.
pub const MAX_TYPED_CHARS: usize = 4_000;
pub const MAX_PASTED_CHARS: usize = 100_000;

/// The longest name of who has control.
pub const MAX_HOLDER_CHARS: usize = 80;

/// What may be typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// Characters, as from a keyboard.
    Text(String),
    /// A text of several lines, as one paste.
    Paste(String),
    Key(Key),
}

/// Takes control of an agent's terminal, or goes on having it.
///
/// Somebody else's control is an error, unless it is to be taken over.
pub async fn take_control(
    context: &Context,
    id: &InstanceId,
    holder: &str,
    lease: Option<&str>,
    take_over: bool,
) -> Result<PaneControl, Error> {
    let holder =
        check_line(holder, MAX_HOLDER_CHARS).map_err(|problem| Error::argument("name", problem))?;
    typable(context, id).await?;
    let wanted = id.clone();
    let known = lease.map(str::to_owned);
    let outcome = context
        .store
        .write(move |w| {
            let lease = match (w.pane_control(&wanted)?, known) {
                (Some(present), Some(known)) if present.lease == known => {
                    if present.seconds_left > RENEW_BELOW_SECONDS {
                        return Ok(Ok(Some(present)));
                    }
                    known
                }
                // What has run out is not renewed: somebody may have typed in between.
                (None, Some(_)) => return Ok(Err(None)),
                (Some(other), _) if !take_over => return Ok(Err(Some(other))),
                (Some(_) | None, _) => Uuid::new_v4().simple().to_string(),
            };
            w.set_pane_control(&wanted, &lease, &holder, CONTROL_LEASE_SECONDS)?;
            Ok(Ok(w.pane_control(&wanted)?))
        })
        .await?;
    match outcome {
        Ok(Some(control)) => Ok(control),
        Ok(None) => Err(Error::new(
            Code::Internal,
            "control was taken and lost at once",
        )),
        Err(other) => Err(not_in_control(id, other.as_ref())),
    }
}

/// Gives control back. Idempotent.
pub async fn release_control(context: &Context, id: &InstanceId, lease: &str) -> Result<(), Error> {
    let (id, lease) = (id.clone(), lease.to_owned());
    context
        .store
        .write(move |w| w.release_pane_control(&id, &lease))
        .await?;
    Ok(())
}

/// Returns who has control of an agent's terminal.
pub async fn control(context: &Context, id: &InstanceId) -> Result<Option<PaneControl>, Error> {
    let id = id.clone();
    Ok(context.store.read(move |r| r.pane_control(&id)).await?)
}

/// Types into an agent's terminal; the caller must hold control of it.
pub async fn type_into(
    context: &Context,
    id: &InstanceId,
    lease: &str,
    typed: &Typed,
) -> Result<(), Error> {
    let present = control(context, id).await?;
    if present
        .as_ref()
        .is_none_or(|present| present.lease != lease)
    {
        return Err(not_in_control(id, present.as_ref()));
    }
    let wanted = id.clone();
    let instance = context.store.read(move |r| r.instance(&wanted)).await?;
    let name = session_name(&instance)?;
    let tmux = context.terminals(&instance);
    let outcome = match typed {
        Typed::Text(text) => {
            bounded("text", text, MAX_TYPED_CHARS)?;
            tmux.type_text(&name, text).await
        }
        Typed::Paste(text) => {
            bounded("paste", text, MAX_PASTED_CHARS)?;
            tmux.paste(&name, text, None).await
        }
        Typed::Key(key) => tmux.press(&name, *key, None).await,
    };
    match outcome? {
        InputOutcome::Typed => Ok(()),
        InputOutcome::Dead
        | InputOutcome::Missing
        | InputOutcome::OtherProgram { .. }
        | InputOutcome::Outdated => Err(ended(&instance)),
    }
}

/// Checks that an agent's terminal can be typed into, and returns its name.
async fn typable(context: &Context, id: &InstanceId) -> Result<SessionName, Error> {
    let wanted = id.clone();
    let instance = context.store.read(move |r| r.instance(&wanted)).await?;
    let name = session_name(&instance)?;
    match context.terminals(&instance).pane(&name).await? {
        Some(pane) if pane.life == Life::Running => Ok(name),
        Some(_) | None => Err(ended(&instance)),
    }
}

fn ended(instance: &Instance) -> Error {
    Error::new(
        Code::AgentEnded,
        format!("`{}` has no running terminal", instance.id),
    )
    .hint(way_on(instance))
}

fn not_in_control(id: &InstanceId, present: Option<&PaneControl>) -> Error {
    match present {
        Some(other) => Error::new(
            Code::ControlTaken,
            format!("{} has control of the terminal of `{id}`", other.holder),
        )
        .hint("Wait until they release it, or take it over."),
        None => Error::new(
            Code::ControlTaken,
            format!("you are not in control of the terminal of `{id}`"),
        )
        .hint("Take control first; it ends by itself when it is not renewed."),
    }
}

fn bounded(field: &str, text: &str, most: usize) -> Result<(), Error> {
    let problem = if text.is_empty() {
        "is empty".to_owned()
    } else if text.chars().count() > most {
        format!("has more than {most} characters")
    } else if field == "text" && text.contains(['\n', '\t']) {
        "has control characters; send those as keys".to_owned()
    } else if let Some(character) = first_hidden(text) {
        format!(
            "has the hidden character {}; keys are sent as keys, and nothing else may be hidden",
            hidden::number(character)
        )
    } else {
        return Ok(());
    };
    Err(Error::argument(field, problem))
}
