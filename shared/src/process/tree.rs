//! Who started whom, as `/proc` tells it. Where there is none (macOS) nothing is known.

use super::mark::start_time;

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
    const DEEPEST: usize = 64;
    let mut chain = Vec::new();
    let mut next = parent_of(of);
    while let Some(pid) = next.filter(|pid| *pid > 1) {
        if chain.len() == DEEPEST {
            break;
        }
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        chain.push(Ancestor {
            pid,
            name: name.trim_end().to_owned(),
        });
        next = parent_of(pid);
    }
    chain
}

/// Returns a variable of the environment that a process was started with.
pub fn variable_of(pid: u32, name: &str) -> Option<String> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    environment.split(|byte| *byte == 0).find_map(|entry| {
        let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(String::from_utf8_lossy(value).into_owned())
    })
}

/// Returns the processes below one, with how many seconds ago each began.
pub fn descendants(of: u32) -> Vec<(u32, f64)> {
    /// What Linux counts in, on every machine that it runs on.
    const TICKS_PER_SECOND: f64 = 100.0;
    let uptime = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    let uptime: f64 = uptime
        .split(' ')
        .next()
        .and_then(|seconds| seconds.parse().ok())
        .unwrap_or_default();
    all_processes()
        .filter(|pid| ancestors(*pid).iter().any(|ancestor| ancestor.pid == of))
        .filter_map(|pid| {
            let began: f64 = start_time(pid)?.parse().ok()?;
            Some((pid, uptime - began / TICKS_PER_SECOND))
        })
        .collect()
}

/// Returns the numbers of all processes. Empty where the system doesn't tell.
pub(super) fn all_processes() -> impl Iterator<Item = u32> {
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

pub(super) fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(1)?.parse().ok()
}
