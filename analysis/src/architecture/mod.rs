//! How a repository is built: its parts, its commands, and what depends on what.

mod commands;
mod coupling;
mod fold;
mod graph;
mod identity;
mod packages;
mod reading;
mod resolve;
mod roles;
mod surface;

use std::collections::HashSet;
use std::path::Path;

use super::git::GitFailure;
use super::history::{history_of, usable};
use super::report::architecture::{ArchitectureReport, EntryKind, EntryPoint};
use super::report::{Incomplete, Listing};
use super::tree::classify::Origin;
use super::tree::language::LanguageId;
use super::tree::scan::{self, Reading, Tree};
use super::{AnalysisError, Control, Depth};
use crate::paths::{folder_of, name_of};
use packages::{Found, Sources};

/// Share of the time that the history may take.
const HISTORY_SHARE: f64 = 0.7;

/// Analyses how the repository below a directory is built.
///
/// What can't be found out (no git, time up) is listed as incomplete; only a root that can't be read and
/// cancellation are errors.
pub fn architecture(
    root: &Path,
    depth: Depth,
    control: &Control,
) -> Result<ArchitectureReport, AnalysisError> {
    control.report(0.0, "reading files");
    let reading = if depth == Depth::Shallow {
        Reading::Names
    } else {
        Reading::Sources
    };
    let (tree, history) = std::thread::scope(|scope| {
        let history = (depth == Depth::Deep).then(|| {
            let control = control.with_share(HISTORY_SHARE);
            scope.spawn(move || history_of(root, None, &control))
        });
        let tree = scan::scan(root, reading, control, (0.0, 0.5));
        let history = history.map(|thread| thread.join().unwrap_or(Err(GitFailure::Unexpected)));
        (tree, history)
    });
    let tree = tree?;
    control.check()?;
    let mut incomplete = Vec::new();
    if tree.cut {
        incomplete.push(Incomplete::new(
            "files",
            "the time was up before all files were read",
        ));
    }
    control.report(0.6, "reading manifests");
    let sources = Sources { root, tree: &tree };
    let packages = packages::find(sources);
    control.check()?;
    let mut report = ArchitectureReport {
        depth,
        identity: identity::describe(sources, &packages),
        packages: packages
            .iter()
            .map(|found| found.package.clone())
            .collect::<Vec<_>>()
            .into(),
        entry_points: entry_points(&tree, &packages),
        commands: commands::find(sources, &packages),
        folders: roles::find(&tree, &packages),
        graph: None,
        public_surface: None,
        change_coupling: None,
        reading_order: None,
        incomplete: Listing::default(),
    };
    if depth > Depth::Shallow {
        control.report(0.7, "following imports");
        let files = resolve::resolve(sources, &packages, control)?;
        control.check()?;
        let folding = fold::fold(&tree, &files.files, &packages, control);
        control.check()?;
        report.graph = Some(graph::report(&tree, &files, &folding));
        control.check()?;
        report.public_surface = Some(surface::report(&tree, &files, &folding));
        control.check()?;
        if depth == Depth::Deep {
            control.report(0.9, "comparing changes");
            let history = history.and_then(|history| usable(history, &mut incomplete));
            report.change_coupling =
                history.map(|history| coupling::report(&tree, &files, &history, control));
            report.reading_order = Some(reading::report(&report));
        }
    }
    control.check()?;
    report.incomplete = incomplete.into();
    control.report(1.0, "done");
    Ok(report)
}

/// Collects where programs start: what manifests name, then what the code shows.
fn entry_points(tree: &Tree, packages: &[Found]) -> Listing<EntryPoint> {
    let mut entries: Vec<EntryPoint> = packages
        .iter()
        .flat_map(|package| package.entry_points.iter().cloned())
        .collect();
    let named: HashSet<String> = entries.iter().map(|entry| entry.path.clone()).collect();
    for file in tree
        .files
        .iter()
        .filter(|file| file.origin == Origin::Own && !file.is_test)
    {
        let name = name_of(&file.path);
        let language = file.language().map_or("", LanguageId::name);
        let by_name = matches!(name, "__main__.py" | "manage.py" | "wsgi.py" | "asgi.py");
        let by_code =
            file.source.as_ref().is_some_and(|facts| facts.has_main) && language != "Rust";
        if (by_name || by_code) && !named.contains(&file.path) {
            let folder = name_of(folder_of(&file.path));
            let stem = name.split('.').next().unwrap_or(name);
            let label = if matches!(stem, "main" | "__main__") && !folder.is_empty() {
                folder
            } else {
                stem
            };
            let kind = if language == "Python" {
                EntryKind::Script
            } else {
                EntryKind::Binary
            };
            entries.push(EntryPoint {
                name: label.to_owned(),
                kind,
                path: file.path.clone(),
                basis: if by_code {
                    "main in the code"
                } else {
                    "convention"
                }
                .to_owned(),
            });
        }
    }
    entries.sort_by(|one, other| {
        let level = |entry: &EntryPoint| entry.path.matches('/').count();
        (one.kind, level(one), &one.path).cmp(&(other.kind, level(other), &other.path))
    });
    entries.into()
}
