//! Links of a worktree to files outside of it: git compares only where they lead, so what is there is kept and compared.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Phases;
use super::resolve_path::resolve;
use shared::error::{Code, Error};
use shared::file;
use shared::model::{Alteration, FileKind};
use shared::store::{PhaseRow, Violation};

/// Larger files are not compared.
const MAX_BYTES: u64 = 1 << 20;
const MAX_LINKS: usize = 500;

/// One link, relative to the worktree, and the file that it led to.
#[derive(Serialize, Deserialize)]
struct Link {
    path: PathBuf,
    target: PathBuf,
}

fn folder(phases: &Phases, row: &PhaseRow) -> PathBuf {
    phases.snapshot_folder(row).join("links")
}

fn failed(error: &dyn std::fmt::Display) -> Error {
    Error::new(
        Code::Internal,
        format!("cannot keep or restore what links lead to: {error}"),
    )
}

/// Keeps what the links lead to.
pub(super) async fn save(phases: &Phases, row: &PhaseRow) -> Result<(), Error> {
    let folder = folder(phases, row);
    let mut links = Vec::new();
    for path in phases
        .snapshot(row)
        .links()
        .await?
        .into_iter()
        .take(MAX_LINKS)
    {
        let target = resolve(&row.worktree, &path);
        if target.starts_with(&row.worktree) || kind(phases, row, &path)?.is_none() {
            continue;
        }
        let Ok(text) = file::read(&target, MAX_BYTES) else {
            continue;
        };
        file::make_private_folder(&folder).map_err(|error| failed(&error))?;
        std::fs::write(folder.join(links.len().to_string()), text)
            .map_err(|error| failed(&error))?;
        links.push(Link { path, target });
    }
    let list = folder.join("list.json");
    if links.is_empty() && !list.exists() {
        return Ok(());
    }
    let text = serde_json::to_vec(&links).map_err(|error| failed(&error))?;
    std::fs::write(list, text).map_err(|error| failed(&error))
}

fn kind(phases: &Phases, row: &PhaseRow, path: &Path) -> Result<Option<FileKind>, Error> {
    let path = row.worktree.join(path);
    let profile = phases.profile(&row.worktree, &path)?;
    let kind = profile.map(|profile| profile.kind(&path));
    Ok(kind.filter(|kind| matches!(kind, FileKind::Production | FileKind::Test)))
}

/// Returns the links that lead where they led, to something else than was kept, each with its kept copy.
fn differing(phases: &Phases, row: &PhaseRow) -> Vec<(Link, PathBuf)> {
    let folder = folder(phases, row);
    let list = std::fs::read(folder.join("list.json")).unwrap_or_default();
    let links: Vec<Link> = serde_json::from_slice(&list).unwrap_or_default();
    let kept = (0_usize..).map(|number| folder.join(number.to_string()));
    let differs = |(link, kept): &(Link, PathBuf)| {
        resolve(&row.worktree, &link.path) == link.target
            && std::fs::read(kept).ok() != file::read(&link.target, MAX_BYTES).ok()
    };
    links.into_iter().zip(kept).filter(differs).collect()
}

/// Returns the links whose files were changed against the phase.
pub(super) fn changed(phases: &Phases, row: &PhaseRow) -> Result<Vec<Violation>, Error> {
    let mut found = Vec::new();
    for (link, _) in differing(phases, row) {
        if let Some(kind) = kind(phases, row, &link.path)?
            && !row.phase.allows(kind)
        {
            found.push(Violation {
                path: link.path,
                kind,
                how: Alteration::Modified,
            });
        }
    }
    Ok(found)
}

/// Puts back what forbidden changes of links' files have replaced, and keeps that. Returns the links.
pub(super) fn restore(
    phases: &Phases,
    row: &PhaseRow,
    undone: &Path,
) -> Result<Vec<PathBuf>, Error> {
    let forbidden: Vec<PathBuf> = changed(phases, row)?
        .into_iter()
        .map(|violation| violation.path)
        .collect();
    for (link, kept) in differing(phases, row) {
        if !forbidden.contains(&link.path) {
            continue;
        }
        let put_back = || -> std::io::Result<()> {
            if let Ok(present) = file::read(&link.target, MAX_BYTES) {
                let to = undone.join(&link.path);
                file::make_private_folder(to.parent().unwrap_or(undone))?;
                std::fs::write(to, present)?;
            }
            std::fs::write(&link.target, std::fs::read(&kept)?)
        };
        put_back().map_err(|error| failed(&error))?;
    }
    Ok(forbidden)
}
