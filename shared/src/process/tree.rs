//! Process tree: parents and children from `/proc`. Without `/proc` (macOS) nothing is known.

use std::path::Path;

use super::proc_fs::{all_processes, start_time};

/// A process that stands above this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestor {
    pub pid: u32,
    /// What it calls itself, as `ps` shows it.
    pub name: String,
}

/// Returns the processes above one, its parent first. Empty where the system doesn't tell.
pub fn ancestors(of: u32) -> Vec<Ancestor> {
    /// Deeper than any tree of processes that somebody works in.
    const MAX_DEPTH: usize = 64;
    let mut chain = Vec::new();
    let mut next = parent_of(of);
    while let Some(pid) = next.filter(|pid| *pid > 1) {
        if chain.len() == MAX_DEPTH {
            break;
        }
        chain.push(Ancestor {
            pid,
            name: name_of(pid),
        });
        next = parent_of(pid);
    }
    chain
}

/// Returns what a process calls itself; empty if there is none.
pub fn name_of(pid: u32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim_end().to_owned()
}

/// Returns a variable of the environment that a process was started with.
pub fn variable_of(pid: u32, name: &str) -> Option<String> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    environment.split(|byte| *byte == 0).find_map(|entry| {
        let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(String::from_utf8_lossy(value).into_owned())
    })
}

/// Returns the processes that were started with a variable, and its value.
pub fn started_with(name: &str) -> Vec<(u32, String)> {
    all_processes()
        .filter_map(|pid| Some((pid, variable_of(pid, name)?)))
        .collect()
}

/// Returns the processes that were started with a variable and work in a folder, and its value.
pub fn started_with_in(name: &str, folder: &std::path::Path) -> Vec<(u32, String)> {
    let folder = folder.canonicalize();
    let works_there = |pid: u32| {
        let place = std::fs::read_link(format!("/proc/{pid}/cwd"));
        place.is_ok_and(|place| {
            folder
                .as_ref()
                .is_ok_and(|folder| place.starts_with(folder))
        })
    };
    all_processes()
        .filter(|pid| works_there(*pid))
        .filter_map(|pid| Some((pid, variable_of(pid, name)?)))
        .collect()
}

/// Returns the processes below one, with how many seconds ago each began.
pub fn descendants(of: u32) -> Vec<(u32, f64)> {
    all_processes()
        .filter(|pid| ancestors(*pid).iter().any(|ancestor| ancestor.pid == of))
        .filter_map(|pid| Some((pid, seconds_since_start(pid)?)))
        .collect()
}

/// Returns how many seconds ago a process began; a program that it became with `exec` counts from its first one.
pub fn seconds_since_start(pid: u32) -> Option<f64> {
    /// What Linux counts in, on every machine that it runs on.
    const TICKS_PER_SECOND: f64 = 100.0;
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split(' ').next()?.parse().ok()?;
    let began: f64 = start_time(pid)?.parse().ok()?;
    Some(uptime - began / TICKS_PER_SECOND)
}

/// Returns the processes that stand in a folder or below it, each with what it calls itself.
///
/// Never this one, nor those that were started with the variable `spared`. Where other users' processes stand can't be seen.
pub fn standing_in(folder: &Path, spared: &str) -> Vec<(u32, String)> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let is_inside = |pid: &u32| {
        std::fs::read_link(format!("/proc/{pid}/cwd"))
            .is_ok_and(|stands| stands.starts_with(&folder))
    };
    let me = std::process::id();
    all_processes()
        .filter(|pid| *pid != me && is_inside(pid) && variable_of(*pid, spared).is_none())
        .map(|pid| (pid, name_of(pid)))
        .collect()
}

/// Tells whether a program of ours has started this child itself, and has not become its parent when another ended.
///
/// We start agents in our own session, as leaders of a group or in our own. What an agent leaves behind
/// has either a session of its own or is one of the agent's group.
pub fn was_started_by(child: u32, parent: u32) -> bool {
    let (Some([parent_now, group, session]), Some([_, own_group, own_session])) =
        (origin_of(child), origin_of(parent))
    else {
        return false;
    };
    parent_now == parent && session == own_session && (group == child || group == own_group)
}

pub(super) fn parent_of(pid: u32) -> Option<u32> {
    origin_of(pid).map(|[parent, ..]| parent)
}

/// Reads parent, group and session of a process: `/proc/<pid>/stat` is `pid (name) state ppid pgrp session …`
fn origin_of(pid: u32) -> Option<[u32; 3]> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut numbers = rest
        .split(' ')
        .skip(1)
        .map_while(|field| field.parse().ok());
    Some([numbers.next()?, numbers.next()?, numbers.next()?])
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use super::*;

    struct Ended(Child);

    impl Drop for Ended {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn what_was_left_to_a_process_was_not_started_by_it() {
        let start = |command: &mut Command| Ended(command.arg("60").spawn().unwrap());
        let me = std::process::id();
        let plain = start(&mut Command::new("sleep"));
        let leader = start(Command::new("sleep").process_group(0));
        assert!(was_started_by(plain.0.id(), me));
        assert!(was_started_by(leader.0.id(), me));
        assert!(!was_started_by(me, plain.0.id()));
        // As an agent's shell starts what it leaves behind.
        let abandoned = start(Command::new("setsid").arg("sleep"));
        let session = || origin_of(abandoned.0.id()).map(|[_, _, session]| session);
        while session() != Some(abandoned.0.id()) {
            std::thread::yield_now();
        }
        assert!(!was_started_by(abandoned.0.id(), me));
    }
}
