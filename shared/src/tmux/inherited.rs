//! Keeps file descriptors that our own parent leaked to us out of the tmux server.
//!
//! Rust opens everything close-on-exec, but a shell script's lock (`exec 9>lock`) or a test runner's
//! report pipe is inherited, and the server would hold it for as long as any agent lives.

use std::fs::File;
use std::os::fd::OwnedFd;

use command_fds::{CommandFdExt, FdMapping};
use tokio::process::Command;

/// The close-on-exec bit in the octal `flags:` line of `/proc/self/fdinfo`.
const CLOSE_ON_EXEC: u32 = 0o2_000_000;

/// Makes the child see `/dev/null` in place of each leaked descriptor.
///
/// A descriptor can't be closed here without unsafe code, but it can be replaced. Where there is
/// no `/proc` (macOS) nothing is done.
pub(super) fn replace_inherited(command: &mut Command) -> std::io::Result<()> {
    let mut mappings = Vec::new();
    for child_fd in leaked() {
        let parent_fd = OwnedFd::from(File::open("/dev/null")?);
        mappings.push(FdMapping {
            parent_fd,
            child_fd,
        });
    }
    if !mappings.is_empty() {
        // Only two mappings of one descriptor collide, and directory entries are unique.
        let _ = command.fd_mappings(mappings);
    }
    Ok(())
}

fn leaked() -> Vec<i32> {
    let Ok(entries) = std::fs::read_dir("/proc/self/fdinfo") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let descriptor: i32 = entry.file_name().to_str()?.parse().ok()?;
            let info = std::fs::read_to_string(entry.path()).ok()?;
            (descriptor > 2 && survives_exec(&info)).then_some(descriptor)
        })
        .collect()
}

fn survives_exec(fdinfo: &str) -> bool {
    fdinfo
        .lines()
        .find_map(|line| line.strip_prefix("flags:"))
        .and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok())
        .is_some_and(|flags| flags & CLOSE_ON_EXEC == 0)
}

#[cfg(test)]
mod tests {
    use super::survives_exec;

    #[test]
    fn close_on_exec_is_read_from_fdinfo() {
        assert!(survives_exec("pos:\t0\nflags:\t0100001\nmnt_id:\t29\n"));
        assert!(!survives_exec("pos:\t0\nflags:\t02100001\nmnt_id:\t29\n"));
        assert!(!survives_exec(""));
    }
}
