//! The database file: who may create one, and what is refused (damaged, empty, foreign, newer).
//!
//! Whoever opens the database holds a lock that is shared; whoever puts a file in its place, a new one or a backup,
//! holds it alone. So nobody opens a database with the log of another, and a new database gets its name when it is
//! whole: an empty file of that name is never one that is just being made.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rusqlite::{Connection, OpenFlags, ffi};

use super::busy::{BUSY_TIMEOUT, pause};
use super::file_names::beside;
use super::{StoreError, schema};
use crate::{fault, file};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    Shared,
    Alone,
}

/// Locks the place until the file is dropped. None: the folder can't be written, so nobody changes what is there.
pub(super) fn hold(database: &Path, how: Hold) -> Result<Option<File>, StoreError> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false).mode(0o600);
    let Ok(lock) = options.open(beside(database, "-lock")) else {
        return Ok(None);
    };
    let began = Instant::now();
    loop {
        let locked = match how {
            Hold::Shared => lock.try_lock_shared(),
            Hold::Alone => lock.try_lock(),
        };
        match locked {
            Ok(()) => return Ok(Some(lock)),
            Err(TryLockError::WouldBlock) if began.elapsed() < BUSY_TIMEOUT => pause(),
            Err(TryLockError::WouldBlock) => {
                let busy = ffi::Error::new(ffi::SQLITE_BUSY);
                return Err(rusqlite::Error::SqliteFailure(busy, None).into());
            }
            // A file system without locks.
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
}

/// Makes the database if there is none, and refuses what can't be one; returns the lock to open it under.
pub(super) fn prepare(database: &Path) -> Result<Option<File>, StoreError> {
    let mut held = hold(database, Hold::Shared)?;
    if is_missing(database) {
        drop(held);
        make(database)?;
        held = hold(database, Hold::Shared)?;
    }
    let path = || database.to_owned();
    match std::fs::metadata(database) {
        Ok(found) if found.is_dir() => Err(StoreError::NotAFile { path: path() }),
        // SQLite would take it for a new database, and delete its log.
        Ok(found) if found.is_file() && found.len() == 0 => {
            Err(StoreError::Emptied { path: path() })
        }
        // What else there is to say SQLite says.
        Ok(_) | Err(_) => Ok(held),
    }
}

fn make(database: &Path) -> Result<(), StoreError> {
    let _held = hold(database, Hold::Alone)?;
    if !is_missing(database) {
        return Ok(());
    }
    if has_log(database) {
        return Err(StoreError::LogAlone {
            path: database.to_owned(),
        });
    }
    let aside = beside(database, "-new");
    make_aside(&aside)?;
    publish(&aside, database, false).map(drop)
}

/// Makes a new database under another name, on disk and without companions.
pub(super) fn make_aside(aside: &Path) -> Result<(), StoreError> {
    clear(aside)?;
    let connection = Connection::open_with_flags(
        aside,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    connection.execute_batch(schema::SCHEMA)?;
    connection.execute_batch("COMMIT")?;
    Ok(())
}

/// Makes an empty private file for a database that is not whole yet; what an earlier attempt left there goes.
pub(super) fn clear(aside: &Path) -> Result<(), StoreError> {
    for left in [
        aside.to_owned(),
        beside(aside, "-journal"),
        beside(aside, "-wal"),
    ] {
        // One that is not there is what is wanted.
        let _ = std::fs::remove_file(left);
    }
    file::create_private(aside)
        .map(drop)
        .map_err(|source| StoreError::file("write", aside, source))
}

/// Gives a whole database its name; false if there is one of that name and it must stay.
pub(super) fn publish(aside: &Path, name: &Path, replace: bool) -> Result<bool, StoreError> {
    let failed = |source| StoreError::file("write", name, source);
    let synced = File::open(aside).and_then(|file| file.sync_all());
    synced.map_err(failed)?;
    fault::before("naming a database").map_err(failed)?;
    let named = if replace {
        std::fs::rename(aside, name)
    } else {
        link(aside, name)
    };
    match named {
        Ok(()) => {}
        Err(error) if !replace && error.kind() == ErrorKind::AlreadyExists => {
            let _ = std::fs::remove_file(aside);
            return Ok(false);
        }
        Err(error) => return Err(failed(error)),
    }
    fault::after("naming a database");
    // The name lasts when the folder is on disk.
    let folder = name
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
    Ok(true)
}

/// Renames without replacing anything.
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    match std::fs::hard_link(from, to) {
        Ok(()) => std::fs::remove_file(from),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
        // A file system without links.
        Err(_) if to.symlink_metadata().is_err() => std::fs::rename(from, to),
        Err(_) => Err(ErrorKind::AlreadyExists.into()),
    }
}

/// Keeps the files of a database under a name that is free, and returns that name. The database keeps its own name as
/// well until another gets it, so that there is one at any moment.
pub(super) fn set_aside(database: &Path, stamp: &str) -> Result<PathBuf, StoreError> {
    let mut number = 1;
    let aside = loop {
        let suffix = match number {
            1 => format!("-set-aside-{stamp}"),
            number => format!("-set-aside-{stamp}-{number}"),
        };
        let aside = beside(database, &suffix);
        let kept = if database.is_dir() {
            std::fs::rename(database, &aside)
        } else {
            std::fs::hard_link(database, &aside)
        };
        match kept {
            Ok(()) => break aside,
            Err(_) if aside.symlink_metadata().is_ok() => number += 1,
            // It has lost its database, or the file system has no links.
            Err(_) => match std::fs::rename(database, &aside) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(StoreError::file("rename", database, error));
                }
                Ok(()) | Err(_) => break aside,
            },
        }
    };
    fault::after("keeping a database under another name");
    let log = beside(database, "-wal");
    if has_log(database) {
        let kept = std::fs::rename(&log, beside(&aside, "-wal"));
        kept.map_err(|source| StoreError::file("rename", &log, source))?;
    } else {
        let _ = std::fs::remove_file(&log);
    }
    fault::after("keeping a log under another name");
    // An index of the log; SQLite makes it again.
    let _ = std::fs::remove_file(beside(database, "-shm"));
    Ok(aside)
}

fn is_missing(path: &Path) -> bool {
    let found = path.symlink_metadata();
    found.is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// Tells whether there is a log with something in it.
pub(super) fn has_log(database: &Path) -> bool {
    std::fs::metadata(beside(database, "-wal")).is_ok_and(|log| log.len() > 0)
}
