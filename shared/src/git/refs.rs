//! References, revisions, remotes and configuration.

use std::path::{Path, PathBuf};

use super::command::{Git, Place};
use super::discovery::Repository;
use super::error::GitError;
use super::libgit2::{self, Unanswered};
use super::lock::WorktreeLock;
use super::names::{check_branch, check_config_key, check_reference, check_remote, check_revision};
use super::oid::Oid;
use super::scrub::url_without_credentials;
use crate::process::Finished;

/// What a worktree has checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    Branch(String),
    Detached(Oid),
    /// A branch without a commit yet.
    Unborn(String),
}

impl Head {
    /// Returns the branch, born or not.
    pub fn branch(&self) -> Option<&str> {
        match self {
            Self::Branch(name) | Self::Unborn(name) => Some(name),
            Self::Detached(_) => None,
        }
    }
}

impl Git {
    /// Returns what is checked out at a place.
    pub(super) async fn head_at(&self, place: Place<'_>) -> Result<Head, GitError> {
        let in_process = |repository: &git2::Repository| {
            let commit = libgit2::read_ref(repository, "HEAD")?;
            let target = libgit2::symbolic_target(repository, "HEAD")?;
            named_head(target, commit).ok_or(Unanswered)
        };
        if let Some(head) = self.ask(place, in_process).await {
            return Ok(head);
        }
        let branch = self
            .call(place, "symbolic-ref")
            .args(["--quiet", "HEAD"])
            .answer()
            .await?;
        let commit = self.commit_of(place, "HEAD").await?;
        let branch = branch.map(|answer| line(&answer));
        named_head(branch, commit).ok_or_else(|| GitError::RevisionNotFound {
            revision: "HEAD".to_owned(),
        })
    }

    /// Returns the commit of HEAD or of a full reference name.
    async fn commit_of(&self, place: Place<'_>, name: &str) -> Result<Option<Oid>, GitError> {
        let wanted = name.to_owned();
        let in_process = move |repository: &_| libgit2::read_ref(repository, &wanted);
        if let Some(commit) = self.ask(place, in_process).await {
            return Ok(commit);
        }
        let answer = self
            .call(place, "rev-parse")
            .args(["--verify", "--quiet", "--end-of-options"])
            .arg(format!("{name}^{{commit}}"))
            .answer()
            .await?;
        answer.as_ref().map(oid).transpose()
    }
}

fn named_head(branch: Option<String>, commit: Option<Oid>) -> Option<Head> {
    let name = |full: String| {
        full.strip_prefix("refs/heads/")
            .map(str::to_owned)
            .unwrap_or(full)
    };
    match (branch.map(name), commit) {
        (Some(name), Some(_)) => Some(Head::Branch(name)),
        (Some(name), None) => Some(Head::Unborn(name)),
        (None, commit) => commit.map(Head::Detached),
    }
}

impl Repository {
    /// Returns what the given worktree has checked out.
    pub async fn head(&self, worktree: &Path) -> Result<Head, GitError> {
        self.git.head_at(Place::Worktree(worktree)).await
    }

    /// Returns what the main worktree has checked out; in a bare repository, what a clone would get.
    pub async fn main_head(&self) -> Result<Head, GitError> {
        let place = Place::Repository(self.common_dir());
        self.git.head_at(place).await
    }

    /// Returns the commit that the given worktree stands on.
    pub async fn head_commit(&self, worktree: &Path) -> Result<Oid, GitError> {
        let commit = self
            .git
            .commit_of(Place::Worktree(worktree), "HEAD")
            .await?;
        commit.ok_or_else(|| GitError::EmptyRepository {
            path: worktree.to_owned(),
        })
    }

    /// Returns the branch that work starts from: the remote's default, the current one, main, master.
    pub async fn default_branch(&self) -> Result<Option<String>, GitError> {
        let remote = self.symbolic_target("refs/remotes/origin/HEAD").await?;
        let current = self.symbolic_target("HEAD").await?;
        let named = [(remote, "refs/remotes/origin/"), (current, "refs/heads/")]
            .into_iter()
            .filter_map(|(target, prefix)| Some(target?.strip_prefix(prefix)?.to_owned()));
        for name in named.chain(["main".to_owned(), "master".to_owned()]) {
            if check_branch(&name).is_ok() && self.branch_tip(&name).await?.is_some() {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// Returns the full name that a symbolic reference leads to; none if it is missing, or not symbolic.
    async fn symbolic_target(&self, name: &'static str) -> Result<Option<String>, GitError> {
        let in_process = |repository: &_| libgit2::symbolic_target(repository, name);
        if let Some(target) = self.ask(in_process).await {
            return Ok(target);
        }
        let call = self.call("symbolic-ref").args(["--quiet", name]);
        Ok(call.answer().await?.map(|answer| line(&answer)))
    }

    /// Returns the tip of a branch: the local one, or else the one last fetched from origin.
    pub async fn branch_tip(&self, name: &str) -> Result<Option<Oid>, GitError> {
        check_branch(name)?;
        for prefix in ["refs/heads/", "refs/remotes/origin/"] {
            if let Some(oid) = self.read_ref(&format!("{prefix}{name}")).await? {
                return Ok(Some(oid));
            }
        }
        Ok(None)
    }

    /// Returns the commit that a revision names, seen from the main worktree.
    ///
    /// The name of a branch means that branch. Git would take a tag of the same name first, which a clone can have
    /// brought and any agent can make.
    pub async fn resolve(&self, revision: &str) -> Result<Oid, GitError> {
        check_revision(revision)?;
        let is_exact = Oid::parse(revision).is_some() || revision.starts_with("refs/");
        if !is_exact
            && check_branch(revision).is_ok()
            && let Some(tip) = self.branch_tip(revision).await?
        {
            return Ok(tip);
        }
        let wanted = revision.to_owned();
        let in_process = move |repository: &_| libgit2::resolve(repository, &wanted);
        if let Some(commit) = self.ask(in_process).await {
            return Ok(commit);
        }
        let answer = self
            .call("rev-parse")
            .args(["--verify", "--quiet", "--end-of-options"])
            .arg(format!("{revision}^{{commit}}"))
            .run()
            .await?;
        if answer.status.success() {
            return oid(&answer);
        }
        Err(GitError::RevisionNotFound {
            revision: revision.to_owned(),
        })
    }

    /// Tells whether there is a local branch of this name.
    pub async fn branch_exists(&self, name: &str) -> Result<bool, GitError> {
        check_branch(name)?;
        Ok(self
            .read_ref(&format!("refs/heads/{name}"))
            .await?
            .is_some())
    }

    /// Returns the worktree that has the branch checked out.
    pub async fn branch_checked_out_at(&self, name: &str) -> Result<Option<PathBuf>, GitError> {
        check_branch(name)?;
        let worktrees = self.worktrees().await?;
        Ok(worktrees
            .into_iter()
            .find(|worktree| worktree.branch.as_deref() == Some(name))
            .map(|worktree| worktree.path))
    }

    /// Returns the commit of a full reference name, if there is such a reference.
    pub async fn read_ref(&self, name: &str) -> Result<Option<Oid>, GitError> {
        check_reference(name)?;
        let place = Place::Repository(self.common_dir());
        self.git.commit_of(place, name).await
    }

    /// Deletes a reference; one that is gone already is fine.
    pub async fn delete_ref(&self, name: &str) -> Result<(), GitError> {
        check_reference(name)?;
        self.call("update-ref")
            // One that is another name of a branch must not delete that branch. So below.
            .args(["--no-deref", "-d", "--", name])
            .writes()
            .success()
            .await?;
        Ok(())
    }

    /// Deletes a local branch, if wanted only as long as it is at the given commit.
    ///
    /// A branch that is gone already is fine; one that a worktree has checked out is refused.
    pub async fn delete_branch(
        &self,
        name: &str,
        only_if_at: Option<&Oid>,
    ) -> Result<(), GitError> {
        check_branch(name)?;
        let lock = self.lock().await?;
        self.delete_branch_while_locked(name, only_if_at, &lock)
            .await
    }

    pub(super) async fn delete_branch_while_locked(
        &self,
        name: &str,
        only_if_at: Option<&Oid>,
        _lock: &WorktreeLock,
    ) -> Result<(), GitError> {
        if let Some(at) = self.branch_checked_out_at(name).await? {
            return Err(GitError::BranchCheckedOut {
                name: name.to_owned(),
                at,
            });
        }
        self.delete_branch_under_lock(name, only_if_at).await
    }

    pub(super) async fn delete_branch_under_lock(
        &self,
        name: &str,
        only_if_at: Option<&Oid>,
    ) -> Result<(), GitError> {
        let reference = format!("refs/heads/{name}");
        let call = self
            .call("update-ref")
            .args(["--no-deref", "-d", "--", &reference])
            .args(only_if_at.map(Oid::as_str))
            .writes();
        let finished = call.run().await?;
        if !finished.status.success() {
            return match (self.read_ref(&reference).await?, only_if_at) {
                (None, _) => Ok(()),
                (Some(actual), Some(expected)) if actual != *expected => {
                    Err(GitError::BranchMoved {
                        name: name.to_owned(),
                        expected: expected.clone(),
                        actual,
                    })
                }
                (Some(_), _) => Err(call.failure(&finished)),
            };
        }
        // Upstream settings of the branch, which most have none of.
        let config = std::fs::read_to_string(self.common_dir().join("config"));
        if config.is_ok_and(|config| config.contains(name)) {
            let _ = self
                .call("config")
                .arg("--remove-section")
                .arg(format!("branch.{name}"))
                .writes()
                .run()
                .await?;
        }
        Ok(())
    }

    /// Returns the references that are only other names of these (`git symbolic-ref`): they lead nowhere without them.
    pub(super) async fn other_names_of(&self, wanted: &[String]) -> Result<Vec<String>, GitError> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let listed = self
            .call("for-each-ref")
            .arg("--format=%(symref) %(refname)")
            .success()
            .await?;
        let text = listed.stdout_text();
        let names = text.lines().filter_map(|line| {
            let (meant, name) = line.split_once(' ')?;
            let is_one = wanted.iter().any(|wanted| wanted == meant);
            is_one.then(|| name.to_owned())
        });
        Ok(names.collect())
    }

    /// Returns the names of the branches that were committed to last.
    pub async fn branches(&self, limit: usize) -> Result<Vec<String>, GitError> {
        let answer = self
            .call("for-each-ref")
            .args(["--sort=-committerdate", "--format=%(refname:lstrip=2)"])
            .arg(format!("--count={limit}"))
            .arg("refs/heads")
            .success()
            .await?;
        Ok(answer.stdout_text().lines().map(str::to_owned).collect())
    }

    /// Returns the names of the configured remotes.
    pub async fn remotes(&self) -> Result<Vec<String>, GitError> {
        let answer = self.call("remote").success().await?;
        Ok(answer.stdout_text().lines().map(str::to_owned).collect())
    }

    /// Returns the URL of a remote, without user and password if it is http(s).
    pub async fn remote_url(&self, name: &str) -> Result<Option<String>, GitError> {
        check_remote(name)?;
        if !self.remotes().await?.iter().any(|remote| remote == name) {
            return Ok(None);
        }
        let answer = self
            .call("remote get-url")
            .args(["--", name])
            .success()
            .await?;
        Ok(Some(url_without_credentials(&line(&answer))))
    }

    /// Returns a configuration value, the last one if there are several.
    pub async fn config_get(&self, key: &str) -> Result<Option<String>, GitError> {
        check_config_key(key)?;
        let answer = self
            .call("config")
            .args(["--null", "--get", key])
            .answer()
            .await?;
        Ok(answer.map(|answer| {
            let text = answer.stdout_text();
            text.strip_suffix('\0').unwrap_or(&text).to_owned()
        }))
    }
}

/// Reads the one object id that git printed.
pub(super) fn oid(answer: &Finished) -> Result<Oid, GitError> {
    Oid::parse(&line(answer)).ok_or_else(|| GitError::unexpected("rev-parse", &answer.stdout))
}

fn line(answer: &Finished) -> String {
    answer.stdout_text().trim_end_matches('\n').to_owned()
}
