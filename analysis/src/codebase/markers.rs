//! TODO and FIXME markers with their ages, from `git blame`.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use crate::git::{self, GitFailure};
use crate::history::History;
use crate::history::blame::{self, BlameRequest};
use crate::history::churn::FileChurn;
use crate::history::date::{days_between, now};
use crate::report::codebase::{Age, AgeBasis, Marker, MarkerKind, MarkersReport};
use crate::report::{Incomplete, Listing};
use crate::tree::working_tree::{Tree, TreeFile};
use crate::{Budget, Depth};

/// Most markers kept in the complete report.
const MAX_MARKERS: usize = 5_000;

/// How many files `git blame` is asked about, and how long that may take.
const fn blame_bounds(depth: Depth) -> (usize, Duration) {
    match depth {
        Depth::Shallow => (0, Duration::ZERO),
        Depth::Medium => (24, Duration::from_millis(400)),
        Depth::Deep => (300, Duration::from_secs(8)),
    }
}

/// Writes the report on markers.
pub(super) fn report(
    root: &Path,
    tree: &Tree,
    past: Option<(&History, &[FileChurn])>,
    depth: Depth,
    budget: &Budget,
    incomplete: &mut Vec<Incomplete>,
) -> MarkersReport {
    let mut files: Vec<&TreeFile> = tree
        .files
        .iter()
        .filter(|file| !file.markers.is_empty())
        .collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.markers.len()));
    let churn_of: HashMap<&str, &FileChurn> =
        past.map_or_else(HashMap::new, |(history, churns)| {
            history
                .paths
                .iter()
                .map(String::as_str)
                .zip(churns)
                .collect()
        });
    let exact = if past.is_some() {
        let is_shallow = past.is_some_and(|(history, _)| history.is_shallow);
        let ages = exact_ages(root, &files, &churn_of, is_shallow, depth, budget);
        git::if_answered(ages).unwrap_or_default()
    } else {
        HashMap::new()
    };
    let now = now();
    let age_of = |path: &str, line: u64| -> Option<Age> {
        past?;
        if let Some(age) = exact.get(&(path, line)) {
            return Some(age.clone());
        }
        if let Some(last) = churn_of.get(path).and_then(|churn| churn.last) {
            return Some(Age {
                days: days_between(last, now),
                basis: AgeBasis::AtLeast,
            });
        }
        // A file that git knows came with a commit that was not read, or is new: nobody can tell.
        let tracked = past.and_then(|(history, _)| history.tracked.as_ref())?;
        (!tracked.contains(path)).then_some(Age {
            days: 0,
            basis: AgeBasis::Uncommitted,
        })
    };
    let mut list: Vec<Marker> = files
        .iter()
        .flat_map(|file| file.markers.iter().map(move |marker| (file, marker)))
        .map(|(file, marker)| Marker {
            kind: marker.kind,
            path: file.path.clone(),
            line: marker.line,
            text: marker.text.clone(),
            age: age_of(&file.path, marker.line),
            more_places: None,
        })
        .collect();
    if past.is_none() && !list.is_empty() {
        incomplete.push(Incomplete::new(
            "markers.list.age",
            "ages come from the history, which is missing",
        ));
    }
    let count = |kind| list.iter().filter(|marker| marker.kind == kind).count() as u64;
    let (todo, fixme, hack, xxx) = (
        count(MarkerKind::Todo),
        count(MarkerKind::Fixme),
        count(MarkerKind::Hack),
        count(MarkerKind::Xxx),
    );
    list.sort_by_cached_key(|marker| {
        let days = marker.age.as_ref().map_or(0, |age| age.days);
        (
            marker.kind == MarkerKind::Todo,
            std::cmp::Reverse(days),
            marker.path.clone(),
            marker.line,
        )
    });
    let list = folded(list);
    MarkersReport {
        todo,
        fixme,
        hack,
        xxx,
        list: Listing::bounded(list, MAX_MARKERS),
    }
}

/// Keeps the first marker of each text and counts the others.
fn folded(list: Vec<Marker>) -> Vec<Marker> {
    let mut kept: Vec<Marker> = Vec::with_capacity(list.len());
    let mut places: HashMap<String, usize> = HashMap::new();
    for marker in list {
        // A bare word is no text that could be the same.
        let says_something = marker.text.split_whitespace().count() > 2;
        if let Some(&first) = places.get(&marker.text).filter(|_| says_something) {
            let more = &mut kept[first].more_places;
            *more = Some(more.unwrap_or(0) + 1);
        } else {
            places.insert(marker.text.clone(), kept.len());
            kept.push(marker);
        }
    }
    kept
}

fn exact_ages<'a>(
    root: &Path,
    files: &[&'a TreeFile],
    churn_of: &HashMap<&str, &FileChurn>,
    is_shallow: bool,
    depth: Depth,
    budget: &Budget,
) -> Result<HashMap<(&'a str, u64), Age>, GitFailure> {
    let (most, time) = blame_bounds(depth);
    let questions: Vec<BlameRequest<'a>> = files
        .iter()
        // Where a file was changed only once, its last change tells as much.
        .filter(|file| {
            churn_of
                .get(file.path.as_str())
                .is_some_and(|churn| churn.commits > 1)
        })
        .take(most)
        .map(|file| BlameRequest {
            path: &file.path,
            lines: file.markers.iter().map(|marker| marker.line).collect(),
        })
        .collect();
    blame::ages(root, &questions, is_shallow, &budget.optional(time))
}
