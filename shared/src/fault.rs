//! Fault injection for tests: kills, stops or fails the process at a numbered step. Compiled into debug builds only.
//!
//! A step is what the rest of the world can see: a commit, a child process, a private file, a renamed or removed file.
//! They are counted, so a test that tries 1, 2, 3 … until nothing happens any more has tried every one of them, those too
//! that are added later. Only the steps at which the action makes a difference count. Release builds have none of this.
//!
//! `TEST_FAULT_OF_CLAUDE_CODEX=PROGRAM:STEP:ACTION:TOKEN`: the first PROGRAM that is started so and removes the file
//! TOKEN does ACTION at its step number STEP, or the first that has STEP in its name, and writes what that was into
//! `TOKEN.fired`. Actions:
//!
//! - `kill`, `stop`: the program ends, or stands still until it is continued
//! - `full`, `broken`, `busy`: the step fails as on a full disk (ENOSPC), on a broken one (EIO), or because the database is
//!   locked by another, or no process can be had (EAGAIN)
//! - `refuse`: a child process does nothing and ends with 128, as git does when something is wrong
//!
//! A value that names no such action ends the program: a test with a misspelt action would otherwise inject nothing.

use std::io;

/// The variable that arms it.
pub const VARIABLE: &str = "TEST_FAULT_OF_CLAUDE_CODEX";

/// Passes a step that is about to be taken. An error is to be handled as if the step had failed.
pub fn before(what: &str) -> io::Result<()> {
    active::pass(what, true)
}

/// Passes a step that was taken. It can't fail any more.
pub fn after(what: &str) {
    let _ = active::pass(what, false);
}

/// Tells whether a child process that is about to be started is to refuse its work.
pub fn refuses(what: &str) -> bool {
    active::refuses(what)
}

pub use active::arm;

#[cfg(debug_assertions)]
mod active {
    use std::io;
    use std::path::{Path, PathBuf};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use rustix::io::Errno;
    use rustix::process::{Signal, getpid, kill_process};

    static FAULT: OnceLock<Fault> = OnceLock::new();
    static PASSED: AtomicU32 = AtomicU32::new(0);
    static REACHED: AtomicBool = AtomicBool::new(false);

    #[derive(Debug)]
    struct Fault {
        step: String,
        action: Action,
        fired: PathBuf,
    }

    #[derive(Debug, Clone, Copy)]
    enum Action {
        Signal(Signal),
        Fail(Errno),
        Refuse,
    }

    /// Arms the fault that a variable describes, if this program is the one that is meant.
    pub fn arm(variable: Option<&str>, program: Option<&Path>) {
        let Some((name, fault, token)) = variable.and_then(parse) else {
            return;
        };
        let is_meant = program
            .and_then(Path::file_name)
            .is_some_and(|own| *own == *name);
        // Whoever removes it is the first, and the only one.
        if is_meant && FAULT.get().is_none() && std::fs::remove_file(token).is_ok() {
            let _ = FAULT.set(fault);
        }
    }

    fn parse(variable: &str) -> Option<(&str, Fault, &Path)> {
        let mut parts = variable.splitn(4, ':');
        let (name, step, action, token) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let action = match action {
            "kill" => Action::Signal(Signal::KILL),
            "stop" => Action::Signal(Signal::STOP),
            "full" => Action::Fail(Errno::NOSPC),
            "broken" => Action::Fail(Errno::IO),
            "busy" => Action::Fail(Errno::AGAIN),
            "refuse" => Action::Refuse,
            // Nobody would notice that nothing was injected.
            _ => std::process::abort(),
        };
        let fault = Fault {
            step: step.to_owned(),
            action,
            fired: PathBuf::from(format!("{token}.fired")),
        };
        Some((name, fault, Path::new(token)))
    }

    pub(super) fn pass(what: &str, can_fail: bool) -> io::Result<()> {
        let Some(fault) = FAULT.get() else {
            return Ok(());
        };
        let when = if can_fail { "before" } else { "after" };
        match fault.action {
            Action::Signal(signal) if is_reached(fault, when, what) => {
                let _ = kill_process(getpid(), signal);
                Ok(())
            }
            Action::Fail(error) if can_fail && is_reached(fault, when, what) => Err(error.into()),
            Action::Signal(_) | Action::Fail(_) | Action::Refuse => Ok(()),
        }
    }

    pub(super) fn refuses(what: &str) -> bool {
        FAULT.get().is_some_and(|fault| {
            matches!(fault.action, Action::Refuse) && is_reached(fault, "instead of", what)
        })
    }

    /// Counts a step, and tells whether it is the one.
    fn is_reached(fault: &Fault, when: &str, what: &str) -> bool {
        let number = PASSED.fetch_add(1, Ordering::SeqCst) + 1;
        let is_it = match fault.step.parse::<u32>() {
            Ok(step) => step == number,
            Err(_) => what.contains(&fault.step),
        };
        let reached = is_it && !REACHED.swap(true, Ordering::SeqCst);
        if reached {
            let _ = std::fs::write(&fault.fired, format!("{number} {when} {what}"));
        }
        reached
    }
}

#[cfg(not(debug_assertions))]
mod active {
    use std::io;
    use std::path::Path;

    pub fn arm(_variable: Option<&str>, _program: Option<&Path>) {}

    pub(super) fn pass(_what: &str, _can_fail: bool) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn refuses(_what: &str) -> bool {
        false
    }
}
