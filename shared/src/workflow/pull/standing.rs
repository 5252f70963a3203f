//! Standings of open pull requests: mergeable or conflicting, behind the base, behind the branch, approved for which commit.
//!
//! Tips and counts are read by libgit2. Conflicts need a merge in the object database; its result is kept in `pull_standings`
//! for as long as neither base nor head moves, and boards show what is kept. GitHub is heard, by whoever asks it anyway.

use schemars::JsonSchema;
use serde::Serialize;

use super::moved_branch::{commits, moved_branch};
use super::pull_agent::agent_among;
use crate::error::{Code, Error};
use crate::git::{GitError, Oid, Repository};
use crate::model::pull_request::is_local_url;
use crate::model::{
    BaseProblem, Instance, InstanceId, Mergeable, PullRequest, PullState, Review, Verdict,
};
use crate::store::PullStanding;
use crate::workflow::Context;
use crate::workflow::forges::base_problem::{base_gone, no_common_history};

/// How an open pull request stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Standing {
    pub mergeable: Mergeable,
    /// What is wrong with its base, whatever its own commits are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<BaseProblem>,
    /// Where its base is, or was last if it is gone; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_commit: Option<String>,
    /// Files in which a merge conflicts, at most twenty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
    /// Commits of the base branch that it lacks; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<usize>,
    /// Commits of its branch that it lacks: `claude-codex pr update N`.
    pub new_commits: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<PullApproval>,
    /// The agent's work has to be approved, and the head is not.
    pub needs_approval: bool,
}

/// The last verdict about a pull request, if it is an approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PullApproval {
    pub commit: String,
    /// The reviewer; absent if it was a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<InstanceId>,
    /// Whether the pull request still stands for that commit.
    pub is_head: bool,
}

impl Standing {
    /// Says in a few words each what a person should know, what matters most first.
    pub fn phrases(&self, base: &str) -> Vec<String> {
        let mut phrases = Vec::new();
        match self.mergeable {
            _ if self.obstacle == Some(BaseProblem::Gone) => {
                phrases.push(format!("base {base} is gone"));
            }
            _ if self.obstacle == Some(BaseProblem::NoCommonHistory) => {
                phrases.push(format!("no common history with {base}"));
            }
            Mergeable::Conflicting => phrases.push(conflict_phrase(base, &self.conflicts)),
            Mergeable::Blocked => phrases.push("blocked by a rule of the forge".to_owned()),
            Mergeable::Clean => phrases.push("mergeable".to_owned()),
            Mergeable::Unknown => {}
        }
        if self.new_commits > 0 {
            phrases.push(format!("lacks {} of its branch", commits(self.new_commits)));
        }
        if let Some(behind) = self.behind.filter(|behind| *behind > 0) {
            phrases.push(format!("{} behind {base}", commits(behind)));
        }
        match &self.approval {
            Some(approval) if approval.is_head => phrases.push("approved".to_owned()),
            Some(approval) => {
                let commit = approval.commit.get(..10).unwrap_or(&approval.commit);
                phrases.push(format!("approved at {commit}, not at its head"));
            }
            None if self.needs_approval => phrases.push("not approved".to_owned()),
            None => {}
        }
        phrases
    }
}

fn conflict_phrase(base: &str, files: &[String]) -> String {
    match files {
        [] => format!("conflicts with {base}"),
        [one] => format!("conflicts with {base} in {one}"),
        many => format!("conflicts with {base} in {} files", many.len()),
    }
}

/// Returns how each pull request stands, in the same order; none for one that is not open.
pub async fn standings(
    context: &Context,
    pulls: &[PullRequest],
) -> Result<Vec<Option<Standing>>, Error> {
    let repository = context.repository()?;
    let key = Context::repository_key(repository.root());
    let published = context.store.read(move |r| r.published(&key)).await?;
    let mut standings = Vec::with_capacity(pulls.len());
    for pull in pulls {
        standings.push(if pull.state == PullState::Open {
            let agent = agent_among(&published, pull);
            Some(standing(context, repository, pull, agent).await?)
        } else {
            None
        });
    }
    Ok(standings)
}

async fn standing(
    context: &Context,
    repository: &Repository,
    pull: &PullRequest,
    agent: Option<&Instance>,
) -> Result<Standing, Error> {
    let approval = match agent {
        Some(agent) => approval(context, agent, pull).await?,
        None => None,
    };
    let is_approved = approval.as_ref().is_some_and(|approval| approval.is_head);
    let needs_approval = agent.is_some_and(|agent| agent.require_review) && !is_approved;
    let found = if is_local_url(&pull.url) {
        match computed(context, repository, pull).await {
            // An object may be missing, or broken. The others can be shown.
            Err(error) if error.code == Code::GitFailed => {
                tracing::warn!(%error, "cannot tell how pull request {} stands", pull.number);
                None
            }
            found => found?,
        }
    } else {
        Some(heard(context, repository, pull).await?)
    };
    Ok(match found {
        Some(found) => Standing {
            mergeable: found.mergeable,
            obstacle: found.base_problem(),
            base_commit: found.base_commit,
            conflicts: found.conflicts,
            behind: found.behind,
            new_commits: found.new_commits,
            approval,
            needs_approval,
        },
        None => Standing {
            mergeable: Mergeable::Unknown,
            obstacle: None,
            base_commit: None,
            conflicts: Vec::new(),
            behind: None,
            new_commits: new_commits(context, repository, pull).await?,
            approval,
            needs_approval,
        },
    })
}

async fn new_commits(
    context: &Context,
    repository: &Repository,
    pull: &PullRequest,
) -> Result<usize, Error> {
    let moved = moved_branch(context, repository, pull).await?;
    Ok(moved.map_or(0, |moved| moved.commits))
}

/// Returns how a pull request of the built-in forge stands, from what is kept if that is still so; none if its head is gone.
pub(super) async fn computed(
    context: &Context,
    repository: &Repository,
    pull: &PullRequest,
) -> Result<Option<PullStanding>, Error> {
    let base = repository.branch_tip(&pull.base_branch).await?;
    let Ok(head) = repository.resolve(&pull.head_commit).await else {
        return Ok(None);
    };
    let branch = branch_of(repository, pull).await?;
    let kept = kept(context, repository, pull).await?;
    let last_base = kept.as_ref().and_then(|kept| kept.base_commit.clone());
    let kept = kept.filter(|kept| {
        let was_gone = kept.base_problem() == Some(BaseProblem::Gone);
        let same_base = match &base {
            Some(base) => !was_gone && kept.base_commit.as_deref() == Some(base.as_str()),
            None => was_gone,
        };
        same_base && kept.head_commit == head.as_str()
    });
    if let Some(kept) = &kept
        && kept.branch_commit == branch
    {
        return Ok(Some(kept.clone()));
    }
    let (mergeable, conflicts, behind) = match (kept, &base) {
        (Some(kept), _) => (kept.mergeable, kept.conflicts, kept.behind),
        (None, None) => (Mergeable::Unknown, Vec::new(), None),
        (None, Some(base)) => merged_with(repository, base, &head).await?,
    };
    let found = PullStanding {
        repository: Context::repository_key(repository.root()),
        is_local: true,
        number: pull.number,
        base_commit: base.map(|base| base.as_str().to_owned()).or(last_base),
        head_commit: head.as_str().to_owned(),
        branch_commit: branch,
        mergeable,
        conflicts,
        behind,
        new_commits: new_commits(context, repository, pull).await?,
    };
    keep(context, &found).await;
    Ok(Some(found))
}

/// Returns whether a commit can be merged, in which files it conflicts, and how many commits of the base it lacks: that last
/// is none without common history.
async fn merged_with(
    repository: &Repository,
    base: &Oid,
    head: &Oid,
) -> Result<(Mergeable, Vec<String>, Option<usize>), Error> {
    let conflicts = match repository.conflicts(base, head).await {
        Err(GitError::NoCommonHistory { .. }) => {
            return Ok((Mergeable::Conflicting, Vec::new(), None));
        }
        conflicts => conflicts?,
    };
    let mergeable = if conflicts.is_empty() {
        Mergeable::Clean
    } else {
        Mergeable::Conflicting
    };
    let apart = repository.ahead_behind(base.as_str(), head.as_str());
    Ok((mergeable, conflicts, Some(apart.await?.behind)))
}

/// Returns how a pull request on GitHub stands, and keeps that for boards, which do not ask GitHub.
///
/// GitHub computes whether there are conflicts when it is asked, and says that it does not know until it has: as long as the
/// head is the same, what it said last holds. How far the base is ahead it does not say, and what was fetched may be old.
pub(crate) async fn heard(
    context: &Context,
    repository: &Repository,
    pull: &PullRequest,
) -> Result<PullStanding, Error> {
    let kept = kept(context, repository, pull).await?;
    let said = pull.mergeable.filter(|said| *said != Mergeable::Unknown);
    let before = kept
        .as_ref()
        .filter(|kept| kept.head_commit == pull.head_commit);
    let found = PullStanding {
        repository: Context::repository_key(repository.root()),
        is_local: false,
        number: pull.number,
        base_commit: None,
        head_commit: pull.head_commit.clone(),
        branch_commit: branch_of(repository, pull).await?,
        mergeable: said
            .or(before.map(|kept| kept.mergeable))
            .unwrap_or(Mergeable::Unknown),
        conflicts: Vec::new(),
        behind: None,
        new_commits: new_commits(context, repository, pull).await?,
    };
    // A list says nothing that is worth a row.
    let is_said = kept.is_some() || pull.mergeable.is_some();
    if is_said && kept.as_ref() != Some(&found) {
        keep(context, &found).await;
    }
    Ok(found)
}

async fn kept(
    context: &Context,
    repository: &Repository,
    pull: &PullRequest,
) -> Result<Option<PullStanding>, Error> {
    let key = Context::repository_key(repository.root());
    let (is_local, number) = (is_local_url(&pull.url), pull.number);
    let kept = context
        .store
        .read(move |r| r.pull_standing(&key, is_local, number));
    Ok(kept.await?)
}

/// Keeps what was found. A database that can't be written to is no reason not to answer.
async fn keep(context: &Context, found: &PullStanding) {
    let (number, kept) = (found.number, found.clone());
    let written = context.store.write(move |w| w.set_pull_standing(&kept));
    if let Err(error) = written.await {
        tracing::warn!(%error, "cannot keep how pull request {number} stands");
    }
}

async fn branch_of(repository: &Repository, pull: &PullRequest) -> Result<Option<String>, Error> {
    let reference = format!("refs/heads/{}", pull.head_branch);
    let tip = repository.read_ref(&reference).await?;
    Ok(tip.map(|tip| tip.as_str().to_owned()))
}

/// Returns the files in which a commit conflicts with the base of a pull request of the built-in forge. It is an error if
/// nobody could resolve that by a merge.
pub(super) async fn conflicting_files(
    context: &Context,
    repository: &Repository,
    pull: &PullRequest,
    head: &Oid,
) -> Result<Vec<String>, Error> {
    match repository.branch_tip(&pull.base_branch).await? {
        Some(base) => match repository.conflicts(&base, head).await {
            Err(GitError::NoCommonHistory { .. }) => Err(no_common_history(pull)),
            files => Ok(files?),
        },
        None => Err(base_gone(context, repository, pull).await),
    }
}

/// Returns the approval of a pull request, unless the last verdict was another.
async fn approval(
    context: &Context,
    agent: &Instance,
    pull: &PullRequest,
) -> Result<Option<PullApproval>, Error> {
    let id = agent.id.clone();
    let reviews = context.store.read(move |r| r.reviews(&id)).await?;
    let decided = |review: &&Review| {
        matches!(
            review.verdict,
            Verdict::Approved | Verdict::ChangesRequested
        )
    };
    let last = reviews.iter().rfind(decided);
    let approved = last.filter(|review| review.verdict == Verdict::Approved);
    Ok(approved.map(|review| PullApproval {
        commit: review.commit_id.clone(),
        by: review.review_instance_id.clone(),
        is_head: review.commit_id == pull.head_commit,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_say_what_matters_most_first() {
        let mut standing = Standing {
            mergeable: Mergeable::Clean,
            obstacle: None,
            base_commit: None,
            conflicts: Vec::new(),
            behind: Some(0),
            new_commits: 0,
            approval: None,
            needs_approval: false,
        };
        assert_eq!(standing.phrases("main"), ["mergeable"]);
        standing.mergeable = Mergeable::Conflicting;
        standing.conflicts = vec!["a.rs".to_owned()];
        standing.behind = Some(1);
        standing.new_commits = 2;
        standing.needs_approval = true;
        assert_eq!(
            standing.phrases("main"),
            [
                "conflicts with main in a.rs",
                "lacks 2 commits of its branch",
                "1 commit behind main",
                "not approved",
            ]
        );
        standing.approval = Some(PullApproval {
            commit: "0123456789abcdef".to_owned(),
            by: None,
            is_head: false,
        });
        assert_eq!(
            standing.phrases("main").last().unwrap(),
            "approved at 0123456789, not at its head"
        );
    }
}
