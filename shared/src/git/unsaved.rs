//! Unsaved work: what would be lost if a worktree and its branch were deleted.

use std::path::{Path, PathBuf};

use super::command::{Call, Place};
use super::discovery::Repository;
use super::error::GitError;
use super::history::{Commit, LOG_FORMAT, parse_count, parse_log};
use super::index::{Listing, concealed};
use super::libgit2;
use super::mounts::mounts_in;
use super::names::check_branch;
use super::oid::Oid;
use super::operation::{Operation, operation_in};
use super::paths::{path_of_line, resolved};
use super::refs::Head;
use super::status::{BY_THE_FILES, Entry, Status};
use super::submodules::SubmoduleWork;
use crate::process::Finished;

const MAX_SHOWN_ENTRIES: usize = 20;
const MAX_SHOWN_COMMITS: usize = 20;
/// Where else a commit may be kept: what `--exclude` leaves out of the names there, and git's word for all of them.
const ELSEWHERE: [(&str, &str); 4] = [
    ("refs/heads/", "--branches"),
    ("refs/remotes/", "--remotes"),
    ("refs/tags/", "--tags"),
    ("", "--glob=refs/codex"),
];
/// References that each worktree has for itself; they are deleted with it.
const OWN_REFERENCES: [&str; 3] = [
    "--glob=refs/worktree",
    "--glob=refs/bisect",
    "--glob=refs/rewritten",
];

/// Stashes are not among it: they belong to the repository and outlive the worktree. Neither are
/// commits that only a reflog leads to: amending and resetting give them up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsavedWork {
    /// How many files or untracked directories are not committed.
    pub uncommitted: usize,
    /// The first of them.
    pub entries: Vec<Entry>,
    /// There are also more untracked files than could be listed.
    pub untracked_left_out: bool,
    /// How many commits nothing else leads to.
    pub commits: usize,
    /// The newest of them.
    pub newest_commits: Vec<Commit>,
    /// What was begun and not finished.
    pub operation: Option<Operation>,
    pub submodules: Vec<SubmoduleWork>,
    /// Worktrees inside this one that have something to lose.
    pub worktrees: Vec<PathBuf>,
    /// Where something else is mounted in it.
    pub mounts: Vec<PathBuf>,
    /// The commit that was checked out.
    pub commit: Option<Oid>,
}

impl UnsavedWork {
    /// Tells whether the worktree and its branch can go without loss.
    pub fn is_nothing(&self) -> bool {
        self.uncommitted == 0
            && !self.untracked_left_out
            && self.commits == 0
            && self.operation.is_none()
            && self.submodules.is_empty()
            && self.worktrees.is_empty()
            && self.mounts.is_empty()
    }
}

/// What goes with a worktree.
#[derive(Debug, Clone, Copy)]
pub(super) enum Leaving<'b> {
    /// No branch.
    Alone,
    /// The branch that it has checked out, and this one.
    WithBranches(Option<&'b str>),
}

impl<'b> Leaving<'b> {
    fn own_branch(self) -> Option<&'b str> {
        match self {
            Self::Alone => None,
            Self::WithBranches(own) => own,
        }
    }
}

impl Repository {
    /// Finds what would be lost with the worktree and its branch.
    ///
    /// Commits are safe if another local branch, a remote-tracking branch, a tag or `refs/codex/*`
    /// leads to them. `own_branch` names a branch that is to go too although it may not be checked
    /// out at the moment, as in the middle of a rebase.
    pub async fn unsaved_work(
        &self,
        worktree: &Path,
        own_branch: Option<&str>,
    ) -> Result<UnsavedWork, GitError> {
        self.unsaved(worktree, Leaving::WithBranches(own_branch))
            .await
    }

    /// Finds what would be lost with the worktree alone: all branches stay.
    pub async fn unsaved_beside_branches(&self, worktree: &Path) -> Result<UnsavedWork, GitError> {
        self.unsaved(worktree, Leaving::Alone).await
    }

    pub(super) async fn unsaved(
        &self,
        worktree: &Path,
        leaving: Leaving<'_>,
    ) -> Result<UnsavedWork, GitError> {
        leaving.own_branch().map(check_branch).transpose()?;
        let git_dir = self.git_dir(worktree).await?;
        if !resolved(&git_dir).starts_with(resolved(self.common_dir())) {
            // Somebody has made another repository of it.
            return Err(GitError::NotALinkedWorktree {
                path: worktree.to_owned(),
            });
        }
        let call = |operation| {
            let call = self.call_in(worktree, operation).settings(BY_THE_FILES);
            call.env("GIT_WORK_TREE", worktree)
        };
        let (status, listing) = tokio::try_join!(
            self.status_without_submodules(worktree, MAX_SHOWN_ENTRIES),
            Listing::read(call("ls-files"), worktree)
        )?;
        let submodules = self.submodule_work(worktree, &git_dir, &listing).await?;
        let mut worktrees = Vec::new();
        for nested in self.worktrees_inside(&resolved(worktree))? {
            if self.is_needed(&nested, worktree).await? {
                worktrees.push(nested.place);
            }
        }
        let uncommitted = if listing.conceals && status.total == 0 {
            concealed(call, &git_dir).await?
        } else {
            status.total
        };
        let (commits, newest_commits) = self.commits_only_here(worktree, &status, leaving).await?;
        Ok(UnsavedWork {
            uncommitted,
            entries: status.entries,
            untracked_left_out: status.untracked_left_out,
            commits,
            newest_commits,
            operation: operation_in(&git_dir),
            submodules,
            worktrees,
            mounts: mounts_in(worktree),
            commit: status.commit,
        })
    }

    /// Finds what would be lost with git's record of a worktree whose files are gone, if anything: commits on a
    /// detached HEAD, the worktree's own references, files that were staged, the repositories of submodules.
    pub(super) async fn unsaved_in_record(
        &self,
        record: &Path,
    ) -> Result<Option<UnsavedWork>, GitError> {
        match self.work_in_record(record).await {
            Ok(unsaved) => Ok(Some(unsaved).filter(|unsaved| !unsaved.is_nothing())),
            // A record that git can't read leads to nothing.
            Err(GitError::NotARepository { .. } | GitError::RevisionNotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn work_in_record(&self, record: &Path) -> Result<UnsavedWork, GitError> {
        let call = |operation| self.git.call(Place::Repository(record), operation);
        let head = self.git.head_at(Place::Repository(record)).await?;
        let staged = match &head {
            _ if !record.join("index").exists() => 0,
            Head::Unborn(_) => lines(&call("ls-files").arg("-z").success().await?),
            Head::Branch(_) | Head::Detached(_) => {
                let differ = call("diff-index")
                    .args(["--cached", "--name-only", "--diff-filter=d", "-z"])
                    .args(["HEAD", "--"]);
                lines(&differ.success().await?)
            }
        };
        let detached = match head {
            // Whether its branch may go is another question.
            Head::Branch(_) | Head::Unborn(_) => None,
            Head::Detached(commit) => Some(commit),
        };
        let mut range: Vec<String> = detached.iter().map(|oid| oid.as_str().to_owned()).collect();
        range.extend(OWN_REFERENCES.map(str::to_owned));
        range.extend(self.kept_elsewhere(&[]).await?);
        let counted = call("rev-list").arg("--count").args(&range);
        let commits = parse_count(&over_all_references(&counted).await?.stdout)?;
        Ok(UnsavedWork {
            uncommitted: staged,
            entries: Vec::new(),
            untracked_left_out: false,
            commits,
            newest_commits: Vec::new(),
            operation: operation_in(record),
            submodules: self
                .submodule_work(record, record, &Listing::default())
                .await?,
            worktrees: Vec::new(),
            mounts: Vec::new(),
            commit: detached,
        })
    }

    /// Deletes a branch unless it has commits that nothing else leads to; returns how many.
    ///
    /// One that is gone already is fine; one that a worktree has checked out is refused.
    pub async fn delete_saved_branch(&self, branch: &str) -> Result<usize, GitError> {
        check_branch(branch)?;
        let reference = format!("refs/heads/{branch}");
        // Counted under the lock: whatever else keeps its commits is deleted under it too, so of two branches with the same
        // commits one stays.
        let lock = self.lock().await?;
        let Some(tip) = self.read_ref(&reference).await? else {
            return Ok(0);
        };
        let commits = self.commits_only_on(branch, &tip).await?;
        if commits == 0 {
            self.delete_branch_while_locked(branch, Some(&tip), &lock)
                .await?;
        }
        Ok(commits)
    }

    /// Counts the commits that would be lost with a branch; none if it is gone.
    pub async fn unsaved_on_branch(&self, branch: &str) -> Result<usize, GitError> {
        check_branch(branch)?;
        match self.read_ref(&format!("refs/heads/{branch}")).await? {
            Some(tip) => self.commits_only_on(branch, &tip).await,
            None => Ok(0),
        }
    }

    /// Counts the commits of a branch that nothing else leads to.
    async fn commits_only_on(&self, branch: &str, tip: &Oid) -> Result<usize, GitError> {
        let counted = self
            .call("rev-list")
            .args(["--count", tip.as_str()])
            .args(self.kept_elsewhere(&[branch]).await?);
        parse_count(&over_all_references(&counted).await?.stdout)
    }

    /// Returns the end of a range that leaves out what is kept elsewhere, when these branches are gone.
    async fn kept_elsewhere(&self, going: &[&str]) -> Result<Vec<String>, GitError> {
        let mut gone: Vec<String> = going
            .iter()
            .map(|name| format!("refs/heads/{name}"))
            .collect();
        gone.extend(self.other_names_of(&gone).await?);
        let mut range = vec!["--not".to_owned()];
        for (prefix, all) in ELSEWHERE {
            let names = gone.iter().filter_map(|name| name.strip_prefix(prefix));
            range.extend(names.map(|name| format!("--exclude={name}")));
            range.push(all.to_owned());
        }
        range.push("--".to_owned());
        Ok(range)
    }

    async fn commits_only_here(
        &self,
        worktree: &Path,
        status: &Status,
        leaving: Leaving<'_>,
    ) -> Result<(usize, Vec<Commit>), GitError> {
        let own_branch = leaving.own_branch();
        let mut range = Vec::new();
        if status.commit.is_some() {
            range.push("HEAD".to_owned());
        }
        if let Some(name) = own_branch
            && self.branch_exists(name).await?
        {
            range.push(format!("refs/heads/{name}"));
        }
        range.extend(OWN_REFERENCES.map(str::to_owned));
        let going: Vec<&str> = match leaving {
            Leaving::Alone => Vec::new(),
            Leaving::WithBranches(own) => status.head.branch().into_iter().chain(own).collect(),
        };
        range.extend(self.kept_elsewhere(&going).await?);
        let counted = self
            .call_in(worktree, "rev-list")
            .arg("--count")
            .args(&range);
        let count = parse_count(&over_all_references(&counted).await?.stdout)?;
        if count == 0 {
            return Ok((0, Vec::new()));
        }
        let log = self
            .call_in(worktree, "log")
            .args(LOG_FORMAT)
            .arg(format!("--max-count={MAX_SHOWN_COMMITS}"))
            .args(&range);
        Ok((count, parse_log(&over_all_references(&log).await?.stdout)?))
    }

    /// Returns the git directory of one worktree.
    pub(super) async fn git_dir(&self, worktree: &Path) -> Result<PathBuf, GitError> {
        let place = Place::Worktree(worktree);
        if let Some((git_dir, _)) = self.git.ask(place, libgit2::directories).await {
            return Ok(git_dir);
        }
        let answer = self
            .call_in(worktree, "rev-parse")
            .args(["--path-format=absolute", "--git-dir"])
            .success()
            .await?;
        Ok(path_of_line(&answer.stdout))
    }
}

/// Runs a call that reads all references. One that is deleted between being listed and being read,
/// as when many agents end at once, makes git fail; then it is asked again.
async fn over_all_references(call: &Call<'_>) -> Result<Finished, GitError> {
    const ATTEMPTS: u32 = 10;
    let mut attempt = 1;
    loop {
        match call.success().await {
            Err(GitError::Failed { stderr, .. })
                if attempt < ATTEMPTS && stderr.contains("bad object") =>
            {
                attempt += 1;
            }
            outcome => return outcome,
        }
    }
}

/// Counts what git has listed with `-z`.
fn lines(listed: &Finished) -> usize {
    listed
        .stdout
        .split(|byte| *byte == 0)
        .count()
        .saturating_sub(1)
}
