//! The `SQLite` connection: opened at first use, reopened when another file has taken its name.
//!
//! A database that was deleted, replaced or restored from a backup lives on without a name for those who
//! have it open, and takes their writes with it. So every use compares the files of that name with those that
//! were opened, and a write does so again right before its commit.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, ErrorCode, MAIN_DB};

use super::file_names::beside;
use super::{StoreError, open, plans, wake};
use crate::model::InstanceId;

#[derive(Debug)]
pub(super) struct Database {
    path: PathBuf,
    opened: Mutex<Option<Opened>>,
}

/// An open connection, and the files that it has open.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) connection: Connection,
    pub(super) files: Files,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Read,
    Write,
}

impl Database {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            opened: Mutex::new(None),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Lets somebody use the connection, and gives it up if that shows that it is of no more use.
    pub(super) fn with<T>(
        &self,
        purpose: Purpose,
        work: impl FnOnce(&mut Opened) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut slot = self.lock();
        let worked = self.current(&mut slot, purpose).and_then(work);
        if let Some(opened) = slot.as_ref().filter(|_| worked.is_ok()) {
            plans::check(&opened.connection);
        }
        if worked.as_ref().is_err_and(StoreError::asks_to_reopen) {
            *slot = None;
        }
        worked
    }

    fn current<'s>(
        &self,
        slot: &'s mut Option<Opened>,
        purpose: Purpose,
    ) -> Result<&'s mut Opened, StoreError> {
        let kept = slot.take().and_then(|opened| {
            if opened.files.have_moved() {
                opened.abandon();
                return None;
            }
            // The file may be writable again; a connection that was opened to read stays so.
            let writes = purpose == Purpose::Read
                || !opened.connection.is_readonly(MAIN_DB).unwrap_or(false);
            writes.then_some(opened)
        });
        let opened = match kept {
            Some(opened) => opened,
            None => Opened::open(&self.path)?,
        };
        Ok(slot.insert(opened))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Opened>> {
        // A panic while the lock was held rolled its transaction back; the connection is sound.
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Opened {
    fn open(path: &Path) -> Result<Self, StoreError> {
        let before = Files::at(path);
        let mut connection = open::open(path)?;
        plans::watch(&mut connection);
        let files = Files::at(path);
        if before.database.is_some() && before.database != files.database {
            return Err(StoreError::Moved);
        }
        Ok(Self { connection, files })
    }

    /// Closes the connection to a database that has lost its name.
    ///
    /// Its log would be taken for the log of the database that has the name now. A log that is not
    /// the one we had belongs to the new one.
    fn abandon(self) {
        let files = self.files;
        drop(self.connection);
        if is_other(&files.path, files.database) {
            for (path, known) in [(files.wal_path(), files.wal), (files.shm_path(), files.shm)] {
                if known.is_some() && id(&path) == Ok(known) {
                    // Somebody else was faster: fine.
                    let _ = std::fs::remove_file(path);
                }
            }
        }
    }
}

/// Device and inode; none: there is no such file.
type FileId = Option<(u64, u64)>;

/// The files of a database, by what they are and not by what they are called.
#[derive(Debug, Clone)]
pub(super) struct Files {
    path: PathBuf,
    database: FileId,
    wal: FileId,
    shm: FileId,
}

impl Files {
    pub(super) fn at(path: &Path) -> Self {
        let mut files = Self {
            path: path.to_owned(),
            database: None,
            wal: None,
            shm: None,
        };
        files.database = id(path).unwrap_or(None);
        files.wal = id(&files.wal_path()).unwrap_or(None);
        files.shm = id(&files.shm_path()).unwrap_or(None);
        files
    }

    /// Tells whether the names stand for other files by now, or for none.
    pub(super) fn have_moved(&self) -> bool {
        is_other(&self.path, self.database)
            || (self.wal.is_some() && is_other(&self.wal_path(), self.wal))
            || (self.shm.is_some() && is_other(&self.shm_path(), self.shm))
    }

    /// Wakes whoever delivers to an agent.
    pub(super) fn wake(&self, instance: &InstanceId) {
        wake::wake(&self.path, instance);
    }

    fn wal_path(&self) -> PathBuf {
        beside(&self.path, "-wal")
    }

    fn shm_path(&self) -> PathBuf {
        beside(&self.path, "-shm")
    }
}

fn id(path: &Path) -> Result<FileId, ()> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(Some((metadata.dev(), metadata.ino()))),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        // Nobody can tell.
        Err(_) => Err(()),
    }
}

fn is_other(path: &Path, known: FileId) -> bool {
    id(path).is_ok_and(|now| now != known)
}

impl StoreError {
    /// Tells whether a connection that failed so can't be expected to work again.
    pub(super) fn asks_to_reopen(&self) -> bool {
        matches!(self, Self::Moved)
            || self.sqlite().is_some_and(|error| {
                matches!(
                    error.code,
                    ErrorCode::ReadOnly
                        | ErrorCode::PermissionDenied
                        | ErrorCode::CannotOpen
                        | ErrorCode::SystemIoFailure
                        | ErrorCode::DatabaseCorrupt
                        | ErrorCode::NotADatabase
                )
            })
    }
}
