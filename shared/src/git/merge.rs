//! Merge, squash and rebase in the object database alone (`merge-tree`): no worktree, no index, no hooks.
//!
//! The result is a commit that no reference leads to yet; a conflict leaves nothing behind.

use super::command::{Call, Git};
use super::discovery::Repository;
use super::error::GitError;
use super::oid::Oid;
use super::refs;
use super::version::Version;
use crate::model::MergeMethod;
use crate::model::hidden::reveal_in_line;
use crate::process::Finished;

/// `merge-tree --write-tree` came with 2.38, its `--merge-base` with 2.40.
const MINIMUM_VERSION: Version = Version {
    major: 2,
    minor: 40,
    patch: 0,
};
/// Files that a conflict names.
const MAX_SHOWN: usize = 20;
/// The longest series that is put on top of another commit by commit.
const MAX_COMMITS: usize = 1_000;

impl Repository {
    /// Makes the commit that `onto` advances to so that it contains the work of `head`.
    ///
    /// That is `onto` itself if it has all of the work already.
    pub async fn combine(
        &self,
        method: MergeMethod,
        onto: &Oid,
        head: &Oid,
        message: &str,
    ) -> Result<Oid, GitError> {
        if self.common_history(onto, head).await? == *head {
            return Ok(onto.clone());
        }
        match method {
            MergeMethod::Merge => {
                let tree = self.merged_tree(None, onto, head).await?;
                self.commit(&tree, &[onto, head], message, &[]).await
            }
            MergeMethod::Squash => {
                let tree = self.merged_tree(None, onto, head).await?;
                if tree == self.tree_of(onto).await? {
                    return Ok(onto.clone());
                }
                self.commit(&tree, &[onto], message, &[]).await
            }
            MergeMethod::Rebase => self.rebased(onto, head).await,
        }
    }

    /// Returns the files in which a merge of `head` into `onto` conflicts, at most twenty. No reference and no worktree is touched.
    /// Without common history there is nothing to merge with.
    pub async fn conflicts(&self, onto: &Oid, head: &Oid) -> Result<Vec<String>, GitError> {
        let base = self.common_history(onto, head).await?;
        if base == *head || base == *onto {
            return Ok(Vec::new());
        }
        match self.merged_tree(None, onto, head).await {
            Ok(_) => Ok(Vec::new()),
            Err(GitError::Conflict { files }) => Ok(files),
            Err(error) => Err(error),
        }
    }

    /// Returns the best common ancestor. Without one, git refuses every kind of merge.
    async fn common_history(&self, onto: &Oid, head: &Oid) -> Result<Oid, GitError> {
        let base = self.merge_base_of(onto, head).await?;
        base.ok_or_else(|| GitError::NoCommonHistory {
            base: onto.clone(),
            head: head.clone(),
        })
    }

    /// Makes each commit of `head` again on top of `onto`; what is there already is left out.
    async fn rebased(&self, onto: &Oid, head: &Oid) -> Result<Oid, GitError> {
        if self.merge_base_of(onto, head).await?.as_ref() == Some(onto) {
            return Ok(head.clone());
        }
        let listed = self
            .call("rev-list")
            .args(["--reverse", "--topo-order", "--parents"])
            .arg(format!("{onto}..{head}"))
            .arg("--")
            .success()
            .await?;
        let listed = listed.stdout_text();
        let (merges, series): (Vec<&str>, Vec<&str>) =
            listed.lines().partition(|line| line.split(' ').count() > 2);
        if series.len() > MAX_COMMITS {
            return Err(GitError::TooManyCommits {
                count: series.len(),
                most: MAX_COMMITS,
            });
        }
        let mut top = onto.clone();
        let mut top_tree = self.tree_of(onto).await?;
        for line in series {
            let mut ids = line.split(' ').map(Oid::parse);
            let (Some(Some(commit)), Some(Some(parent))) = (ids.next(), ids.next()) else {
                return Err(GitError::unexpected("rev-list", line.as_bytes()));
            };
            let tree = self.merged_tree(Some(&parent), &top, &commit).await?;
            if tree != top_tree {
                let (author, message) = self.author_and_message(&commit).await?;
                top = self.commit(&tree, &[&top], &message, &author).await?;
                top_tree = tree;
            }
        }
        // A series has no merge commits, so what only they changed would be gone without a word.
        if !merges.is_empty() && top_tree != self.merged_tree(None, onto, head).await? {
            return Err(GitError::RebaseLosesMerge);
        }
        Ok(top)
    }

    /// Returns the tree with both sides' changes.
    async fn merged_tree(
        &self,
        base: Option<&Oid>,
        ours: &Oid,
        theirs: &Oid,
    ) -> Result<Oid, GitError> {
        const USAGE: Option<i32> = Some(129);
        let mut call = self
            .call("merge-tree")
            .args(["--write-tree", "-z", "--name-only", "--no-messages"])
            .writes();
        if let Some(base) = base {
            call = call.arg(format!("--merge-base={base}"));
        }
        let call = call.args([ours.as_str(), theirs.as_str()]);
        let finished = call.run().await?;
        match finished.status.code() {
            Some(0) => first_oid(&finished),
            Some(1) => Err(GitError::Conflict {
                files: conflicting(&finished.stdout),
            }),
            USAGE => Err(too_old(&self.git, &call, &finished).await),
            _ => Err(call.failure(&finished)),
        }
    }

    async fn tree_of(&self, commit: &Oid) -> Result<Oid, GitError> {
        let answer = self
            .call("rev-parse")
            .args(["--verify", "--quiet", "--end-of-options"])
            .arg(format!("{commit}^{{tree}}"))
            .success()
            .await?;
        refs::oid(&answer)
    }

    async fn commit(
        &self,
        tree: &Oid,
        parents: &[&Oid],
        message: &str,
        environment: &[(&str, String)],
    ) -> Result<Oid, GitError> {
        let mut call = self
            .call("commit-tree")
            // What it is given is that; the setting would only say otherwise.
            .settings(["-c", "i18n.commitEncoding=UTF-8"])
            .arg(tree.as_str())
            .args(["-F", "-"])
            .input(message.as_bytes())
            .writes();
        for parent in parents {
            call = call.args(["-p", parent.as_str()]);
        }
        for (name, value) in environment {
            call = call.env(name, value);
        }
        refs::oid(&call.success().await?)
    }

    /// Returns who wrote a commit and when, as git's own variables, and what it says.
    async fn author_and_message(
        &self,
        commit: &Oid,
    ) -> Result<(Vec<(&'static str, String)>, String), GitError> {
        let shown = self
            .call("log")
            .args(["-1", "--format=%an%x00%ae%x00%ad%x00%B", "--date=raw"])
            .args(["--no-show-signature", "--no-color", "--encoding=UTF-8"])
            .args([commit.as_str(), "--"])
            .success()
            .await?;
        let text = shown.stdout_text();
        let mut fields = text.splitn(4, '\0');
        let variables = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE"];
        let author = variables
            .into_iter()
            .filter_map(|name| Some((name, fields.next()?.to_owned())))
            .collect();
        let message = fields.next().unwrap_or_default().trim_end().to_owned() + "\n";
        Ok((author, message))
    }
}

fn first_oid(finished: &Finished) -> Result<Oid, GitError> {
    let text = finished.stdout_text();
    let first = text.split('\0').next().unwrap_or_default();
    Oid::parse(first).ok_or_else(|| GitError::unexpected("merge-tree", &finished.stdout))
}

/// Reads the files that `merge-tree -z --name-only` names after the tree.
fn conflicting(output: &[u8]) -> Vec<String> {
    output
        .split(|byte| *byte == 0)
        .skip(1)
        .filter(|name| !name.is_empty())
        .take(MAX_SHOWN)
        .map(|name| reveal_in_line(&String::from_utf8_lossy(name)))
        .collect()
}

async fn too_old(git: &Git, call: &Call<'_>, finished: &Finished) -> GitError {
    match git.version().await {
        Ok(found) if found < MINIMUM_VERSION => GitError::TooOld {
            found,
            minimum: MINIMUM_VERSION,
        },
        Ok(_) | Err(_) => call.failure(finished),
    }
}
