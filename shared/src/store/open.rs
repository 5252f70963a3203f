//! Opening the database: folder, pragmas, schema.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::{StoreError, schema};

/// How long a writer waits for another. Writers hold the lock for microseconds; this is for a
/// machine that stalls.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Prepared statements kept; more than the number of different queries one process makes.
const STATEMENT_CACHE: usize = 64;

pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    if let Some(folder) = path.parent() {
        make_private_folder(folder)?;
    }
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    // First, so that the pragmas below wait for a busy database too.
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    connection.pragma_update(None, "foreign_keys", "OFF")?;
    schema::bring_up_to_date(&connection)?;
    connection.pragma_update(None, "foreign_keys", "ON")?;
    Ok(connection)
}

/// Makes the folder for the user alone; one that exists is left as it is.
fn make_private_folder(folder: &Path) -> Result<(), StoreError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|source| StoreError::Folder {
            path: folder.to_owned(),
            source,
        })
}
