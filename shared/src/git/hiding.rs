//! Hides a folder of worktrees (`.gitignore`) from the repository whose files it lies among: beside a submodule,
//! that is the superproject, which a person would see changed and might commit the worktrees to.

use std::path::Path;

use super::discovery::Repository;
use super::error::GitError;
use crate::file;

/// The file that hides the folder it lies in.
pub const FILE: &str = ".gitignore";
/// Everything in the folder, and the file itself.
const RULE: &[u8] = b"*\n";

impl Repository {
    /// Makes git ignore a folder of ours, if it lies among the files of a repository.
    pub async fn hide_folder(&self, folder: &Path) -> Result<(), GitError> {
        let path = folder.join(FILE);
        if path.symlink_metadata().is_ok() || !self.git.is_inside_files(folder).await? {
            return Ok(());
        }
        file::replace(&path, RULE, None).map_err(GitError::io("write", &path))
    }
}

/// Removes a folder that is empty, or was but for what hides it; tells whether it is gone.
pub fn remove_empty_folder(folder: &Path) -> bool {
    let file = folder.join(FILE);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    let is_hidden = names == [FILE] && std::fs::read(&file).is_ok_and(|found| found == RULE);
    let is_gone =
        (!is_hidden || std::fs::remove_file(&file).is_ok()) && std::fs::remove_dir(folder).is_ok();
    if is_hidden && !is_gone {
        // Another worktree has come to live there.
        let _ = std::fs::write(&file, RULE);
    }
    is_gone
}
