//! `/proc`: which processes there are, and when each began.

#[cfg(not(target_os = "linux"))]
use rustix::process::Pid;

/// Returns the numbers of all processes. Empty where the system doesn't tell.
pub(super) fn all_processes() -> impl Iterator<Item = u32> {
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Returns when a process began, in clock ticks since the machine did; `None` if there is none.
#[cfg(target_os = "linux")]
pub(super) fn start_time(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything; what follows it is fixed. A zombie has ended.
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?;
    (state != "Z" && state != "X").then(|| fields.nth(18).unwrap_or_default().to_owned())
}

/// Elsewhere the number alone must do.
#[cfg(not(target_os = "linux"))]
pub(super) fn start_time(pid: u32) -> Option<String> {
    let pid = Pid::from_raw(pid.cast_signed())?;
    rustix::process::test_kill_process(pid)
        .is_ok()
        .then(String::new)
}
