//! Affected tests: the test files that a change of some files may break, from imports, names and common changes.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::ground::Ground;
use crate::paths::{folder_of, name_of};
use crate::report::Listing;
use crate::report::focus::{AffectedTest, TestReason};
use crate::symbols::MAX_FILE_SIZE;
use crate::tree::classify::Origin;
use crate::tree::language::LanguageId;
use crate::tree::rust_tests;
use crate::{AnalysisError, Budget};

/// Commits that common changes are looked for in.
const COMMITS: usize = 3_000;

/// Most tests in the list.
const MAX_TESTS: usize = 200;

/// Imports followed from a changed file; a longer chain connects everything.
const MAX_DISTANCE: u32 = 4;

/// Fewer common commits than this may be chance.
const MIN_COMMON_COMMITS: u32 = 2;

/// Names the test files that a change of some files may break, the likeliest first.
///
/// The files are paths from the top of the repository; what is no file of it (any more) affects nothing. Imports say
/// that a test reaches a file, not that it checks what changed, and a test that reaches it by other ways (a started
/// program, reflection) is only found if it has the name or the commits of the file. CPU-bound: call it on a blocking
/// thread.
pub fn affected_tests(
    root: &Path,
    files: &[impl AsRef<str>],
    budget: &Budget,
) -> Result<Listing<AffectedTest>, AnalysisError> {
    let ground = Ground::survey(root, COMMITS, budget, &mut Vec::new())?;
    let changed: Vec<usize> = files
        .iter()
        .filter_map(|file| ground.tree.position(file.as_ref()))
        .collect();
    Ok(tests_of(&ground, &changed))
}

/// Finds the tests of some files of the tree.
pub(super) fn tests_of(ground: &Ground<'_>, changed: &[usize]) -> Listing<AffectedTest> {
    let mut found: HashMap<usize, Vec<(f64, TestReason)>> = HashMap::new();
    let files = &ground.tree.files;
    let is_test = |number: usize| files[number].is_test && ground.is_code(number);
    let mut add = |number: usize, weight: f64, reason: TestReason| {
        let reasons = found.entry(number).or_default();
        match reasons.iter_mut().find(|(_, other)| *other == reason) {
            Some((most, _)) => *most = most.max(weight),
            None => reasons.push((weight, reason)),
        }
    };
    for &file in changed {
        if is_test(file) || has_tests_inside(ground, file) {
            add(file, 2.0, TestReason::Inside);
        }
    }
    for (file, distance) in importers(ground, changed) {
        if is_test(file) {
            let (weight, reason) = match distance {
                1 => (1.0, TestReason::Imports),
                _ => (
                    0.5f64.powi(i32::try_from(distance).unwrap_or(9)),
                    TestReason::ImportsIndirectly,
                ),
            };
            add(file, weight, reason);
        }
    }
    let named: HashSet<(String, Option<&str>)> = changed
        .iter()
        .map(|&file| bare_name_of(ground, file))
        .collect();
    let go_folders: HashSet<&str> = changed
        .iter()
        .filter(|&&file| {
            let language = files[file].language();
            language.is_some_and(|language| language.name() == "Go")
        })
        .map(|&file| folder_of(&files[file].path))
        .collect();
    for number in (0..files.len()).filter(|&number| is_test(number)) {
        if named.contains(&bare_name_of(ground, number)) {
            add(number, 0.9, TestReason::SameName);
        }
        let path = files[number].path.as_str();
        if path.ends_with("_test.go") && go_folders.contains(folder_of(path)) {
            add(number, 0.6, TestReason::SamePackage);
        }
    }
    let (commits, shared) = ground.shared_commits(changed);
    for (&(one, other), &common) in &shared {
        if common >= MIN_COMMON_COMMITS && is_test(other) {
            let all = commits.get(&one).copied().unwrap_or(1).max(1);
            add(
                other,
                f64::from(common) / (f64::from(all) + 2.0),
                TestReason::ChangesTogether,
            );
        }
    }
    let mut tests: Vec<(f64, AffectedTest)> = found
        .into_iter()
        .map(|(number, mut reasons)| {
            reasons.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
            let test = AffectedTest {
                path: files[number].path.clone(),
                why: reasons.iter().map(|(_, reason)| *reason).collect(),
            };
            (reasons.iter().map(|(weight, _)| weight).sum(), test)
        })
        .collect();
    tests.sort_by(|one, other| {
        other
            .0
            .total_cmp(&one.0)
            .then_with(|| one.1.path.cmp(&other.1.path))
    });
    Listing::bounded(tests.into_iter().map(|(_, test)| test).collect(), MAX_TESTS)
}

/// Returns the files that import the changed ones, with the number of imports between.
fn importers(ground: &Ground<'_>, changed: &[usize]) -> HashMap<usize, u32> {
    let mut importers: HashMap<usize, Vec<usize>> = HashMap::new();
    for &(from, to) in &ground.imports {
        importers.entry(to).or_default().push(from);
    }
    let mut distances: HashMap<usize, u32> = changed.iter().map(|&file| (file, 0)).collect();
    let mut front: Vec<usize> = changed.to_vec();
    for distance in 1..=MAX_DISTANCE {
        let mut next = Vec::new();
        for from in front
            .iter()
            .filter_map(|file| importers.get(file))
            .flatten()
        {
            if !distances.contains_key(from) {
                distances.insert(*from, distance);
                next.push(*from);
            }
        }
        front = next;
    }
    distances.retain(|_, distance| *distance > 0);
    distances
}

/// Rust: `#[cfg(test)]` in the file itself.
fn has_tests_inside(ground: &Ground<'_>, number: usize) -> bool {
    let file = &ground.tree.files[number];
    file.origin == Origin::Own
        && file
            .language()
            .is_some_and(|language| language.name() == "Rust")
        && file.read(ground.root, MAX_FILE_SIZE).is_some_and(|bytes| {
            let grammar = file.language().map(LanguageId::grammar);
            grammar.is_some_and(|grammar| !rust_tests::test_ranges(&bytes, grammar).is_empty())
        })
}

/// Returns the name without ending and without what marks a test, and the ending; an ending of several languages
/// (`.ts`, `.tsx`) is left out.
fn bare_name_of<'g>(ground: &'g Ground<'_>, number: usize) -> (String, Option<&'g str>) {
    let name = name_of(&ground.tree.files[number].path);
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let mut stem = stem.to_owned();
    let lower = stem.to_ascii_lowercase();
    for mark in [
        "_tests", "_test", "-test", ".test", ".spec", "_spec", "-spec", "tests", "test",
    ] {
        // `latest` and `contest` are words of their own.
        let is_word = !mark.starts_with('t') || stem.ends_with("Test") || stem.ends_with("Tests");
        if lower.ends_with(mark) && lower.len() > mark.len() && is_word {
            stem.truncate(stem.len() - mark.len());
            break;
        }
    }
    for mark in ["test_", "test-", "Test"] {
        if let Some(rest) = stem.strip_prefix(mark)
            && !rest.is_empty()
        {
            let marked = stem.len() - rest.len();
            stem.drain(..marked);
            break;
        }
    }
    let ending =
        (!matches!(ending, "ts" | "tsx" | "js" | "jsx" | "mjs" | "mts" | "cjs")).then_some(ending);
    (stem, ending)
}
