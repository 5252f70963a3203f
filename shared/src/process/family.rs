//! Process family: all processes of one launch, and how they are ended.
//!
//! A process belongs to a launch if it descends from the launch's first process, or was started with the
//! launch's mark in its environment: one that has left its session and its parent still has that.

use std::collections::HashMap;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::mark::{is_alive, mark};
use super::proc_fs::all_processes;
use super::tree::{ancestors, parent_of};
use crate::model::instance::ProcessMark;

/// How often to look whether they have ended.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// How long a killed process may take to disappear.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// What tells the processes of one launch from all others.
#[derive(Debug, Clone)]
pub struct Family<'a> {
    /// The first processes of the launch, as far as they are known.
    pub roots: Vec<u32>,
    /// The variable that carries the launch's mark.
    pub variable: &'a str,
    /// The mark; without one only descent counts.
    pub mark: Option<&'a str>,
    /// The variable of processes that must outlive the launch, with all that they start.
    pub spared: &'a str,
}

/// How long the processes of a launch may take.
#[derive(Debug, Clone, Copy)]
pub struct Grace {
    /// To end by themselves, before SIGTERM.
    pub unasked: Duration,
    /// After SIGTERM, before SIGKILL.
    pub asked: Duration,
}

impl Family<'_> {
    /// Returns the processes of the launch that live now. Never this one, nor what it has started.
    pub fn members(&self) -> Vec<ProcessMark> {
        let processes: HashMap<u32, Process> = all_processes()
            .filter_map(|pid| Some((pid, self.process(pid)?)))
            .collect();
        let me = std::process::id();
        processes
            .keys()
            .filter(|pid| **pid != me && Self::is_member(**pid, &processes))
            .filter_map(|pid| mark(*pid))
            .collect()
    }

    /// Ends those that were found before, and whatever of the launch turns up meanwhile; returns survivors.
    ///
    /// This process and those above it are not signalled, even if they belong to the launch.
    pub async fn end(&self, mut found: Vec<ProcessMark>, grace: Grace) -> Vec<ProcessMark> {
        if self.are_gone_within(&mut found, grace.unasked).await {
            return Vec::new();
        }
        for (signal, time) in [(Signal::TERM, grace.asked), (Signal::KILL, KILL_TIMEOUT)] {
            self.signal(&mut found, signal);
            if self.are_gone_within(&mut found, time).await {
                return Vec::new();
            }
        }
        found
    }

    async fn are_gone_within(&self, found: &mut Vec<ProcessMark>, time: Duration) -> bool {
        let deadline = tokio::time::Instant::now() + time;
        loop {
            found.retain(is_alive);
            if found.is_empty() {
                // The last of them may have started others.
                *found = self.members();
                if found.is_empty() {
                    return true;
                }
            }
            if tokio::time::Instant::now() >= deadline {
                return false;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    fn signal(&self, found: &mut Vec<ProcessMark>, signal: Signal) {
        found.extend(self.members());
        found.sort_by_key(|process| process.pid);
        found.dedup();
        let above: Vec<u32> = ancestors(std::process::id())
            .into_iter()
            .map(|ancestor| ancestor.pid)
            .collect();
        for process in found.iter().filter(|process| !above.contains(&process.pid)) {
            if let Some(pid) =
                Pid::from_raw(process.pid.cast_signed()).filter(|_| is_alive(process))
            {
                // ESRCH: it went at the last moment.
                let _ = kill_process(pid, signal);
            }
        }
    }

    fn process(&self, pid: u32) -> Option<Process> {
        let parent = parent_of(pid)?;
        // Another user's can't be read, and can't be one of ours.
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let value = |name: &str| {
            environment
                .split(|byte| *byte == 0)
                .find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
        };
        let relation = match (value(self.variable), self.mark) {
            _ if self.roots.contains(&pid) => Relation::Ours,
            _ if pid == std::process::id() => Relation::Foreign,
            (Some(found), Some(mark)) if found == mark.as_bytes() => Relation::Ours,
            // Of another launch, which may have been made from inside this one.
            (Some(_), _) => Relation::Foreign,
            (None, _) if value(self.spared).is_some() => Relation::Foreign,
            (None, _) => Relation::LikeItsParent,
        };
        Some(Process { parent, relation })
    }

    fn is_member(pid: u32, processes: &HashMap<u32, Process>) -> bool {
        /// Deeper than any tree of processes.
        const MAX_DEPTH: usize = 1_000;
        let mut next = pid;
        for _ in 0..MAX_DEPTH {
            match processes.get(&next) {
                Some(process) => match process.relation {
                    Relation::Ours => return true,
                    Relation::Foreign => return false,
                    Relation::LikeItsParent => next = process.parent,
                },
                None => return false,
            }
        }
        false
    }
}

#[derive(Debug)]
struct Process {
    parent: u32,
    relation: Relation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Ours,
    Foreign,
    LikeItsParent,
}

/// Makes this process the parent of all descendants whose own parent ends, instead of `init`.
///
/// So they can still be told from others. Only Linux has that.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
        tracing::warn!(%error, "orphaned processes of the agent go to init");
    }
}
