//! A focus: the part of a repository that belongs to a path or a question, and the tests that it affects.

mod affected;
mod ground;
mod rank;
mod words;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use tree_sitter::Parser;

use crate::history::date::{date, now};
use crate::paths::{folder_of, is_under, joined};
use crate::report::focus::{
    ChangedTogether, FocusCommit, FocusFile, FocusOwner, FocusPart, FocusReport, FocusSymbol,
};
use crate::report::{Incomplete, Listing};
use crate::symbols::{Definition, definitions_of, has_symbols};
use crate::text::harmless;
use crate::{AnalysisError, Budget, Depth};
use ground::Ground;
use rank::{Ranked, Ranking};
use words::Query;

pub use affected::affected_tests;

/// Longest question.
pub const MAX_QUERY: usize = 500;

/// Longest path.
pub const MAX_PATH: usize = 1_000;

/// Files in the complete report.
const MAX_FILES: usize = 100;
const MAX_SYMBOLS: usize = 120;
const MAX_COMMITS: usize = 60;
const MAX_OWNERS: usize = 8;

/// Commits that make an owner.
const MIN_COMMITS: u32 = 2;
const MAX_TOGETHER: usize = 40;
const MAX_PARTS: usize = 12;

/// Files that stand for the focus where all would be too many.
const CORE: usize = 10;

const YEAR: i64 = 365 * 86_400;

/// What to look at within a repository: a path, a question or both.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Focus {
    path: Option<String>,
    query: Option<String>,
}

impl Focus {
    /// Checks the arguments; neither of them is no focus.
    pub fn new(path: Option<&str>, query: Option<&str>) -> Result<Option<Self>, AnalysisError> {
        let wrong = |why: &str| AnalysisError::Focus {
            why: why.to_owned(),
        };
        let path = match path.map(str::trim) {
            None => None,
            Some(path) if path.len() > MAX_PATH => return Err(wrong("the path is too long")),
            Some(path) => {
                let inside = joined("", path)
                    .ok_or_else(|| wrong("the path does not lie in the repository"))?;
                Some(inside).filter(|path| !path.is_empty())
            }
        };
        let query = match query {
            None => None,
            Some(query) if query.len() > MAX_QUERY => {
                return Err(wrong("the query is too long"));
            }
            Some(query) => {
                let query = harmless(query, MAX_QUERY + 4);
                if Query::of(&query).terms.is_empty() {
                    return Err(wrong("the query has no word that could be looked for"));
                }
                Some(query)
            }
        };
        Ok((path.is_some() || query.is_some()).then_some(Self { path, query }))
    }
}

/// Finds what belongs to a focus.
///
/// What can't be found out is listed as incomplete; a root that can't be read, a path that no file has and
/// cancellation are errors.
pub fn focus(
    root: &Path,
    focus: &Focus,
    depth: Depth,
    budget: &Budget,
) -> Result<FocusReport, AnalysisError> {
    budget.report(0.0, "reading files");
    let mut incomplete = Vec::new();
    let commits = match depth {
        Depth::Shallow => 500,
        Depth::Medium => 3_000,
        Depth::Deep => 20_000,
    };
    let ground = Ground::survey(root, commits, budget, &mut incomplete)?;
    budget.check()?;
    let is_inside = |path: &str| {
        let folder = focus.path.as_deref().unwrap_or_default();
        path == folder || is_under(path, folder)
    };
    let inside: Vec<usize> = (0..ground.tree.files.len())
        .filter(|&number| is_inside(&ground.tree.files[number].path))
        .collect();
    if inside.is_empty() && focus.path.is_some() && !ground.tree.cut {
        return Err(AnalysisError::Focus {
            why: "no file of the repository has this path".to_owned(),
        });
    }
    let production: Vec<usize> = inside
        .iter()
        .copied()
        .filter(|&number| ground.is_production(number))
        .collect();
    // Of a folder of tests or documents these are what was asked for.
    let within = if production.is_empty() && focus.path.is_some() {
        &inside
    } else {
        &production
    };
    budget.report(0.6, "comparing words");
    let query = focus.query.as_deref().map(Query::of).unwrap_or_default();
    let mut ranking = if focus.query.is_some() {
        rank::by_query(&ground, &query, within, budget)
    } else {
        Ranking {
            files: rank::by_activity(&ground, within),
            definitions: HashMap::new(),
            commits: Vec::new(),
            complete: true,
        }
    };
    budget.check()?;
    if !ranking.complete {
        incomplete.push(Incomplete::out_of_time("files"));
    }
    budget.report(0.8, "looking for tests and commits");
    let total = ranking.files.len();
    ranking.files.truncate(MAX_FILES);
    let core: Vec<usize> = ranking
        .files
        .iter()
        .take(CORE)
        .map(|file| file.number)
        .collect();
    look_at(&ground, &mut ranking, budget);
    let tests = affected::tests_of(&ground, &core);
    budget.check()?;
    let report = FocusReport {
        depth,
        path: focus.path.clone(),
        query: focus.query.clone(),
        files: Listing {
            omitted: total.saturating_sub(MAX_FILES) as u64,
            items: files(&ground, &ranking.files),
        },
        symbols: symbols(&ground, &ranking, &query),
        tests,
        parts: parts(&ground, &ranking.files),
        commits: commits_of(&ground, &ranking, &inside, &core, focus.query.is_some()),
        owners: owners(&ground, &core),
        together: together(&ground, &ranking.files, &core),
        incomplete: incomplete.into(),
    };
    budget.report(1.0, "done");
    Ok(report)
}

/// Reads the definitions of the first files, where the ranking has not.
fn look_at(ground: &Ground<'_>, ranking: &mut Ranking, budget: &Budget) {
    let mut parser = Parser::new();
    for file in ranking.files.iter().take(2 * CORE) {
        let number = file.number;
        let tree_file = &ground.tree.files[number];
        if !ranking.definitions.contains_key(&number) && has_symbols(tree_file) {
            let found = definitions_of(ground.root, tree_file, &mut parser, budget);
            ranking
                .definitions
                .insert(number, found.unwrap_or_default());
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of 100"
)]
fn files(ground: &Ground<'_>, ranked: &[Ranked]) -> Vec<FocusFile> {
    let highest = ranked.first().map_or(1.0, |file| file.score);
    ranked
        .iter()
        .map(|file| FocusFile {
            path: ground.tree.files[file.number].path.clone(),
            score: (file.score * 100.0 / highest).round() as u32,
            why: file
                .why
                .iter()
                .take(3)
                .map(|(_, evidence)| *evidence)
                .collect(),
        })
        .collect()
}

/// Lists definitions that fit the question, else the exported ones of the first files.
fn symbols(ground: &Ground<'_>, ranking: &Ranking, query: &Query) -> Listing<FocusSymbol> {
    let mut found: Vec<(f64, usize, &Definition)> = Vec::new();
    for (place, file) in ranking.files.iter().enumerate() {
        let definitions = ranking.definitions.get(&file.number).into_iter().flatten();
        for definition in definitions {
            let score = if query.terms.is_empty() {
                f64::from(u8::from(definition.exported))
            } else {
                rank::fit(query, &definition.name) * file.score
            };
            if score > 0.0 {
                found.push((score, place, definition));
            }
        }
    }
    found.sort_by(|one, other| {
        other
            .0
            .total_cmp(&one.0)
            .then((one.1, one.2.line).cmp(&(other.1, other.2.line)))
    });
    let symbols = found
        .into_iter()
        .map(|(_, place, definition)| FocusSymbol {
            name: definition.name.clone(),
            kind: definition.kind,
            path: ground.tree.files[ranking.files[place].number].path.clone(),
            line: definition.line,
        })
        .collect();
    Listing::bounded(symbols, MAX_SYMBOLS)
}

fn parts(ground: &Ground<'_>, ranked: &[Ranked]) -> Listing<FocusPart> {
    let mut folders: BTreeMap<&str, (f64, u32)> = BTreeMap::new();
    for file in ranked {
        let folder = match folder_of(&ground.tree.files[file.number].path) {
            "" => ".",
            folder => folder,
        };
        let (score, files) = folders.entry(folder).or_default();
        *score += file.score;
        *files += 1;
    }
    let mut parts: Vec<(&str, (f64, u32))> = folders.into_iter().collect();
    parts.sort_by(|one, other| other.1.0.total_cmp(&one.1.0).then(one.0.cmp(other.0)));
    let parts = parts
        .into_iter()
        .map(|(folder, (_, files))| FocusPart {
            folder: folder.to_owned(),
            files,
        })
        .collect();
    Listing::bounded(parts, MAX_PARTS)
}

fn commits_of(
    ground: &Ground<'_>,
    ranking: &Ranking,
    inside: &[usize],
    core: &[usize],
    has_query: bool,
) -> Listing<FocusCommit> {
    let commits = &ground.recent.commits;
    let touches = |number: usize, files: &HashSet<usize>| {
        commits[number]
            .files
            .iter()
            .any(|file| files.contains(file))
    };
    let inside: HashSet<usize> = inside.iter().copied().collect();
    let core: HashSet<usize> = core.iter().copied().collect();
    let numbers: Vec<usize> = if ranking.commits.is_empty() {
        // Where no subject has a word of the question, the commits of the files that fit it are about it, if any.
        let files = if has_query { &core } else { &inside };
        (0..commits.len())
            .filter(|&number| touches(number, files))
            .collect()
    } else {
        let of_files = ranking
            .commits
            .iter()
            .filter(|(_, number)| touches(*number, &inside));
        of_files.map(|(_, number)| *number).collect()
    };
    let total = numbers.len();
    Listing {
        items: numbers
            .into_iter()
            .take(MAX_COMMITS)
            .map(|number| FocusCommit {
                id: commits[number].id.clone(),
                date: date(commits[number].time),
                subject: commits[number].subject.clone(),
            })
            .collect(),
        omitted: total.saturating_sub(MAX_COMMITS) as u64,
    }
}

fn owners(ground: &Ground<'_>, core: &[usize]) -> Listing<FocusOwner> {
    let since = now() - YEAR;
    let mut commits: HashMap<&str, u32> = HashMap::new();
    for commit in ground
        .recent
        .commits
        .iter()
        .filter(|commit| commit.time >= since)
    {
        let is_bot = commit.author.ends_with("[bot]") || commit.author.ends_with("-bot");
        if !is_bot && commit.files.iter().any(|file| core.contains(file)) {
            *commits.entry(&commit.author).or_default() += 1;
        }
    }
    let mut owners: Vec<FocusOwner> = commits
        .into_iter()
        .filter(|(_, commits)| *commits >= MIN_COMMITS)
        .map(|(name, commits)| FocusOwner {
            name: name.to_owned(),
            commits,
        })
        .collect();
    owners.sort_by(|one, other| {
        other
            .commits
            .cmp(&one.commits)
            .then_with(|| one.name.cmp(&other.name))
    });
    Listing::bounded(owners, MAX_OWNERS)
}

fn together(ground: &Ground<'_>, ranked: &[Ranked], core: &[usize]) -> Listing<ChangedTogether> {
    let listed: HashSet<usize> = ranked
        .iter()
        .take(2 * CORE)
        .map(|file| file.number)
        .collect();
    let mut counts: HashMap<usize, u32> = HashMap::new();
    for commit in &ground.recent.commits {
        if commit.files.iter().any(|file| core.contains(file)) {
            for &file in commit.files.iter().filter(|file| !listed.contains(file)) {
                *counts.entry(file).or_default() += 1;
            }
        }
    }
    let mut files: Vec<ChangedTogether> = counts
        .into_iter()
        .filter(|(number, commits)| *commits > 1 && ground.is_production(*number))
        .map(|(number, commits)| ChangedTogether {
            path: ground.tree.files[number].path.clone(),
            commits,
        })
        .collect();
    files.sort_by(|one, other| {
        other
            .commits
            .cmp(&one.commits)
            .then_with(|| one.path.cmp(&other.path))
    });
    Listing::bounded(files, MAX_TOGETHER)
}
