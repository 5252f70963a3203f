//! Branches that may be left over.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::groups::days_between;
use super::input::IssuesInput;
use crate::Control;
use crate::git::{self, GitFailure};
use crate::report::issues::{BranchReason, StaleBranch};
use crate::text::harmless;

/// Days without a commit after which a branch counts as left over.
const STALE_DAYS: u32 = 90;

const FORMAT: &str = "--format=%(refname)%00%(objectname)%00%(committerdate:unix)%00%(upstream)%00%(symref)%00%(HEAD)%00%(worktreepath)%00%(authorname)";

struct Branch {
    /// The whole name, `refs/heads/…` or `refs/remotes/…`.
    reference: String,
    commit: String,
    committed: SystemTime,
    upstream: String,
    symbolic: String,
    current: bool,
    checked_out: bool,
    author: String,
}

/// The branches that may be left over, and the branch that merging is judged by.
pub(super) struct Found {
    pub(super) branches: Vec<StaleBranch>,
    pub(super) base: Option<String>,
}

/// Looks at all branches, local and remote.
pub(super) fn find(input: &IssuesInput, control: &Control) -> Result<Found, GitFailure> {
    let listed = git_text(
        &input.root,
        &["for-each-ref", FORMAT, "refs/heads", "refs/remotes"],
        control,
    )?;
    let branches: Vec<Branch> = listed.lines().filter_map(parse).collect();
    let known: HashSet<&str> = branches
        .iter()
        .map(|branch| branch.reference.as_str())
        .collect();
    let base = base_of(&branches);
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
            git_text(&input.root, &args, control)?
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
    let pulls: HashMap<&str, u64> = input
        .pulls
        .iter()
        .map(|pull| (pull.branch.as_str(), pull.number))
        .collect();
    let mut found = Vec::new();
    for branch in &branches {
        let remote = branch.reference.starts_with("refs/remotes/");
        // A remote branch that a local one follows is the same work.
        let same = remote && followed.contains(branch.reference.as_str());
        let is_base =
            base.is_some_and(|base| branch_name(&base.reference) == branch_name(&branch.reference));
        if same || is_base || !branch.symbolic.is_empty() || branch.current {
            continue;
        }
        let idle_days = days_between(branch.committed, input.now);
        let mut reasons = Vec::new();
        if merged.contains(&branch.reference) {
            reasons.push(BranchReason::Merged);
        }
        if !branch.upstream.is_empty() && !known.contains(branch.upstream.as_str()) {
            reasons.push(BranchReason::UpstreamGone);
        }
        if idle_days >= STALE_DAYS {
            reasons.push(BranchReason::NoRecentCommit);
        }
        if !reasons.is_empty() {
            found.push(StaleBranch {
                name: harmless(short(&branch.reference), 160),
                remote,
                reasons,
                idle_days,
                author: harmless(&branch.author, 60),
                checked_out: branch.checked_out,
                pull: pulls.get(branch_name(&branch.reference)).copied(),
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
    Ok(Found {
        branches: found,
        base: base_name.map(|name| harmless(&name, 160)),
    })
}

fn git_text(root: &Path, args: &[&str], control: &Control) -> Result<String, GitFailure> {
    let bytes = git::output(root, args, control)?;
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
    let seconds: u64 = date.parse().unwrap_or(0);
    Some(Branch {
        reference: (*reference).to_owned(),
        commit: (*commit).to_owned(),
        committed: SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))?,
        upstream: (*upstream).to_owned(),
        symbolic: (*symbolic).to_owned(),
        current: *head == "*",
        checked_out: !worktree.is_empty(),
        author: (*author).to_owned(),
    })
}

/// Finds the branch that work goes into: what the remote calls its head, else by name.
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

/// Returns the name that people use.
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
