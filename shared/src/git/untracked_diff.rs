//! Diff of untracked files: each as an added file, as git would print it, without a change of the index.

use std::fmt::Write;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::command::MAX_OUTPUT;
use super::diff::DiffText;
use super::discovery::Repository;
use super::error::GitError;
use super::paths::path_of;
use crate::process::ProcessError;

/// git, too, takes a file with a NUL in so many bytes for a binary one.
const BINARY_PROBE: usize = 8_000;

impl Repository {
    /// Returns the files of a worktree that git neither knows nor ignores, as a diff of at most `max_bytes`. A file that is
    /// too large for what is left of them is only named.
    pub(super) async fn untracked_diff_text(
        &self,
        worktree: &Path,
        max_bytes: usize,
    ) -> Result<DiffText, GitError> {
        let listed = self
            .call_in(worktree, "ls-files")
            .args(["--others", "--exclude-standard", "-z"])
            .output(max_bytes.max(MAX_OUTPUT))
            .success()
            .await;
        let listed = match listed {
            Err(GitError::Process {
                source: ProcessError::TooMuchOutput { .. },
            }) => {
                return Ok(DiffText {
                    text: String::new(),
                    truncated: true,
                });
            }
            listed => listed?.stdout,
        };
        let paths: Vec<PathBuf> = listed
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty())
            .map(path_of)
            .collect();
        let folder = worktree.to_owned();
        let read = tokio::task::spawn_blocking(move || all_added(&folder, &paths, max_bytes));
        read.await.map_err(|source| GitError::Task {
            operation: "reading new files",
            source,
        })
    }
}

fn all_added(worktree: &Path, paths: &[PathBuf], max_bytes: usize) -> DiffText {
    let mut diff = DiffText {
        text: String::new(),
        truncated: false,
    };
    for path in paths {
        let room = max_bytes - diff.text.len();
        // One that is gone by now, or can't be read, must not hide the others.
        let Ok(added) = added(worktree, path, room) else {
            diff.truncated = true;
            continue;
        };
        if added.text.len() > room {
            diff.truncated = true;
            break;
        }
        diff.truncated |= added.truncated;
        diff.text.push_str(&added.text);
    }
    diff
}

/// Returns one file as an added one; only its header if its lines need more than so many bytes.
fn added(worktree: &Path, path: &Path, room: usize) -> io::Result<DiffText> {
    let place = worktree.join(path);
    let metadata = place.symlink_metadata()?;
    let (old, new) = (named("a/", path), named("b/", path));
    let mode = mode(&metadata);
    let mut text = format!("diff --git {old} {new}\nnew file mode {mode}\n");
    let content = if metadata.is_symlink() {
        place.read_link()?.as_os_str().as_bytes().to_vec()
    } else if metadata.is_file() {
        read_start(&place, room.max(BINARY_PROBE) + 1)?
    } else {
        // A nested repository, of which git tells no more either.
        Vec::new()
    };
    if content.is_empty() {
        return Ok(whole(text));
    }
    if content.iter().take(BINARY_PROBE).any(|byte| *byte == 0) {
        // Writing to a String does not fail.
        let _ = writeln!(text, "Binary files /dev/null and {new} differ");
        return Ok(whole(text));
    }
    let lines = lines_of(&content, &new);
    let truncated = text.len() + lines.len() > room;
    if !truncated {
        text.push_str(&lines);
    }
    Ok(DiffText { text, truncated })
}

fn whole(text: String) -> DiffText {
    DiffText {
        text,
        truncated: false,
    }
}

fn lines_of(content: &[u8], name: &str) -> String {
    let content = String::from_utf8_lossy(content);
    let lines: Vec<&str> = content.split_inclusive('\n').collect();
    let count = match lines.len() {
        1 => "1".to_owned(),
        more => format!("1,{more}"),
    };
    // A name with a space has a tab after it, so that its end is known.
    let end = if name.contains(' ') { "\t" } else { "" };
    let mut text = format!("--- /dev/null\n+++ {name}{end}\n@@ -0,0 +{count} @@\n");
    for line in lines {
        text.push('+');
        text.push_str(line);
    }
    if !text.ends_with('\n') {
        text.push_str("\n\\ No newline at end of file\n");
    }
    text
}

fn mode(metadata: &Metadata) -> &'static str {
    if metadata.is_symlink() {
        "120000"
    } else if metadata.is_dir() {
        "160000"
    } else if metadata.permissions().mode() & 0o100 != 0 {
        "100755"
    } else {
        "100644"
    }
}

/// Reads so many bytes of a file that an agent may exchange for a link or a pipe.
fn read_start(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    file.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns a path as git names it in a diff: quoted if a character in it would end the name.
fn named(side: &str, path: &Path) -> String {
    let path = path.to_string_lossy();
    let name = format!("{side}{}", path.trim_end_matches('/'));
    let is_special =
        |character: char| matches!(character, '"' | '\\') || character.is_ascii_control();
    if !name.contains(is_special) {
        return name;
    }
    let mut quoted = String::from("\"");
    for character in name.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            other if other.is_ascii_control() => {
                let _ = write!(quoted, "\\{:03o}", u32::from(other));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
