//! Finds duplicated code (clones).
//!
//! Lines are compared without white space and comments; lines that are nearly empty and imports don't count.
//! Each run of [`WINDOW`] lines is hashed; equal hashes are copies, and copies that go on together are joined.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher as _};
use std::path::Path;

use rayon::prelude::*;

use crate::Budget;
use crate::report::codebase::{CloneSpot, CodeClone, DuplicationReport};
use crate::report::{Incomplete, Listing};
use crate::tree::classify::Origin;
use crate::tree::masking::without_comments;
use crate::tree::scan::MAX_FILE_SIZE;
use crate::tree::syntax::Nature;
use crate::tree::working_tree::{Tree, TreeFile};

/// Lines in a row that make a copy.
const WINDOW: usize = 8;

/// Shorter lines (braces, `else`) are passed over.
const MIN_LINE_LENGTH: usize = 4;

/// Lines compared at most, which bounds the memory to about 100 MB.
const MAX_LINES: usize = 2_500_000;

/// The lines are sorted in this many parts (as a power of two).
const PART_BITS: u32 = 5;

const MAX_REPORTED: usize = 500;
const MAX_SPOTS: usize = 5;

/// The lines of a file that are compared: hash and line number.
type HashedLines = Vec<(u64, u32)>;

/// Finds copies in the production code.
pub(super) fn report(
    root: &Path,
    tree: &Tree,
    budget: &Budget,
    incomplete: &mut Vec<Incomplete>,
) -> DuplicationReport {
    let mut files: Vec<&TreeFile> = tree
        .files
        .iter()
        .filter(|file| {
            file.origin == Origin::Own
                && !file.is_test
                && file.lines.code >= WINDOW as u64
                && file
                    .language()
                    .is_some_and(|language| language.get().nature == Nature::Program)
        })
        .collect();
    let mut lines = 0usize;
    let wanted = files.len();
    files.retain(|file| {
        lines += usize::try_from(file.lines.code).unwrap_or(usize::MAX);
        lines <= MAX_LINES
    });
    if files.len() < wanted {
        incomplete.push(Incomplete::new(
            "duplication",
            format!(
                "only {} of {wanted} files were compared, to bound the memory",
                files.len()
            ),
        ));
    }
    let hashed: Vec<HashedLines> = files
        .par_iter()
        .map(|file| {
            if budget.must_stop() {
                HashedLines::new()
            } else {
                hashed_lines(root, file).unwrap_or_default()
            }
        })
        .collect();
    if budget.must_stop() {
        incomplete.push(Incomplete::new("duplication", "the time limit was reached"));
        return assemble(Vec::new(), 0, 0);
    }
    let compared: usize = hashed.iter().map(Vec::len).sum();
    let (clones, duplicated) = clones(&hashed, &files, budget);
    if budget.must_stop() {
        incomplete.push(Incomplete::new("duplication", "the time limit was reached"));
    }
    assemble(clones, duplicated, compared)
}

#[expect(clippy::cast_precision_loss, reason = "a percentage for people")]
fn assemble(clones: Vec<CodeClone>, duplicated: usize, compared: usize) -> DuplicationReport {
    DuplicationReport {
        duplicated_lines: duplicated as u64,
        percent: (duplicated as f64 * 1_000.0 / compared.max(1) as f64).round() / 10.0,
        clones: Listing::bounded(clones, MAX_REPORTED),
    }
}

fn hashed_lines(root: &Path, file: &TreeFile) -> Option<HashedLines> {
    let bytes = file.read(root, MAX_FILE_SIZE)?;
    let text = without_comments(&bytes, file.language()?.grammar());
    let mut lines = Vec::new();
    let mut squeezed = Vec::new();
    for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
        squeezed.clear();
        squeezed.extend(
            line.iter()
                .copied()
                .filter(|byte| !byte.is_ascii_whitespace()),
        );
        if squeezed.len() < MIN_LINE_LENGTH || is_import(line.trim_ascii_start()) {
            continue;
        }
        let mut hasher = DefaultHasher::new();
        hasher.write(&squeezed);
        lines.push((
            hasher.finish(),
            u32::try_from(number + 1).unwrap_or(u32::MAX),
        ));
    }
    Some(lines)
}

fn is_import(line: &[u8]) -> bool {
    [
        &b"use "[..],
        b"import ",
        b"from ",
        b"#include",
        b"package ",
        b"using ",
        b"pub use ",
    ]
    .iter()
    .any(|word| line.starts_with(word))
}

/// A run of lines: file and first line, by number.
type Spot = (u32, u32);

fn clones(hashed: &[HashedLines], files: &[&TreeFile], budget: &Budget) -> (Vec<CodeClone>, usize) {
    // Sorted in parts, so that a caller who gives up need not wait for the whole.
    let mut parts: Vec<Vec<(u64, Spot)>> = vec![Vec::new(); 1 << PART_BITS];
    for (file, lines) in hashed.iter().enumerate() {
        if budget.must_stop() {
            return (Vec::new(), 0);
        }
        for (start, window) in lines.windows(WINDOW).enumerate() {
            let mut state = DefaultHasher::new();
            for (hash, _) in window {
                state.write_u64(*hash);
            }
            let hash = state.finish();
            let part = &mut parts[usize::try_from(hash >> (64 - PART_BITS)).unwrap_or(0)];
            part.push((hash, (number(file), number(start))));
        }
    }
    let mut spots_of: HashMap<u64, &[(u64, Spot)]> = HashMap::new();
    let mut hash_at: HashMap<Spot, u64> = HashMap::new();
    for part in &mut parts {
        if budget.must_stop() {
            return (Vec::new(), 0);
        }
        part.par_sort_unstable();
        let groups = part.chunk_by(|one, other| one.0 == other.0);
        for group in groups.filter(|group| group.len() > 1) {
            spots_of.insert(group[0].0, group);
            hash_at.extend(group.iter().map(|(hash, spot)| (*spot, *hash)));
        }
    }
    let mut begins: Vec<Spot> = hash_at.keys().copied().collect();
    begins.sort_unstable();
    let mut taken: HashSet<Spot> = HashSet::new();
    let mut covered: Vec<Vec<bool>> = hashed
        .iter()
        .map(|lines| vec![false; lines.len()])
        .collect();
    let mut found = Vec::new();
    for start in begins {
        if taken.contains(&start) || budget.must_stop() {
            continue;
        }
        let Some(group) = hash_at.get(&start).and_then(|hash| spots_of.get(hash)) else {
            continue;
        };
        let spots = apart(group);
        if spots.len() < 2 {
            continue;
        }
        // Windows go on together as long as all copies have the same next window.
        let mut further = 0;
        loop {
            let next = |spot: &Spot| hash_at.get(&(spot.0, spot.1 + further + 1));
            let Some(hash) = next(&spots[0]) else { break };
            if !spots.iter().all(|spot| next(spot) == Some(hash)) {
                break;
            }
            further += 1;
        }
        for spot in &spots {
            for step in 0..=further {
                taken.insert((spot.0, spot.1 + step));
            }
            let lines = &mut covered[spot.0 as usize];
            let end = (spot.1 + further) as usize + WINDOW;
            lines[spot.1 as usize..end].fill(true);
        }
        found.push(clone_of(&spots, further as usize + WINDOW, hashed, files));
    }
    found.sort_by(|one, other| {
        (other.lines * (other.occurrences - 1))
            .cmp(&(one.lines * (one.occurrences - 1)))
            .then_with(|| {
                let key = |clone: &CodeClone| {
                    clone
                        .places
                        .first()
                        .map(|place| (place.path.clone(), place.first_line))
                };
                key(one).cmp(&key(other))
            })
    });
    let duplicated = covered.iter().flatten().filter(|covered| **covered).count();
    (found, duplicated)
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Leaves out spots that overlap the one before: a repetitive table is not a copy of itself.
fn apart(group: &[(u64, Spot)]) -> Vec<Spot> {
    let mut spots: Vec<Spot> = Vec::new();
    for &(_, spot) in group {
        let overlaps = spots
            .last()
            .is_some_and(|last| last.0 == spot.0 && spot.1 - last.1 < number(WINDOW));
        if !overlaps {
            spots.push(spot);
        }
    }
    spots
}

fn clone_of(
    spots: &[Spot],
    length: usize,
    hashed: &[HashedLines],
    files: &[&TreeFile],
) -> CodeClone {
    CodeClone {
        lines: length as u64,
        occurrences: spots.len() as u64,
        places: spots
            .iter()
            .take(MAX_SPOTS)
            .map(|&(file, start)| {
                let lines = &hashed[file as usize];
                CloneSpot {
                    path: files[file as usize].path.clone(),
                    first_line: u64::from(lines[start as usize].1),
                    last_line: u64::from(lines[start as usize + length - 1].1),
                }
            })
            .collect(),
    }
}
