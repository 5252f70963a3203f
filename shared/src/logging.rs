//! Logs: to standard error and to a file. Standard output is the protocol's.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::Environment;
use crate::model::secrets::without_secrets;

/// Starts logging; `CODEX_LOG` takes a level or `target=level,…`.
pub fn start(environment: &Environment, server: &str) {
    let filter = environment
        .log_filter()
        .and_then(|filter| filter.parse::<Targets>().ok())
        .unwrap_or_else(|| Targets::new().with_default(tracing::Level::WARN));
    let name = match environment.instance_id() {
        Ok(Some(id)) => format!("{id}.log"),
        Ok(None) | Err(_) => format!("{server}.log"),
    };
    let path = environment
        .state_dir()
        .ok()
        .map(|folder| folder.join("logs").join(name));
    let writer = Writer(Arc::new(Mutex::new(Lazy { path, file: None })));
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(writer);
    // A second start in one process (tests) keeps the first.
    let _ = tracing_subscriber::registry()
        .with(lines)
        .with(filter)
        .try_init();
}

/// A file that is made at the first line, so that a silent server leaves none.
#[derive(Debug)]
struct Lazy {
    path: Option<PathBuf>,
    file: Option<File>,
}

impl Lazy {
    fn append(&mut self, bytes: &[u8]) {
        if self.file.is_none() {
            self.file = self.path.take().and_then(open);
        }
        if let Some(file) = &mut self.file {
            // A log that can't be written is no reason to fail.
            let _ = file.write_all(bytes);
        }
    }
}

fn open(path: PathBuf) -> Option<File> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path.parent()?)
        .ok()?;
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
        .ok()
}

#[derive(Debug, Clone)]
struct Writer(Arc<Mutex<Lazy>>);

impl Write for Writer {
    /// Takes one whole line.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = String::from_utf8_lossy(bytes);
        let line = without_secrets(&line);
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .append(line.as_bytes());
        // The same for a standard error that nobody reads any more.
        let _ = io::stderr().write_all(line.as_bytes());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Writer {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}
