//! Repositories with known answers, one file per ecosystem.

mod cargo;
mod dotnet_php_ruby;
mod go;
mod hostile;
mod jvm;
mod licences;
mod npm;
mod pypi;
mod summary;
mod usage;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::*;
use crate::report::dependencies::*;
use crate::{Report as _, summarise};

/// A repository in a folder of its own.
pub(super) struct Repository {
    pub(super) folder: TempDir,
}

impl Repository {
    pub(super) fn with(files: &[(&str, &str)]) -> Self {
        let repository = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for (path, text) in files {
            repository.write(path, text);
        }
        repository
    }

    pub(super) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn report(&self, depth: Depth) -> DependencyReport {
        dependencies(
            self.folder.path(),
            depth,
            &PackageCaches::default(),
            &patient(),
        )
        .unwrap()
    }
}

pub(super) fn patient() -> Budget {
    let deadline = Instant::now() + Duration::from_mins(2);
    Budget::new(Arc::new(AtomicBool::new(false)), deadline, Arc::new(|_| {}))
}

/// Finds a direct dependency by name.
pub(super) fn direct<'a>(report: &'a DependencyReport, name: &str) -> &'a Direct {
    let found: Vec<&Direct> = report
        .direct
        .iter()
        .filter(|each| each.name == name)
        .collect();
    assert_eq!(found.len(), 1, "{name} in {:#?}", report.direct);
    found[0]
}

/// Writes what matters of a dependency in one line.
pub(super) fn line(report: &DependencyReport, name: &str) -> String {
    let each = direct(report, name);
    format!(
        "{} {} -> {} {:?} {:?} {}",
        each.name,
        each.requirement.as_deref().unwrap_or("-"),
        each.locked.as_deref().unwrap_or("-"),
        each.kind,
        each.origin,
        each.places
            .iter()
            .map(|place| format!("{}:{}", place.manifest, place.line.unwrap_or(0)))
            .collect::<Vec<_>>()
            .join(",")
    )
}

pub(super) fn reason(report: &DependencyReport, name: &str) -> Option<LooseReason> {
    report
        .loose
        .iter()
        .find(|each| each.name == name)
        .map(|each| each.reason)
}

pub(super) fn duplicate<'a>(report: &'a DependencyReport, name: &str) -> &'a Duplicate {
    report
        .duplicates
        .iter()
        .find(|each| each.name == name)
        .unwrap()
}

pub(super) fn unused(report: &DependencyReport) -> Vec<&str> {
    report
        .unused
        .iter()
        .map(|each| each.name.as_str())
        .collect()
}

/// Returns the packages of all lock files.
fn locked(report: &DependencyReport) -> Vec<&Locked> {
    let files = report.locked.iter();
    files.flat_map(|file| &file.packages).collect()
}
