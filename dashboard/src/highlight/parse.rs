//! Reads a patch as git writes it.

use super::quoted::{unquoted, without_side};
use crate::view::{DiffLine, FileDiff, FileStatus, Hunk, LineKind};

/// Reads a patch, in the order git gives it.
///
/// Lines of a hunk are counted, so that no content can pass for a header. A patch that is cut off ends where it ends.
pub fn parse(patch: &str) -> Vec<FileDiff> {
    let mut files: Vec<FileDiff> = Vec::new();
    let mut open = Counts::default();
    for line in patch.split('\n') {
        if let Some(file) = files.last_mut()
            && let Some(hunk) = file.hunks.last_mut()
        {
            if open.is_open() {
                let Some(line) = open.take(line) else {
                    continue;
                };
                match line.kind {
                    LineKind::Add => file.additions += 1,
                    LineKind::Del => file.deletions += 1,
                    LineKind::Context => {}
                }
                hunk.lines.push(line);
                continue;
            }
            // What git says about a missing line break belongs to the line before.
            if line.starts_with('\\') {
                continue;
            }
        }
        if let Some(names) = line.strip_prefix("diff --git ") {
            files.push(new_file(names));
        } else if let Some(file) = files.last_mut() {
            if let Some(counts) = hunk_header(line) {
                open = counts;
                file.hunks.push(Hunk {
                    header: line.to_owned(),
                    lines: Vec::new(),
                });
            } else {
                header_line(file, line);
            }
        }
    }
    files
}

fn new_file(names: &str) -> FileDiff {
    // Both names are the same but for renames, whose names stand on lines of their own.
    let middle = names.len() / 2;
    let path = match names.get(middle..middle + 1) {
        Some(" ") => without_side(&names[..middle]),
        _ => names.rsplit_once(" b/").map(|(_, path)| path.to_owned()),
    };
    FileDiff {
        path: path.unwrap_or_default(),
        old_path: None,
        status: FileStatus::Modified,
        additions: 0,
        deletions: 0,
        binary: false,
        hunks: Vec::new(),
    }
}

fn header_line(file: &mut FileDiff, line: &str) {
    if line.starts_with("new file mode") {
        file.status = FileStatus::Added;
    } else if line.starts_with("deleted file mode") {
        file.status = FileStatus::Deleted;
    } else if let Some(old) = line.strip_prefix("rename from ") {
        file.status = FileStatus::Renamed;
        file.old_path = Some(unquoted(old));
    } else if let Some(old) = line.strip_prefix("copy from ") {
        file.status = FileStatus::Copied;
        file.old_path = Some(unquoted(old));
    } else if let Some(new) = line
        .strip_prefix("rename to ")
        .or_else(|| line.strip_prefix("copy to "))
    {
        file.path = unquoted(new);
    } else if let Some(new) = line.strip_prefix("+++ ").and_then(without_side) {
        file.path = new;
    } else if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
        file.binary = true;
    }
}

/// Where a hunk is, and how much of it is still to come.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    old: u32,
    new: u32,
    old_left: u32,
    new_left: u32,
}

impl Counts {
    fn is_open(self) -> bool {
        self.old_left > 0 || self.new_left > 0
    }

    /// Takes a line in; nothing if it only says that a line break is missing.
    fn take(&mut self, line: &str) -> Option<DiffLine> {
        let (kind, text) = match line.split_at_checked(1) {
            Some(("+", text)) => (LineKind::Add, text),
            Some(("-", text)) => (LineKind::Del, text),
            Some(("\\", _)) => return None,
            Some((" ", text)) => (LineKind::Context, text),
            // Some programs take the blank off empty lines.
            _ => (LineKind::Context, line),
        };
        let old = (kind != LineKind::Add).then_some(self.old);
        let new = (kind != LineKind::Del).then_some(self.new);
        if old.is_some() {
            self.old = self.old.saturating_add(1);
            self.old_left = self.old_left.saturating_sub(1);
        }
        if new.is_some() {
            self.new = self.new.saturating_add(1);
            self.new_left = self.new_left.saturating_sub(1);
        }
        let text = text.strip_suffix('\r').unwrap_or(text).to_owned();
        Some(DiffLine {
            kind,
            old,
            new,
            text,
        })
    }
}

/// Reads `@@ -1,2 +3,4 @@ section`.
fn hunk_header(line: &str) -> Option<Counts> {
    let (ranges, _section) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| -> Option<(u32, u32)> {
        match text.split_once(',') {
            Some((first, count)) => Some((first.parse().ok()?, count.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let ((old, old_left), (new, new_left)) = (range(old)?, range(new)?);
    Some(Counts {
        old,
        new,
        old_left,
        new_left,
    })
}
