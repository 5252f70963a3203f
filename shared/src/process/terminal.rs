//! The controlling terminal of a process.

/// Which terminal a process has, and whether keys typed there reach it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControllingTerminal {
    /// The device number, as the kernel prints it.
    device: i64,
    pub in_foreground: bool,
}

impl ControllingTerminal {
    pub fn is_same(self, other: Self) -> bool {
        self.device == other.device
    }
}

/// Returns the controlling terminal of a process; `None` if it has none, or where the system doesn't tell (macOS).
pub fn controlling_terminal(pid: u32) -> Option<ControllingTerminal> {
    parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads `/proc/<pid>/stat`: `pid (name) state ppid pgrp session tty_nr tpgid …`
fn parse(stat: &str) -> Option<ControllingTerminal> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let numbers: Vec<i64> = rest
        .split(' ')
        .skip(1)
        .take(5)
        .map_while(|field| field.parse().ok())
        .collect();
    let [_, group, _, device, foreground] = numbers[..] else {
        return None;
    };
    (device != 0).then_some(ControllingTerminal {
        device,
        in_foreground: group == foreground,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_and_foreground_are_read_from_stat() {
        let at = |group: i64, device: i64, foreground: i64| {
            parse(&format!(
                "7 (a) b) S 1 {group} 7 {device} {foreground} 4194304 0"
            ))
        };
        let (front, back) = (at(7, 34817, 7).unwrap(), at(8, 34817, 7).unwrap());
        assert!(front.in_foreground && !back.in_foreground);
        assert!(front.is_same(back));
        assert!(!front.is_same(at(7, 34818, 7).unwrap()));
        assert_eq!(at(7, 0, -1), None);
        assert_eq!(parse("7 (x) S 1"), None);
    }
}
