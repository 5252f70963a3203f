//! What an agent has changed so far.

use super::Context;
use super::committed::review_base;
use crate::error::Error;
use crate::git::{DiffText, Repository};
use crate::model::Instance;

/// A diff, and between what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkDiff {
    pub base: String,
    pub head: String,
    pub diff: DiffText,
}

/// Returns what an agent has changed since it left its base: in its worktree as it is now, or as far as it
/// was committed if the worktree is gone.
pub async fn work_diff(
    context: &Context,
    instance: &Instance,
    max_bytes: usize,
) -> Result<WorkDiff, Error> {
    let base = review_base(instance);
    let path = &instance.worktree_path;
    if path.is_dir() {
        let repository = Repository::discover(path).await?;
        let diff = repository.worktree_diff_text(path, base, max_bytes).await?;
        let head = instance.branch_name.as_deref().unwrap_or("HEAD");
        return Ok(WorkDiff {
            base: base.to_owned(),
            head: head.to_owned(),
            diff,
        });
    }
    let repository = context.repository()?;
    let head = match &instance.branch_name {
        Some(branch) if repository.branch_exists(branch).await? => branch.clone(),
        Some(_) | None => {
            return Ok(WorkDiff {
                base: base.to_owned(),
                head: base.to_owned(),
                diff: DiffText {
                    text: String::new(),
                    truncated: false,
                },
            });
        }
    };
    let diff = repository.diff_text(base, &head, max_bytes).await?;
    Ok(WorkDiff {
        base: base.to_owned(),
        head,
        diff,
    })
}
