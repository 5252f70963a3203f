//! Stale branches: merged, without upstream, or without a recent commit.

use std::collections::HashSet;
use std::path::Path;

use model::Timestamp;

use super::groups::days_between;
use super::input::IssuesInput;
use crate::Budget;
use crate::git::{self, GitFailure};
use crate::report::issues::{BranchReason, StaleBranch};
use crate::text::harmless;

/// Days before the newest commit in which a branch had none, when it counts as left over.
const STALE_DAYS: u32 = 90;

const FORMAT: &str = "--format=%(refname)%00%(objectname)%00%(committerdate:unix)%00%(upstream)%00%(symref)%00%(HEAD)%00%(worktreepath)%00%(authorname)";

pub(super) struct Branch {
    /// The whole name, `refs/heads/…` or `refs/remotes/…`.
    reference: String,
    pub(super) commit: String,
    pub(super) committed: Timestamp,
    upstream: String,
    symbolic: String,
    current: bool,
    pub(super) checked_out: bool,
    pub(super) author: String,
}

impl Branch {
    /// Returns the display name.
    pub(super) fn name(&self) -> &str {
        short(&self.reference)
    }

    /// Returns the name without the remote.
    pub(super) fn bare_name(&self) -> &str {
        branch_name(&self.reference)
    }
}

/// All branches, local and remote.
pub(super) struct Branches(Vec<Branch>);

impl Branches {
    pub(super) fn of(input: &IssuesInput, budget: &Budget) -> Result<Self, GitFailure> {
        let listed = git_text(
            &input.root,
            &["for-each-ref", FORMAT, "refs/heads", "refs/remotes"],
            budget,
        )?;
        Ok(Self(listed.lines().filter_map(parse).collect()))
    }

    /// Returns whether the branch that this one follows is gone: it was merged or given up elsewhere.
    pub(super) fn has_lost_upstream(&self, branch: &Branch) -> bool {
        let is_there = |other: &Branch| other.reference == branch.upstream;
        !branch.upstream.is_empty() && !self.0.iter().any(is_there)
    }

    pub(super) fn base(&self) -> Option<&Branch> {
        base_of(&self.0)
    }

    /// Returns the branches with a commit since then, the newest first, each commit once.
    pub(super) fn since(&self, since: i64) -> Vec<&Branch> {
        let mut recent: Vec<&Branch> = self
            .0
            .iter()
            .filter(|branch| branch.symbolic.is_empty() && branch.committed.unix_seconds() >= since)
            .collect();
        recent.sort_by_key(|branch| {
            (
                std::cmp::Reverse(branch.committed),
                branch.reference.clone(),
            )
        });
        let mut seen = HashSet::new();
        recent.retain(|branch| seen.insert(branch.commit.as_str()));
        recent
    }
}

/// The branches that may be left over, and the branch that merging is judged by.
pub(super) struct StaleBranches {
    pub(super) branches: Vec<StaleBranch>,
    pub(super) base: Option<String>,
}

/// Finds stale branches, local and remote; those that were worked on lately are none.
///
/// Both count from the newest commit, so that work in a repository that rests does not become left over by that.
pub(super) fn find(
    input: &IssuesInput,
    all: &Branches,
    newest: Option<Timestamp>,
    active: &HashSet<String>,
    budget: &Budget,
) -> Result<StaleBranches, GitFailure> {
    let branches = &all.0;
    let base = base_of(branches);
    let merged: HashSet<String> = match base {
        Some(base) => {
            let merged = format!("--merged={}", base.commit);
            let args = [
                "for-each-ref",
                &merged,
                "--format=%(refname)",
                "refs/heads",
                "refs/remotes",
            ];
            git_text(&input.root, &args, budget)?
                .lines()
                .map(str::to_owned)
                .collect()
        }
        None => HashSet::new(),
    };
    let base_name = base.map(|base| short(&base.reference).to_owned());
    let followed: HashSet<&str> = branches
        .iter()
        .map(|branch| branch.upstream.as_str())
        .collect();
    let pulls: HashSet<&str> = input
        .work
        .pulls
        .iter()
        .map(|pull| pull.head_branch.as_str())
        .collect();
    let mut found = Vec::new();
    for branch in branches {
        let remote = branch.reference.starts_with("refs/remotes/");
        // A remote branch that a local one follows is the same work.
        let same = remote && followed.contains(branch.reference.as_str());
        let is_base =
            base.is_some_and(|base| branch_name(&base.reference) == branch_name(&branch.reference));
        let name = branch_name(&branch.reference);
        let is_kept = is_long_lived(name) || pulls.contains(name) || active.contains(name);
        if same || is_base || is_kept || !branch.symbolic.is_empty() || branch.current {
            continue;
        }
        let idle_days = days_between(branch.committed, input.now);
        let is_idle = days_between(branch.committed, newest.unwrap_or(input.now)) >= STALE_DAYS;
        // Work that has only begun has no commits of its own.
        let is_new = base.is_some_and(|base| base.commit == branch.commit);
        if (branch.checked_out || is_new) && !is_idle {
            continue;
        }
        let mut reasons = Vec::new();
        if merged.contains(&branch.reference) {
            reasons.push(BranchReason::Merged);
        }
        if all.has_lost_upstream(branch) {
            reasons.push(BranchReason::UpstreamGone);
        }
        if is_idle {
            reasons.push(BranchReason::NoRecentCommit);
        }
        if !reasons.is_empty() {
            found.push(StaleBranch {
                name: harmless(short(&branch.reference), 160),
                remote,
                reasons,
                idle_days,
                author: harmless(&branch.author, 60),
            });
        }
    }
    found.sort_by(|a, b| {
        (
            std::cmp::Reverse(a.reasons.len()),
            std::cmp::Reverse(a.idle_days),
            &a.name,
        )
            .cmp(&(
                std::cmp::Reverse(b.reasons.len()),
                std::cmp::Reverse(b.idle_days),
                &b.name,
            ))
    });
    Ok(StaleBranches {
        branches: found,
        base: base_name.map(|name| harmless(&name, 160)),
    })
}

/// Branches of releases and those that others are merged into: they stay without commits.
fn is_long_lived(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "main",
        "master",
        "trunk",
        "develop",
        "dev",
        "development",
        "next",
        "staging",
        "stage",
        "production",
        "prod",
        "stable",
        "unstable",
        "nightly",
        "beta",
        "alpha",
        "canary",
        "edge",
        "latest",
        "lts",
        "gh-pages",
        "release",
        "releases",
        "maint",
        "maintenance",
        "support",
        "prerelease",
        "rc",
    ];
    name.split('/').any(|part| {
        let lower = part.to_ascii_lowercase();
        let words: Vec<&str> = lower.split(['-', '_']).collect();
        let is_first = words.first().is_some_and(|word| {
            matches!(
                *word,
                "release"
                    | "releases"
                    | "rel"
                    | "maint"
                    | "maintenance"
                    | "stable"
                    | "support"
                    | "lts"
            )
        });
        let is_last = words.last().is_some_and(|word| {
            matches!(
                *word,
                "stable" | "lts" | "release" | "maint" | "maintenance"
            )
        });
        NAMES.contains(&lower.as_str()) || is_first || is_last || is_version(&lower)
    }) && !name.starts_with("dependabot/")
        && !name.starts_with("renovate/")
}

/// Returns whether a name is a version: `6.2`, `v0.x`, `4-2-rc`, `REL_15`, `redis-7.0`.
fn is_version(name: &str) -> bool {
    // The name of the product may stand in front.
    let version = name
        .rsplit_once('-')
        .filter(|(product, _)| product.bytes().all(|byte| byte.is_ascii_alphabetic()));
    let version = version.map_or(name, |(_, version)| version);
    let digits = version.strip_prefix('v').unwrap_or(version);
    let parts: Vec<&str> = digits.split(['.', '_']).collect();
    let is_part = |part: &&str| {
        let part = part.trim_end_matches(|character: char| character.is_ascii_alphabetic());
        part.is_empty() || part.bytes().all(|byte| byte.is_ascii_digit())
    };
    digits.starts_with(|first: char| first.is_ascii_digit())
        && parts.iter().all(is_part)
        && (parts.len() > 1 || version.starts_with('v'))
}

fn git_text(root: &Path, args: &[&str], budget: &Budget) -> Result<String, GitFailure> {
    let bytes = git::output(root, args, budget)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn parse(line: &str) -> Option<Branch> {
    let fields: Vec<&str> = line.split('\0').collect();
    let [
        reference,
        commit,
        date,
        upstream,
        symbolic,
        head,
        worktree,
        author,
    ] = fields.as_slice()
    else {
        return None;
    };
    Some(Branch {
        reference: (*reference).to_owned(),
        commit: (*commit).to_owned(),
        committed: Timestamp::from_unix_seconds(date.parse().unwrap_or(0)),
        upstream: (*upstream).to_owned(),
        symbolic: (*symbolic).to_owned(),
        current: *head == "*",
        checked_out: !worktree.is_empty(),
        author: (*author).to_owned(),
    })
}

/// Finds the base branch: the remote's HEAD, else `main` or `master`, else the current one.
fn base_of(branches: &[Branch]) -> Option<&Branch> {
    let named = |name: &str| branches.iter().find(|branch| branch.reference == name);
    let remote_head = branches
        .iter()
        .find(|branch| branch.reference.ends_with("/HEAD"))
        .and_then(|head| named(&head.symbolic));
    remote_head
        .or_else(|| named("refs/heads/main"))
        .or_else(|| named("refs/heads/master"))
        .or_else(|| branches.iter().find(|branch| branch.current))
}

/// Returns the display name.
fn short(reference: &str) -> &str {
    let reference = reference.strip_prefix("refs/heads/").unwrap_or(reference);
    reference.strip_prefix("refs/remotes/").unwrap_or(reference)
}

/// Returns the name without the remote.
fn branch_name(reference: &str) -> &str {
    match reference.strip_prefix("refs/remotes/") {
        Some(remote) => remote.split_once('/').map_or(remote, |(_, name)| name),
        None => short(reference),
    }
}
