//! Names of the files beside a database: its log, index, lock and wake files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Returns the name of a file that belongs to a database.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}
