//! Operations of git that were begun and not finished: a merge, rebase, cherry-pick, revert or bisect.

use std::path::Path;

/// An operation of git that waits for someone to go on with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Merge,
    Rebase,
    CherryPick,
    Revert,
    Bisect,
}

/// Finds what was begun in a worktree and not finished.
pub(super) fn operation_in(git_dir: &Path) -> Option<Operation> {
    let signs = [
        ("rebase-merge", Operation::Rebase),
        ("rebase-apply", Operation::Rebase),
        ("MERGE_HEAD", Operation::Merge),
        ("CHERRY_PICK_HEAD", Operation::CherryPick),
        ("REVERT_HEAD", Operation::Revert),
        ("BISECT_LOG", Operation::Bisect),
    ];
    let begun = signs
        .into_iter()
        .find(|(name, _)| git_dir.join(name).exists())
        .map(|(_, operation)| operation);
    begun.or_else(|| {
        // Commits that are still to be picked, between two of them.
        let todo = std::fs::read(git_dir.join("sequencer/todo")).ok()?;
        let is_revert = todo.starts_with(b"revert");
        Some(if is_revert {
            Operation::Revert
        } else {
            Operation::CherryPick
        })
    })
}
