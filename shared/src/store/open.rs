//! Opening the database: folder, pragmas, schema.

use std::path::Path;
use std::time::Instant;

use rusqlite::{Connection, OpenFlags};

use super::busy::{BUSY_TIMEOUT, pause};
use super::{StoreError, place, schema};
use crate::file;

/// Prepared statements kept; more than the number of different queries one process makes.
const MAX_CACHED_STATEMENTS: usize = 64;

/// Opens the database, making or migrating it if need be.
///
/// Two that open a new one at once both switch it to WAL, and `SQLite` refuses one of them without asking its busy
/// handler: that one begins anew.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    let began = Instant::now();
    loop {
        match open_once(path) {
            Err(StoreError::Busy { .. }) if began.elapsed() < BUSY_TIMEOUT => {
                pause();
            }
            opened => return opened,
        }
    }
}

fn open_once(path: &Path) -> Result<Connection, StoreError> {
    if let Some(folder) = path.parent() {
        file::make_private_folder(folder).map_err(|source| StoreError::Folder {
            path: folder.to_owned(),
            source,
        })?;
    }
    let _held = place::prepare(path)?;
    let mut connection = open_to_watch(path)?;
    // First, so that the pragmas below wait for a busy database too.
    connection.busy_handler(Some(busy_handler_until_timeout()))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.set_prepared_statement_cache_capacity(MAX_CACHED_STATEMENTS);
    connection.pragma_update(None, "foreign_keys", "OFF")?;
    schema::bring_up_to_date(&connection)?;
    connection.pragma_update(None, "foreign_keys", "ON")?;
    Ok(connection)
}

/// Opens a database that exists, as it is.
pub(super) fn open_to_watch(path: &Path) -> Result<Connection, StoreError> {
    Ok(Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?)
}

/// Returns what `SQLite` asks whether to try again, with the number of times it has asked before.
pub(super) fn busy_handler_until_timeout() -> impl FnMut(i32) -> bool + Send + 'static {
    let mut began = Instant::now();
    move |asked| {
        if asked == 0 {
            began = Instant::now();
        }
        if began.elapsed() >= BUSY_TIMEOUT {
            return false;
        }
        pause();
        true
    }
}
