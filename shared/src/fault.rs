//! Fault injection: a debug build that is told to ends, stops or fails at one of its steps.
//!
//! A step is what the rest of the world can see: a commit, a child process, a renamed or removed file. They are
//! counted, so a test that tries 1, 2, 3 … until nothing happens any more has tried every one of them, those too that
//! are added later. Release builds have none of this.
//!
//! `TEST_FAULT_OF_CLAUDE_CODEX=PROGRAM:STEP:ACTION:TOKEN`: the first PROGRAM that is started so and removes the file
//! TOKEN does ACTION (`kill`, `stop`, `fail`) at its step number STEP, and writes what that was into `TOKEN.fired`.

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

pub use active::arm;

#[cfg(debug_assertions)]
mod active {
    use std::io;
    use std::path::{Path, PathBuf};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    use rustix::process::{Signal, getpid, kill_process};

    static FAULT: OnceLock<Fault> = OnceLock::new();
    static PASSED: AtomicU32 = AtomicU32::new(0);

    #[derive(Debug)]
    struct Fault {
        step: u32,
        action: Action,
        fired: PathBuf,
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Action {
        Kill,
        Stop,
        Fail,
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
            "kill" => Action::Kill,
            "stop" => Action::Stop,
            "fail" => Action::Fail,
            _ => return None,
        };
        let fault = Fault {
            step: step.parse().ok()?,
            action,
            fired: PathBuf::from(format!("{token}.fired")),
        };
        Some((name, fault, Path::new(token)))
    }

    pub(super) fn pass(what: &str, can_fail: bool) -> io::Result<()> {
        let Some(fault) = FAULT.get() else {
            return Ok(());
        };
        let number = PASSED.fetch_add(1, Ordering::SeqCst) + 1;
        if number != fault.step {
            return Ok(());
        }
        let when = if can_fail { "before" } else { "after" };
        let _ = std::fs::write(&fault.fired, format!("{number} {when} {what}"));
        let signal = match fault.action {
            Action::Kill => Signal::KILL,
            Action::Stop => Signal::STOP,
            Action::Fail if can_fail => return Err(io::ErrorKind::StorageFull.into()),
            Action::Fail => return Ok(()),
        };
        let _ = kill_process(getpid(), signal);
        Ok(())
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
}
