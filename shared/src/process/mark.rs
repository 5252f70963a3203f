//! Process identity: pid, start time and boot id, so that a reused pid is never mistaken for the same process.

use std::sync::LazyLock;

use rustix::process::{Pid, Signal};

use super::proc_fs::{all_processes, start_time};
use crate::model::instance::{BootTime, ProcessMark};

/// Returns the mark of this process.
pub fn this_process() -> ProcessMark {
    let pid = std::process::id();
    ProcessMark {
        pid,
        started: start_time(pid).map(began_here).unwrap_or_default(),
    }
}

/// Returns the mark of another process, if it lives.
pub fn mark(pid: u32) -> Option<ProcessMark> {
    let started = began_here(start_time(pid)?);
    Some(ProcessMark { pid, started })
}

/// Returns a mark that no process ever has: what it owns is unfinished, and anybody's to finish.
pub fn nobody() -> ProcessMark {
    ProcessMark {
        pid: 0,
        started: "released".to_owned(),
    }
}

/// Tells whether a marked process still lives, and is not another one with the same number.
///
/// One that can't be seen from here is taken for alive.
pub fn is_alive(mark: &ProcessMark) -> bool {
    is_seen(mark) || is_out_of_sight(mark) || is_contained(mark)
}

/// Tells whether a marked process lives, and its number means the same process here.
pub fn is_seen(mark: &ProcessMark) -> bool {
    start_time(mark.pid).is_some_and(|ticks| {
        let of_older_release = in_this_boot(&ticks) == mark.started;
        of_older_release || began_here(ticks) == mark.started
    })
}

/// Tells whether a mark is of a process of the machine itself while this one is in a container or sandbox with
/// process numbers of its own. A mark of another container is not: one that was started anew is another one.
pub fn is_out_of_sight(mark: &ProcessMark) -> bool {
    let (Some(boot), Some(space)) = (boot_id(), number_space()) else {
        return false;
    };
    space != MACHINE && mark.started.ends_with(&format!("-{boot}-{MACHINE}"))
}

/// Tells whether a mark is of a process in a container or sandbox with process numbers of its own that lives and is seen
/// from here, under another number.
fn is_contained(mark: &ProcessMark) -> bool {
    let named = mark.started.split_once('-').and_then(|(ticks, rest)| {
        let space = rest.strip_prefix(boot_id()?)?.strip_prefix('-')?;
        Some((ticks, space))
    });
    let Some((ticks, space)) = named.filter(|(_, space)| Some(*space) != number_space()) else {
        return false;
    };
    all_processes().any(|pid| {
        number_space_of(&pid.to_string()).as_deref() == Some(space)
            && number_inside(pid) == Some(mark.pid)
            && start_time(pid).as_deref() == Some(ticks)
    })
}

/// Returns the number that a process has in its own container (Linux).
fn number_inside(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let numbers = status
        .lines()
        .find_map(|line| line.strip_prefix("NSpid:"))?;
    numbers.split_whitespace().last()?.parse().ok()
}

/// Tells whether a marked process lives and goes on: one that was stopped (Ctrl-Z, a debugger) does nothing until somebody
/// continues it.
pub fn is_running(mark: &ProcessMark) -> bool {
    let is_stopped = matches!(state(mark.pid), Some('T' | 't'));
    (is_seen(mark) && !is_stopped) || is_out_of_sight(mark) || is_contained(mark)
}

/// Tells whether a marked process has ended, also if its parent has not noticed yet.
pub fn has_ended(mark: &ProcessMark) -> bool {
    !is_alive(mark) || (is_seen(mark) && state(mark.pid) == Some('Z'))
}

/// Returns the state of a process as Linux has it: `S`, `R`, `T`, `Z` …
fn state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.chars().next()
}

/// Adds the boot id: after a reboot both the number and the clock tick may come again.
fn in_this_boot(ticks: &str) -> String {
    match boot_id() {
        Some(boot) => format!("{ticks}-{boot}"),
        None => ticks.to_owned(),
    }
}

/// Adds the boot and whose process numbers are meant.
fn began_here(ticks: String) -> String {
    match (boot_id(), number_space()) {
        (Some(boot), Some(space)) => format!("{ticks}-{boot}-{space}"),
        (Some(boot), None) => format!("{ticks}-{boot}"),
        (None, _) => ticks,
    }
}

/// The pid namespace of a machine, in which containers and sandboxes have theirs; its number is fixed (Linux).
const MACHINE: &str = "4026531836";

/// Returns the pid namespace of this process, where there is such a thing (Linux).
fn number_space() -> Option<&'static str> {
    static SPACE: LazyLock<Option<String>> = LazyLock::new(|| number_space_of("self"));
    SPACE.as_deref()
}

fn number_space_of(process: &str) -> Option<String> {
    let link = std::fs::read_link(format!("/proc/{process}/ns/pid")).ok()?;
    let number = link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?;
    Some(number.to_owned())
}

/// Returns how long the machine has been awake since it was booted, by a clock that nobody can set.
///
/// `None` where the system does not name its boots: then two readings can't be compared.
pub fn boot_time() -> Option<BootTime> {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Some(BootTime {
        boot: boot_id()?.to_owned(),
        seconds: now.tv_sec,
    })
}

/// Returns the id of the present boot of the machine, where it has one (Linux).
fn boot_id() -> Option<&'static str> {
    static ID: LazyLock<Option<String>> = LazyLock::new(|| {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(id.trim().to_owned())
    });
    ID.as_deref()
}

/// Asks a marked process to end; one that has ended, or another with its number, is left alone.
pub fn ask_to_end(mark: &ProcessMark) {
    if is_seen(mark)
        && let Some(pid) = Pid::from_raw(mark.pid.cast_signed())
    {
        let _ = rustix::process::kill_process(pid, Signal::TERM);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_from_another_boot_is_dead() {
        let me = this_process();
        assert!(is_alive(&me));
        let (ticks, boot) = me.started.split_once('-').unwrap();
        assert!(!boot.is_empty());
        let other_boot = "00000000-0000-4000-8000-000000000000";
        for started in [format!("{ticks}-{other_boot}"), ticks.to_owned()] {
            assert!(!is_alive(&ProcessMark {
                pid: me.pid,
                started
            }));
        }
    }
}
