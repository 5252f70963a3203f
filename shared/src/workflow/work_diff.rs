//! Diff of an agent's work against its base: as it is in the worktree, or the commit that a person reviews.

use crate::error::{Code, Error};
use crate::git::{Commit, DiffText, Oid, Repository};
use crate::model::Instance;
use crate::workflow::Context;
use crate::workflow::preconditions::review_base;
use crate::workflow::review::reviewed_work::reviewed_commit;

/// How many commits of the work are listed.
const MAX_COMMITS: usize = 100;

/// A diff, and between what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkDiff {
    pub base: String,
    pub head: String,
    pub diff: DiffText,
}

/// Which part of the work is compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum WorkPart {
    /// All of it, since it left its base.
    #[default]
    All,
    /// What was committed after this commit, such as the one of an earlier round.
    Since(String),
    /// One commit of the work.
    Commit(String),
}

/// The commit that a person reviews, and what it changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewedWork {
    /// The head of the open pull request, or what is committed on the branch: comments are about its lines.
    pub commit: Oid,
    pub work: WorkDiff,
    /// The commits since the base, the newest first.
    pub commits: Vec<Commit>,
    /// How many files of the worktree are not committed.
    pub uncommitted: usize,
}

/// How much a commit of an agent's work changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkSize {
    /// The commit that a person would review.
    pub commit: Oid,
    /// Lines.
    pub added: u64,
    pub removed: u64,
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

/// Returns the commit of an agent's work that a person reviews, and what it, or a part of it, changes.
pub async fn reviewed_work(
    context: &Context,
    coder: &Instance,
    part: &WorkPart,
    max_bytes: usize,
) -> Result<ReviewedWork, Error> {
    let repository = Repository::at(&coder.repository).await?;
    let commit = reviewed_commit(context, coder).await?;
    let base = review_base(coder);
    let commits = repository
        .commits_between(base, commit.as_str(), MAX_COMMITS)
        .await?;
    let head = commit.as_str().to_owned();
    let work = match part {
        WorkPart::All => WorkDiff {
            base: base.to_owned(),
            diff: repository.diff_text(base, &head, max_bytes).await?,
            head,
        },
        WorkPart::Since(earlier) => WorkDiff {
            diff: repository
                .diff_text_between(earlier, &head, max_bytes)
                .await?,
            base: earlier.clone(),
            head,
        },
        WorkPart::Commit(wanted) => {
            // Only commits of the work: the address of a page must not show any other.
            let found = commits
                .iter()
                .find(|known| known.oid.as_str().starts_with(wanted) && wanted.len() >= 7);
            let Some(found) = found else {
                return Err(Error::new(
                    Code::NotFound,
                    format!("`{}` has no commit {wanted}", coder.id),
                )
                .hint("It may have been replaced. The list of commits has those that there are."));
            };
            let parent = format!("{}^", found.oid);
            WorkDiff {
                diff: repository
                    .diff_text_between(&parent, found.oid.as_str(), max_bytes)
                    .await?,
                base: parent,
                head: found.oid.as_str().to_owned(),
            }
        }
    };
    let uncommitted = if coder.worktree_path.is_dir() {
        repository.status(&coder.worktree_path, 0).await?.total
    } else {
        0
    };
    Ok(ReviewedWork {
        commit,
        work,
        commits,
        uncommitted,
    })
}

/// Counts the lines that an agent's committed work changes; not again if it is what is `known`.
pub async fn work_size(
    context: &Context,
    coder: &Instance,
    known: Option<WorkSize>,
) -> Result<WorkSize, Error> {
    let commit = reviewed_commit(context, coder).await?;
    if let Some(known) = known.filter(|known| known.commit == commit) {
        return Ok(known);
    }
    let repository = Repository::at(&coder.repository).await?;
    let stat = repository
        .diff_stat(review_base(coder), commit.as_str())
        .await?;
    Ok(WorkSize {
        commit,
        added: stat.added,
        removed: stat.removed,
    })
}

/// Returns what changed from one commit of an agent's work to another, to find where a line has gone.
pub async fn diff_between(
    coder: &Instance,
    earlier: &str,
    later: &str,
    max_bytes: usize,
) -> Result<DiffText, Error> {
    let repository = Repository::at(&coder.repository).await?;
    Ok(repository
        .diff_text_between(earlier, later, max_bytes)
        .await?)
}
