//! Python: `pyproject.toml`, `requirements*.txt`, `setup.cfg`, `Pipfile` and their lock files.

mod locks;
mod pyproject;
mod requirement;
mod requirements;
mod setup_cfg;

use super::facts::Reader;
use crate::paths::name_of;
use crate::{AnalysisError, Incomplete};

pub(super) use locks::{lock, pipfile_lock};
pub(super) use pyproject::{manifest as pyproject, pipfile};
#[cfg(test)]
pub(super) use requirements::parse as requirements;
pub(super) use setup_cfg::manifest as setup_cfg;

/// Reads all manifests and lock files of Python.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<(), AnalysisError> {
    for path in reader.files(&["pyproject.toml"]) {
        let first = reader.manifests.len();
        reader.manifest(&path, pyproject)?;
        // Many repositories hold nothing but tool settings in it.
        if reader
            .manifests
            .get(first)
            .is_some_and(|found| found.package.is_none() && found.declared.is_empty())
        {
            reader.manifests.truncate(first);
        }
    }
    for path in reader.files(&["Pipfile"]) {
        reader.manifest(&path, pipfile)?;
    }
    for path in reader.files(&["setup.cfg"]) {
        let first = reader.manifests.len();
        reader.manifest(&path, setup_cfg)?;
        if reader
            .manifests
            .get(first)
            .is_some_and(|found| found.package.is_none() && found.declared.is_empty())
        {
            reader.manifests.truncate(first);
        }
    }
    requirements::read(reader)?;
    for path in reader.files(&["poetry.lock", "uv.lock", "pdm.lock"]) {
        reader.lock(&path, lock)?;
    }
    for path in reader.files(&["Pipfile.lock"]) {
        reader.lock(&path, pipfile_lock)?;
    }
    for path in reader.files(&["setup.py"]) {
        let text = reader.listing.text(&path, 1 << 20).unwrap_or_default();
        if text.contains("install_requires") {
            let why = "dependencies in Python code are not read";
            reader.incomplete.push(Incomplete::new(&path, why));
        }
    }
    Ok(())
}

/// Returns whether a file may list requirements, by its name; pages about requirements have such names too.
fn is_requirements(path: &str) -> bool {
    let name = name_of(path);
    let Some(stem) = name
        .strip_suffix(".txt")
        .or_else(|| name.strip_suffix(".in"))
    else {
        return false;
    };
    let in_folder = path.rsplit('/').skip(1).any(|part| part == "requirements");
    stem.starts_with("requirements")
        || stem.ends_with("requirements")
        || in_folder
        || is_constraints(path)
}

/// Returns whether a file bounds what others ask for, and asks for nothing itself.
fn is_constraints(path: &str) -> bool {
    let name = name_of(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem.starts_with("constraints") || stem.ends_with("constraints")
}
