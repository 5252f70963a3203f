//! Recent activity: the folders and branches with commits of the last weeks.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::branches::Branches;
use super::groups::days_between;
use super::input::IssuesInput;
use crate::Budget;
use crate::git::{self, GitFailure};
use crate::report::Listing;
use crate::report::activity::{ActiveArea, ActiveBranch, RecentActivity};
use crate::text::harmless;
use model::Timestamp;

/// How far back it looks.
const DAYS: u32 = 42;

/// Most commits read; more in six weeks say no more.
const MAX_COMMITS: usize = 3_000;

/// Branches compared with the base; each costs git two questions.
const MAX_BRANCHES: usize = 12;

const MAX_AREAS: usize = 12;

/// Most files of one change that are looked at.
const MAX_FILES: usize = 2_000;

#[derive(Default)]
struct Area<'a> {
    commits: u32,
    authors: HashSet<&'a str>,
    files: HashMap<&'a str, u32>,
}

/// A branch that was worked on, its name without the remote, and the folders that it changes.
struct Active {
    branch: ActiveBranch,
    name: String,
    areas: HashSet<String>,
}

/// Returns when the newest commit was made; an empty repository has none.
pub(super) fn newest(
    input: &IssuesInput,
    budget: &Budget,
) -> Result<Option<Timestamp>, GitFailure> {
    let newest = git::output(&input.root, &["log", "-1", "--format=%ct", "HEAD"], budget);
    match newest {
        Ok(bytes) => {
            let seconds = String::from_utf8_lossy(&bytes).trim().parse().ok();
            Ok(seconds.map(Timestamp::from_unix_seconds))
        }
        Err(GitFailure::Failed { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Looks at the commits of the weeks before the newest one.
///
/// Returns the names of the active branches as well, without their remotes.
pub(super) fn find(
    input: &IssuesInput,
    branches: &Branches,
    newest: Timestamp,
    budget: &Budget,
) -> Result<(RecentActivity, HashSet<String>), GitFailure> {
    let since = newest.unix_seconds() - i64::from(DAYS) * 24 * 60 * 60;
    let args = [
        "log",
        "HEAD",
        "--no-merges",
        "--no-renames",
        "--name-only",
        git::SUBMODULES,
        &format!("--max-count={MAX_COMMITS}"),
        &format!("--since=@{since}"),
        "--format=%x01%aN",
    ];
    let log = git::output(&input.root, &args, budget)?;
    // What is gone is nowhere to work.
    let listed = git::output(
        &input.root,
        &["ls-tree", "-r", "--name-only", "--full-tree", "HEAD"],
        budget,
    )?;
    let listed = String::from_utf8_lossy(&listed);
    let files: HashSet<&str> = listed.lines().collect();
    let log = String::from_utf8_lossy(&log);
    let mut authors: HashSet<&str> = HashSet::new();
    let mut commits = 0;
    let mut areas: HashMap<String, Area<'_>> = HashMap::new();
    for commit in log.split('\x01').skip(1) {
        let mut lines = commit.lines();
        let author = lines.next().unwrap_or_default();
        if author.ends_with("[bot]") {
            continue;
        }
        commits += 1;
        authors.insert(author);
        let mut touched: HashSet<String> = HashSet::new();
        let paths = lines.filter(|line| !line.is_empty() && files.contains(line));
        for path in paths.take(MAX_FILES) {
            let area = area_of(path);
            let entry = areas.entry(area.clone()).or_default();
            *entry.files.entry(path).or_default() += 1;
            if touched.insert(area) {
                entry.commits += 1;
                entry.authors.insert(author);
            }
        }
    }
    let active = active_branches(input, branches, since, budget)?;
    let names = active.iter().map(|found| found.name.clone()).collect();
    let recent = RecentActivity {
        days: DAYS,
        commits,
        authors: count(authors.len()),
        areas: ranked(areas, &active),
        branches: active.into_iter().map(|found| found.branch).collect(),
    };
    Ok((recent, names))
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Returns the folder of a file, three levels deep at most.
fn area_of(path: &str) -> String {
    let folder = crate::paths::folder_of(path);
    let end = folder
        .match_indices('/')
        .nth(2)
        .map_or(folder.len(), |(at, _)| at);
    if end == 0 {
        ".".to_owned()
    } else {
        folder[..end].to_owned()
    }
}

fn ranked(areas: HashMap<String, Area<'_>>, active: &[Active]) -> Listing<ActiveArea> {
    let mut found: Vec<ActiveArea> = areas
        .into_iter()
        .map(|(folder, area)| {
            let mut files: Vec<(&str, u32)> = area.files.into_iter().collect();
            files.sort_by_key(|(path, commits)| (std::cmp::Reverse(*commits), *path));
            let touching = active.iter().filter(|found| found.areas.contains(&folder));
            ActiveArea {
                commits: area.commits,
                authors: count(area.authors.len()),
                files: files
                    .into_iter()
                    .take(3)
                    .map(|(path, _)| harmless(path, 200))
                    .collect(),
                branches: touching
                    .take(5)
                    .map(|found| found.branch.name.clone())
                    .collect(),
                folder: harmless(&folder, 200),
            }
        })
        .collect();
    found.sort_by(|one, other| {
        other
            .commits
            .cmp(&one.commits)
            .then_with(|| one.folder.cmp(&other.folder))
    });
    Listing::bounded(found, MAX_AREAS)
}

fn active_branches(
    input: &IssuesInput,
    branches: &Branches,
    since: i64,
    budget: &Budget,
) -> Result<Vec<Active>, GitFailure> {
    let Some(base) = branches.base() else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    // Updates of versions by bots are no work in progress.
    let by_bot = |name: &str| {
        ["dependabot/", "renovate/"]
            .iter()
            .any(|bot| name.starts_with(bot))
    };
    for branch in branches.since(since) {
        if by_bot(branch.bare_name()) || branches.has_lost_upstream(branch) {
            continue;
        }
        if found.len() == MAX_BRANCHES {
            break;
        }
        let range = format!("{}..{}", base.commit, branch.commit);
        let ahead = git::output(
            &input.root,
            &["rev-list", "--count", "--no-merges", &range],
            budget,
        )?;
        let commits: u32 = String::from_utf8_lossy(&ahead).trim().parse().unwrap_or(0);
        if commits == 0 {
            continue;
        }
        let range = format!("{}...{}", base.commit, branch.commit);
        let changed = match git::output(
            &input.root,
            &[
                "diff",
                "--no-ext-diff",
                "--no-textconv",
                "--name-only",
                git::SUBMODULES,
                &range,
            ],
            budget,
        ) {
            Ok(changed) => changed,
            // Histories without a common commit cannot be compared.
            Err(GitFailure::Failed { .. }) => continue,
            Err(error) => return Err(error),
        };
        let changed = String::from_utf8_lossy(&changed);
        if changed.is_empty() {
            continue;
        }
        let mut areas: BTreeMap<String, u32> = BTreeMap::new();
        for path in changed.lines().take(MAX_FILES) {
            *areas.entry(area_of(path)).or_default() += 1;
        }
        let mut most: Vec<(&String, &u32)> = areas.iter().collect();
        most.sort_by_key(|(_, files)| std::cmp::Reverse(**files));
        let name = branch.name();
        let pull = input
            .work
            .pulls
            .iter()
            .find(|pull| pull.head_branch == branch.bare_name());
        let entry = ActiveBranch {
            name: harmless(name, 160),
            commits,
            idle_days: days_between(branch.committed, input.now),
            author: harmless(&branch.author, 60),
            files: count(changed.lines().count()),
            areas: most
                .into_iter()
                .take(3)
                .map(|(area, _)| harmless(area, 200))
                .collect(),
            pull: pull.map(|pull| pull.number),
            checked_out: branch.checked_out,
        };
        found.push(Active {
            branch: entry,
            name: branch.bare_name().to_owned(),
            areas: areas.into_keys().collect(),
        });
    }
    Ok(found)
}
