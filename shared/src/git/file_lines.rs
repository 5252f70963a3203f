//! The number of lines of a file in a commit.

use super::discovery::Repository;
use super::error::GitError;
use super::oid::Oid;

/// A longer file is not read by anybody line by line.
const MAX_BYTES: usize = 8 << 20;

impl Repository {
    /// Counts the lines of a file in a commit; none if the commit has no text file of that name.
    pub async fn lines_of_file(&self, commit: &Oid, file: &str) -> Result<Option<usize>, GitError> {
        // git takes a path that begins with `./` as one below the current folder.
        if file.is_empty() || file.contains('\0') || !is_plain(file) {
            return Ok(None);
        }
        let shown = self
            .call("cat-file")
            .arg("blob")
            .arg(format!("{commit}:{file}"))
            .output(MAX_BYTES)
            .run()
            .await?;
        if !shown.status.success() || shown.stdout.contains(&0) {
            return Ok(None);
        }
        let is_closed = shown.stdout.last().is_none_or(|last| *last == b'\n');
        let parts = shown.stdout.split(|byte| *byte == b'\n').count();
        Ok(Some(parts - usize::from(is_closed)))
    }
}

/// Tells whether a path has no part that means another folder.
fn is_plain(file: &str) -> bool {
    file.split('/').all(|part| !matches!(part, "" | "." | ".."))
}
