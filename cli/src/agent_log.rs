//! Log files in the state folder: one per agent, plus `phases.log`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use shared::config::Environment;
use shared::file::make_private_folder;
use shared::model::Timestamp;
use shared::model::secrets::without_secrets;

use crate::text::harmless;

/// Opens a log for appending; it and its folder are created with private modes.
pub(crate) fn open_log(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        make_private_folder(folder)?;
    }
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
}

/// Appends a warning of a hook to a log. Errors are ignored: a hook must not fail because of its log.
pub(crate) fn log_problem(environment: &Environment, name: &str, problem: &str) {
    let Ok(folder) = environment.state_dir() else {
        return;
    };
    let file = open_log(&folder.join("logs").join(format!("{name}.log")));
    if let Ok(mut file) = file {
        let problem = harmless(&without_secrets(problem));
        let _ = writeln!(file, "{}  WARN hook: {problem}", Timestamp::now());
    }
}
