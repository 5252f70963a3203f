//! Worktrees of the same repository that lie inside another one, as agents make them for their helpers.
//! They are deleted with it, and `git status` does not show them where they are ignored.

use std::path::{Path, PathBuf};

use super::discovery::Repository;
use super::error::GitError;
use super::paths::recorded_link;
use super::refs::Head;
use super::unsaved::UnsavedWork;

/// A worktree inside another one.
#[derive(Debug)]
pub(super) struct Nested {
    /// Where it is in the other one.
    pub(super) place: PathBuf,
    /// What git knows about it.
    pub(super) record: PathBuf,
}

impl Repository {
    /// Finds the worktrees inside one, whose path is resolved.
    pub(super) fn worktrees_inside(&self, path: &Path) -> Result<Vec<Nested>, GitError> {
        let nested = self.records()?.into_iter().filter_map(|record| {
            let link = recorded_link(&record)?;
            let place = link.parent()?.strip_prefix(path).ok()?.to_owned();
            let is_inside = !place.as_os_str().is_empty() && link.exists();
            is_inside.then_some(Nested { place, record })
        });
        Ok(nested.collect())
    }

    /// Tells whether something would be lost with a nested worktree, found inside `around`.
    pub(super) async fn is_needed(&self, nested: &Nested, around: &Path) -> Result<bool, GitError> {
        if nested.record.join("locked").exists() {
            return Ok(true);
        }
        let path = around.join(&nested.place);
        let unsaved = Box::pin(self.unsaved_work(&path, None)).await?;
        let commits = match self.head(&path).await? {
            // Its branch stays.
            Head::Branch(_) | Head::Unborn(_) => 0,
            Head::Detached(_) => unsaved.commits,
        };
        Ok(!UnsavedWork { commits, ..unsaved }.is_nothing())
    }
}
