//! Parses the unified diff that `git diff` prints.

use crate::view::{DiffLine, DiffView, FileDiff, FileStatus, Hunk, LineKind};

/// How much of a diff is read.
pub(super) const MAX_DIFF_BYTES: usize = 600_000;
/// Lines beyond this are left out, and the diff is marked as truncated.
const MAX_LINES: usize = 12_000;
/// Longer lines are cut.
const MAX_LINE_CHARS: usize = 2_000;

/// Parses a diff. Lines that are not understood are left out; nothing in it is trusted.
pub(crate) fn parse_diff(base: String, head: String, text: &str, truncated: bool) -> DiffView {
    let mut reader = Reader {
        view: DiffView {
            base,
            head,
            truncated,
            ..DiffView::default()
        },
        lines: 0,
        old: 0,
        new: 0,
        left_old: 0,
        left_new: 0,
    };
    for line in text.split_inclusive('\n') {
        let line = line.strip_suffix('\n').unwrap_or(line);
        if reader.lines > MAX_LINES {
            reader.view.truncated = true;
            break;
        }
        reader.read(line);
    }
    let view = &mut reader.view;
    view.additions = view.files.iter().map(|file| file.additions).sum();
    view.deletions = view.files.iter().map(|file| file.deletions).sum();
    reader.view
}

struct Reader {
    view: DiffView,
    lines: usize,
    /// Numbers of the next line before and after.
    old: u32,
    new: u32,
    /// How many lines of the present hunk are still to come.
    left_old: u32,
    left_new: u32,
}

impl Reader {
    fn read(&mut self, line: &str) {
        if self.left_old > 0 || self.left_new > 0 {
            self.read_line(line);
        } else if let Some(paths) = line.strip_prefix("diff --git ") {
            self.view.files.push(FileDiff {
                path: path_of_header(paths),
                old_path: None,
                status: FileStatus::Modified,
                additions: 0,
                deletions: 0,
                binary: false,
                hunks: Vec::new(),
            });
        } else {
            self.read_about_file(line);
        }
    }

    fn read_about_file(&mut self, line: &str) {
        let Some(file) = self.view.files.last_mut() else {
            return;
        };
        let after = |start: &str| line.strip_prefix(start);
        if let Some((old, new)) = after("@@ -").and_then(ranges) {
            ((self.old, self.left_old), (self.new, self.left_new)) = (old, new);
            file.hunks.push(Hunk {
                header: line.to_owned(),
                lines: Vec::new(),
            });
        } else if after("new file mode").is_some() {
            file.status = FileStatus::Added;
        } else if after("deleted file mode").is_some() {
            file.status = FileStatus::Deleted;
        } else if let Some(path) = after("rename from ") {
            file.status = FileStatus::Renamed;
            file.old_path = Some(unquoted(path));
        } else if let Some(path) = after("copy from ") {
            file.status = FileStatus::Copied;
            file.old_path = Some(unquoted(path));
        } else if let Some(path) = after("rename to ").or(after("copy to ")) {
            file.path = unquoted(path);
        } else if after("Binary files ").is_some() || after("GIT binary patch").is_some() {
            file.binary = true;
        } else if let Some(path) = after("+++ ").map(unquoted) {
            if let Some(path) = path.strip_prefix("b/") {
                path.clone_into(&mut file.path);
            }
        } else if let Some(path) = after("--- ").map(unquoted)
            && let Some(path) = path.strip_prefix("a/")
        {
            path.clone_into(&mut file.path);
        }
    }

    fn read_line(&mut self, line: &str) {
        let (kind, text) = match line.as_bytes().first() {
            Some(b'+') => (LineKind::Add, &line[1..]),
            Some(b'-') => (LineKind::Del, &line[1..]),
            Some(b' ') => (LineKind::Context, &line[1..]),
            None => (LineKind::Context, ""),
            // `\ No newline at end of file`.
            Some(_) => return,
        };
        let (old, new) = (kind != LineKind::Add, kind != LineKind::Del);
        let Some(file) = self.view.files.last_mut() else {
            return;
        };
        file.additions += u64::from(kind == LineKind::Add);
        file.deletions += u64::from(kind == LineKind::Del);
        if let Some(hunk) = file.hunks.last_mut() {
            hunk.lines.push(DiffLine {
                kind,
                old: old.then_some(self.old),
                new: new.then_some(self.new),
                text: super::board::excerpt(text, MAX_LINE_CHARS),
            });
        }
        self.lines += 1;
        self.old = self.old.saturating_add(u32::from(old));
        self.new = self.new.saturating_add(u32::from(new));
        self.left_old = self.left_old.saturating_sub(u32::from(old));
        self.left_new = self.left_new.saturating_sub(u32::from(new));
    }
}

type Range = (u32, u32);

/// Reads `1,4 +1,6 @@ …`.
fn ranges(text: &str) -> Option<(Range, Range)> {
    let (old, rest) = text.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    Some((range(old)?, range(new)?))
}

fn range(text: &str) -> Option<Range> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// Takes the path out of `a/x b/x`, for files of which nothing better is said: their mode changed, or they
/// are empty. Both halves are the same then.
fn path_of_header(paths: &str) -> String {
    let half = paths.len() / 2;
    let same = paths.get(..half).zip(paths.get(half + 1..));
    let path = match same {
        Some((left, right)) if left.strip_prefix("a/") == right.strip_prefix("b/") => right,
        _ => paths,
    };
    let path = unquoted(path);
    path.strip_prefix("b/").unwrap_or(&path).to_owned()
}

/// Undoes git's quoting of odd paths: `"b/\303\251\t"`. A tab ends a path with spaces.
fn unquoted(path: &str) -> String {
    let Some(quoted) = path
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    else {
        return path.strip_suffix('\t').unwrap_or(path).to_owned();
    };
    let mut bytes = Vec::new();
    let mut rest = quoted.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let octal = rest
            .get(..3)
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        if let Some(value) = octal {
            bytes.push(value);
            rest = &rest[3..];
        } else if let Some((&letter, after)) = rest.split_first() {
            bytes.push(match letter {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                other => other,
            });
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> DiffView {
        parse_diff("main".to_owned(), "HEAD".to_owned(), text, false)
    }

    const DIFF: &str = "\
diff --git a/src/a.rs b/src/a.rs
index 1..2 100644
--- a/src/a.rs
+++ b/src/a.rs
@@ -1,3 +1,3 @@ fn main() {
 one
-two
--- looks like a header
+2
+++ so does this
 three
\\ No newline at end of file
diff --git a/old name b/new name
similarity index 90%
rename from old name
rename to new name
diff --git \"a/\\303\\251\" \"b/\\303\\251\"
new file mode 100644
Binary files /dev/null and \"b/\\303\\251\" differ
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/mode b/mode
old mode 100644
new mode 100755
";

    #[test]
    fn files_and_lines_are_read() {
        // The hunk has two lines to take away and two to add.
        let view = parse(&DIFF.replace("-1,3 +1,3", "-1,4 +1,4"));
        let paths: Vec<_> = view.files.iter().map(|file| &*file.path).collect();
        assert_eq!(paths, ["src/a.rs", "new name", "é", "gone", "mode"]);
        let first = &view.files[0];
        assert_eq!((first.additions, first.deletions), (2, 2));
        let lines = &first.hunks[0].lines;
        assert_eq!(lines.len(), 6);
        assert_eq!((lines[0].old, lines[0].new), (Some(1), Some(1)));
        assert_eq!(
            (lines[2].text.as_str(), lines[2].old),
            ("-- looks like a header", Some(3))
        );
        assert_eq!(
            (lines[4].text.as_str(), lines[4].new),
            ("++ so does this", Some(3))
        );
        assert_eq!((lines[5].old, lines[5].new), (Some(4), Some(4)));
        assert_eq!(view.files[1].status, FileStatus::Renamed);
        assert_eq!(view.files[1].old_path.as_deref(), Some("old name"));
        assert!(view.files[2].binary && view.files[2].status == FileStatus::Added);
        assert_eq!(view.files[3].status, FileStatus::Deleted);
        assert_eq!((view.additions, view.deletions), (2, 3));
    }

    #[test]
    fn any_text_is_read_and_long_diffs_are_cut() {
        for text in [
            "",
            "@@ -1 +1 @@\n+x\n",
            "diff --git \n@@ -9,9 +9,9 @@\n",
            "\u{0}\n\\",
        ] {
            parse(text);
        }
        let mut long = "diff --git a/x b/x\n@@ -0,0 +1,99999 @@\n".to_owned();
        long.push_str(&"+y\n".repeat(MAX_LINES + 10));
        let view = parse(&long);
        assert!(view.truncated);
        assert_eq!(view.files[0].hunks[0].lines.len(), MAX_LINES + 1);
    }
}
