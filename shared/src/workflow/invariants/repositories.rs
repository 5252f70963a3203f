//! Worktrees, branches and references that no agent or pull request accounts for, and work that is gone.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use super::violation::{Invariant, InvariantViolation};
use crate::error::Error;
use crate::git::{GitError, HIDING_FILE, Repository, Worktree};
use crate::model::{Instance, Origin};
use crate::workflow::Context;
use crate::workflow::instance::facts::worktree_folder;

/// Where the built-in forge keeps the commits of its pull requests.
const PULL_REFS: &str = "refs/codex/pull/";

pub(super) async fn violations(
    context: &Context,
    instances: &[Instance],
) -> Result<Vec<InvariantViolation>, Error> {
    let roots: BTreeSet<&PathBuf> = instances
        .iter()
        .map(|instance| &instance.repository)
        .collect();
    let mut found = Vec::new();
    for root in roots {
        let own: Vec<&Instance> = instances
            .iter()
            .filter(|instance| instance.repository == *root)
            .collect();
        let repository = match Repository::at(root).await {
            Ok(repository) => repository,
            // The person has removed it.
            Err(GitError::NotARepository { .. } | GitError::Io { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        // Its own settings say where its worktrees are and what its branches are called.
        let context = context.in_repository(root).await?;
        found.extend(worktrees(&context, &repository, &own).await?);
        found.extend(branches(&context, &repository, &own).await?);
        found.extend(references(&context, &repository).await?);
        found.extend(commits(&repository, &own).await?);
    }
    Ok(found)
}

async fn worktrees(
    context: &Context,
    repository: &Repository,
    own: &[&Instance],
) -> Result<Vec<InvariantViolation>, Error> {
    let folder = worktree_folder(context, repository);
    let listed = repository.worktrees().await?;
    let mut found: Vec<InvariantViolation> = without_agent(&folder, &listed, own)
        .into_iter()
        .map(|path| left(&path, "worktree that belongs to no agent"))
        .collect();
    found.extend(
        listed
            .iter()
            .filter(|worktree| worktree.prunable.is_some() && worktree.path.starts_with(&folder))
            .map(|worktree| {
                left(
                    &worktree.path,
                    "worktree that git knows, but whose files are gone",
                )
            }),
    );
    Ok(found)
}

/// Returns the worktrees in the agents' folder of the current repository that no row accounts for.
pub async fn unknown_worktrees(context: &Context) -> Result<Vec<PathBuf>, Error> {
    let Ok(repository) = context.repository() else {
        return Ok(Vec::new());
    };
    let instances = context.store.read(|r| r.instances(false)).await?;
    let folder = worktree_folder(context, repository);
    let listed = repository.worktrees().await?;
    let own: Vec<&Instance> = instances.iter().collect();
    Ok(without_agent(&folder, &listed, &own).into_iter().collect())
}

fn without_agent(folder: &Path, listed: &[Worktree], own: &[&Instance]) -> BTreeSet<PathBuf> {
    let known: HashSet<PathBuf> = own
        .iter()
        .map(|instance| canonical(&instance.worktree_path))
        .collect();
    let of_git = listed.iter().map(|worktree| canonical(&worktree.path));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let on_disk = entries
        .filter(|entry| entry.file_name() != HIDING_FILE)
        .map(|entry| entry.path());
    of_git
        .filter(|path| path.starts_with(folder))
        .chain(on_disk)
        .filter(|path| !known.contains(path))
        .collect()
}

async fn branches(
    context: &Context,
    repository: &Repository,
    own: &[&Instance],
) -> Result<Vec<InvariantViolation>, Error> {
    const MAX_BRANCHES: usize = 10_000;
    let prefix = &context.settings().coding.branch_prefix;
    let known: HashSet<&str> = own
        .iter()
        .filter_map(|instance| instance.branch_name.as_deref())
        .collect();
    let all = repository.branches(MAX_BRANCHES).await?;
    Ok(all
        .into_iter()
        .filter(|name| !prefix.is_empty() && name.starts_with(prefix.as_str()))
        .filter(|name| !known.contains(name.as_str()))
        .map(|name| left(Path::new(&name), "branch that belongs to no agent"))
        .collect())
}

async fn references(
    context: &Context,
    repository: &Repository,
) -> Result<Vec<InvariantViolation>, Error> {
    let key = Context::repository_key(repository.root());
    let numbers = context.store.read(move |r| r.pull_numbers(&key)).await?;
    let kept = repository.kept_refs().await?;
    Ok(kept
        .into_iter()
        .filter(|(name, _)| {
            let number = name
                .strip_prefix(PULL_REFS)
                .and_then(|rest| rest.split('/').next())
                .and_then(|number| number.parse().ok());
            number.is_some_and(|number: u64| !numbers.contains(&number))
        })
        .map(|(name, _)| {
            left(
                Path::new(&name),
                "reference of a pull request that does not exist",
            )
        })
        .collect())
}

/// Finds agents whose branch was made and has gone, with commits that nothing else has.
async fn commits(
    repository: &Repository,
    own: &[&Instance],
) -> Result<Vec<InvariantViolation>, Error> {
    let mut found = Vec::new();
    for instance in own {
        let live = instance.status.is_live() && instance.origin == Origin::Launched;
        let Some(branch) = instance.branch_name.as_deref().filter(|_| live) else {
            continue;
        };
        if !repository.branch_exists(branch).await? {
            found.push(InvariantViolation::new(
                Invariant::WorkIsKept,
                instance.id.to_string(),
                format!("is {}, but its branch {branch} is gone", instance.status),
            ));
        }
    }
    Ok(found)
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn left(subject: &Path, problem: &str) -> InvariantViolation {
    InvariantViolation::new(
        Invariant::NothingLeftBehind,
        subject.display().to_string(),
        problem,
    )
}
