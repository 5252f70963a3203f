//! References of our own (`refs/codex/*`) that keep commits reachable when their branch is gone.

use super::command::Call;
use super::discovery::Repository;
use super::error::GitError;
use super::names::check_reference;
use super::oid::Oid;

impl Repository {
    /// Lists our references with the commits they keep.
    pub async fn kept_refs(&self) -> Result<Vec<(String, Oid)>, GitError> {
        let listed = self
            .call("for-each-ref")
            .args(["--format=%(objectname) %(refname)", "refs/codex"])
            .success()
            .await?;
        let text = listed.stdout_text();
        let refs = text.lines().filter_map(|line| {
            let (commit, name) = line.split_once(' ')?;
            Some((name.to_owned(), Oid::parse(commit)?))
        });
        Ok(refs.collect())
    }

    /// Keeps a commit under one of our names, and returns the name: a further one (`NAME.2`) where this one keeps other commits.
    ///
    /// A name is given once in a database, but a repository may be used with several, and a deleted one has left its
    /// references. `replaces` is what the caller has kept there before and gives up.
    pub async fn keep(
        &self,
        name: &str,
        commit: &Oid,
        replaces: Option<&Oid>,
    ) -> Result<String, GitError> {
        check_reference(name)?;
        let mut number = 1;
        loop {
            let place = match number {
                1 => name.to_owned(),
                _ => format!("{name}.{number}"),
            };
            let found = self.read_ref(&place).await?;
            let before = match &found {
                None => commit.null_of_same_kind(),
                Some(kept) if Some(kept) == replaces || self.has(commit, kept).await? => {
                    kept.as_str().to_owned()
                }
                Some(_) => {
                    number += 1;
                    continue;
                }
            };
            let call = self
                .call("update-ref")
                // One that is another name of a branch must not move that branch.
                .args(["--no-deref", "--", &place, commit.as_str(), &before])
                .writes();
            let finished = call.run().await?;
            if finished.status.success() {
                return Ok(place);
            }
            // Unless another process has moved it, it can't be written at all.
            if self.read_ref(&place).await? == found {
                return Err(call.failure(&finished));
            }
        }
    }

    /// Deletes one of our references if it is where it was seen and a branch, remote branch or tag has all its commits.
    ///
    /// Tells whether it was deleted; the only reference to a commit never is.
    pub async fn release_ref(&self, name: &str, commit: &Oid) -> Result<bool, GitError> {
        check_reference(name)?;
        // The deletion of a branch may rely on this reference, and happens under the lock.
        let _lock = self.lock().await?;
        if !self.other_names_of(&[name.to_owned()]).await?.is_empty() {
            return Ok(false);
        }
        let alone = self
            .call("rev-list")
            .args(["--max-count=1", commit.as_str(), "--not"])
            .args(["--branches", "--remotes", "--tags", "--"])
            .success()
            .await?;
        if !alone.stdout.is_empty() {
            return Ok(false);
        }
        let call: Call<'_> = self
            .call("update-ref")
            .args(["--no-deref", "-d", "--", name, commit.as_str()])
            .writes();
        // Fails if it was moved meanwhile; then it is kept.
        Ok(call.run().await?.status.success())
    }
}
