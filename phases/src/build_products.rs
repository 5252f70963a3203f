//! Build products: what compilers, test runners and package managers write is never held against the agent.
//!
//! A name alone exempts nothing, because `src/bin` is production code: a folder counts by the mark that its builder left
//! in it, and only if the snapshot has no files there. Beside that, what appeared while a check of ours ran is exempt.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::Phases;
use shared::error::Error;
use shared::file;
use shared::git::{Changed, Snapshot};
use shared::model::{Alteration, Phase};
use shared::store::PhaseRow;

/// Names of folders for build output, of which a check of ours, or a build under ignore rules from before, may make some.
const BUILD_FOLDERS: [&str; 25] = [
    "target",
    "node_modules",
    "dist",
    "build",
    "out",
    "bin",
    "obj",
    ".venv",
    "venv",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".gradle",
    ".next",
    "coverage",
    "htmlcov",
    ".nyc_output",
    "test-results",
    "_build",
    "deps",
    ".tox",
    ".cache",
    ".vite",
    "Testing",
];
/// Below these, nothing counts as build output by its name.
const SOURCES: [&str; 6] = ["src", "app", "lib", "include", "Sources", "priv"];
/// <https://bford.info/cachedir/>
const CACHE_SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";
/// What a coverage report of a JavaScript or Python runner always has.
const COVERAGE: [&str; 5] = [
    "lcov.info",
    "clover.xml",
    "coverage-final.json",
    "prettify.js",
    "coverage_html.js",
];
/// `target-x86`, `cmake-build-debug`, `env3.12`
const OUTPUT_BEGINS: [&str; 4] = ["target", "build", "cmake-build", "env"];
const MAX_MARK_BYTES: u64 = 1 << 20;
const MAX_ENTRIES: usize = 2_000;

/// What counts as built in a worktree.
pub(super) struct Products<'s> {
    snapshot: &'s Snapshot,
    worktree: PathBuf,
    /// Appeared while a check of ours ran.
    made: BTreeSet<PathBuf>,
    /// What git ignores is decided by the same rules as when the phase began.
    same_rules: bool,
    folders: BTreeMap<PathBuf, bool>,
}

impl<'s> Products<'s> {
    pub(super) async fn of(
        phases: &Phases,
        row: &PhaseRow,
        snapshot: &'s Snapshot,
    ) -> Result<Self, Error> {
        Ok(Self {
            snapshot,
            worktree: row.worktree.clone(),
            made: made(phases, row),
            same_rules: snapshot.has_same_ignore_rules().await?,
            folders: BTreeMap::new(),
        })
    }

    /// Returns whether a change is what a build has written.
    pub(super) async fn has(&mut self, change: &Changed) -> Result<bool, Error> {
        if !matches!(change.how, Alteration::Added | Alteration::Ignored) {
            return Ok(false);
        }
        if self.made.contains(&change.path) {
            return Ok(true);
        }
        if change.how == Alteration::Ignored && self.same_rules && is_named_like_one(&change.path) {
            return Ok(true);
        }
        // A folder that git lists as a whole is one itself.
        let whole = self.worktree.join(&change.path).is_dir();
        let folders: Vec<PathBuf> = change
            .path
            .ancestors()
            .skip(usize::from(!whole))
            .filter(|folder| !folder.as_os_str().is_empty())
            .map(Path::to_owned)
            .collect();
        for folder in folders {
            let known = self.folders.get(&folder).copied();
            let built = match known {
                Some(built) => built,
                None => {
                    is_marked(&self.worktree, &folder)
                        && !self.snapshot.has_files_in(&folder).await?
                }
            };
            self.folders.insert(folder, built);
            if built {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn is_named_like_one(path: &Path) -> bool {
    let mut parts = path.iter().filter_map(|part| part.to_str());
    let found = parts.find(|part| BUILD_FOLDERS.contains(part) || SOURCES.contains(part));
    found.is_some_and(|part| BUILD_FOLDERS.contains(&part))
}

/// Returns whether a builder has left its mark in a folder.
fn is_marked(worktree: &Path, relative: &Path) -> bool {
    let folder = worktree.join(relative);
    let name = relative.file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    let has = |name: &str| folder.join(name).is_file();
    match name {
        "node_modules" => return true,
        "__pycache__" => return has_only_compiled(&folder),
        "coverage" | "htmlcov" | "lcov-report" if COVERAGE.iter().any(|name| has(name)) => {
            return true;
        }
        _ => {}
    }
    // A mark is easily made: code is not looked for in a folder with such a name.
    let is_apart = name.starts_with('.')
        || BUILD_FOLDERS.contains(&name)
        || OUTPUT_BEGINS.iter().any(|begin| name.starts_with(begin));
    let below_sources = relative
        .iter()
        .any(|part| SOURCES.iter().any(|source| part == *source));
    let tag = || file::read(&folder.join("CACHEDIR.TAG"), MAX_MARK_BYTES);
    is_apart
        && !below_sources
        && (has("pyvenv.cfg")
            || has("CMakeCache.txt")
            || tag().is_ok_and(|tag| tag.starts_with(CACHE_SIGNATURE)))
}

fn has_only_compiled(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return false;
    };
    entries
        .take(MAX_ENTRIES)
        .filter_map(Result::ok)
        .all(|entry| {
            // While it writes, Python adds a number: `a.cpython-312.pyc.140…`.
            let name = entry.file_name();
            let is_compiled = name.to_str().is_some_and(|name| name.contains(".pyc"));
            is_compiled && entry.file_type().is_ok_and(|kind| kind.is_file())
        })
}

fn place(phases: &Phases, row: &PhaseRow) -> PathBuf {
    phases.snapshot_folder(row).join("made")
}

fn made(phases: &Phases, row: &PhaseRow) -> BTreeSet<PathBuf> {
    let text = std::fs::read(place(phases, row)).unwrap_or_default();
    text.split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(|path| PathBuf::from(std::ffi::OsString::from_vec(path.to_vec())))
        .collect()
}

/// Returns what is new before a check of ours. Nothing where new files are no violations, or if it can't be known.
pub(super) async fn before_check(phases: &Phases, row: &PhaseRow) -> Option<BTreeSet<PathBuf>> {
    if !matches!(row.phase, Phase::Interfaces | Phase::Tests) {
        return None;
    }
    new_files(phases, row).await
}

async fn new_files(phases: &Phases, row: &PhaseRow) -> Option<BTreeSet<PathBuf>> {
    let changes = phases.snapshot(row).changes().await.ok()?;
    let new = changes
        .into_iter()
        .filter(|change| matches!(change.how, Alteration::Added | Alteration::Ignored))
        .map(|change| change.path);
    Some(new.collect())
}

/// Records what appeared while a check of ours ran. What looks like a source file outside of a folder for build output
/// may have come from a command in the background.
pub(super) async fn after_check(
    phases: &Phases,
    row: &PhaseRow,
    before: Option<BTreeSet<PathBuf>>,
) {
    let Some(before) = before else {
        return;
    };
    let Some(after) = new_files(phases, row).await else {
        return;
    };
    let known = made(phases, row);
    let count = known.len();
    let fresh = after
        .into_iter()
        .filter(|path| !before.contains(path) && is_named_like_one(path));
    let all: BTreeSet<PathBuf> = known.into_iter().chain(fresh).collect();
    if all.len() == count {
        return;
    }
    let mut text = Vec::new();
    for path in all {
        text.extend_from_slice(path.as_os_str().as_bytes());
        text.push(0);
    }
    // Without the record they count as the agent's, who is told.
    let _ = std::fs::write(place(phases, row), text);
}
