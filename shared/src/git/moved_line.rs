//! Follows a line of a file from one commit to another (`git diff-tree --unified=0`), through renames.

use std::path::Path;

use super::diff::parse_name_status;
use super::discovery::Repository;
use super::error::GitError;
use super::status::ChangeKind;

/// A diff of one file with more than this is not read.
const MAX_OUTPUT: usize = 16 * 1024 * 1024;

/// What became of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MovedLine {
    /// It is there still, as it was.
    At { file: String, line: u32 },
    /// It was changed or removed.
    Changed,
}

impl Repository {
    /// Returns where a line of one commit is in another.
    pub async fn moved_line(
        &self,
        from: &str,
        to: &str,
        file: &str,
        line: u32,
    ) -> Result<MovedLine, GitError> {
        let (from, to) = self.resolve_both(from, to).await?;
        let names = self
            .diff_of(&from, &to, &["--name-status", "-z"], &[], MAX_OUTPUT)
            .await?;
        let mut changed = parse_name_status(&names)?.into_iter();
        let found = changed.find(|one| {
            one.kind != ChangeKind::Copied
                && one.original.as_deref().unwrap_or(&one.path) == Path::new(file)
        });
        let Some(found) = found.filter(|found| found.kind != ChangeKind::Added) else {
            let file = file.to_owned();
            return Ok(MovedLine::At { file, line });
        };
        if found.kind == ChangeKind::Deleted {
            return Ok(MovedLine::Changed);
        }
        let now = found.path.to_string_lossy().into_owned();
        let paths = [file, &now].map(|path| format!(":(top,literal){path}"));
        let diff = self
            .diff_of(&from, &to, &["--unified=0"], &paths, MAX_OUTPUT)
            .await?;
        let line = through_hunks(&String::from_utf8_lossy(&diff), line);
        Ok(line.map_or(MovedLine::Changed, |line| MovedLine::At { file: now, line }))
    }
}

/// Follows a line through the hunks of a diff without context.
fn through_hunks(diff: &str, line: u32) -> Option<u32> {
    let (line, mut offset) = (i64::from(line), 0);
    for (old, new) in diff.lines().filter_map(hunk) {
        let (start, count) = old;
        // An insertion is given by the line that it comes after.
        let end = start + count.max(1);
        if line >= end {
            offset += new.1 - count;
        } else if count > 0 && line >= start {
            return None;
        } else {
            break;
        }
    }
    u32::try_from(line + offset).ok()
}

/// Start and number of lines, before and after.
type Hunk = ((i64, i64), (i64, i64));

/// Reads `@@ -3,4 +3,5 @@`; no line of a file begins like that in a diff.
fn hunk(line: &str) -> Option<Hunk> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    };
    Some((range(old)?, range(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_followed_through_changes_above_it() {
        // A line is inserted after the second, the fifth is changed, the eighth and ninth are removed.
        let diff = "--- a/x\n+++ b/x\n@@ -2,0 +3 @@\n+new\n@@ -5 +6 @@\n-five\n+5\n@@ -8,2 +8,0 @@\n-8\n-9\n";
        for (line, expected) in [
            (1, Some(1)),
            (2, Some(2)),
            (3, Some(4)),
            (4, Some(5)),
            (5, None),
            (6, Some(7)),
            (7, Some(8)),
            (8, None),
            (9, None),
            (10, Some(9)),
        ] {
            assert_eq!(through_hunks(diff, line), expected, "{line}");
        }
        assert_eq!(through_hunks("@@ -0,0 +1,2 @@\n+a\n+b\n", 1), Some(3));
        assert_eq!(through_hunks("", 7), Some(7));
    }
}
