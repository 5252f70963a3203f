//! Opening the database: folder, pragmas, schema.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OpenFlags};

use super::{StoreError, place, schema};
use crate::file;

/// How long a writer waits for others. Each holds the lock for a fraction of a millisecond; this is
/// for many at once, and for a machine that stalls.
pub(super) const BUSY_LIMIT: Duration = Duration::from_secs(30);
/// A waiting writer tries again after 1 to 10 ms. `SQLite`'s own steps grow to 100 ms, in which
/// dozens of others overtake it.
const SHORTEST_STEP: Duration = Duration::from_millis(1);
const JITTER_MICROSECONDS: u32 = 9_000;
/// Prepared statements kept; more than the number of different queries one process makes.
const STATEMENT_CACHE: usize = 64;

/// Opens the database, making or migrating it if need be.
///
/// Two that open a new one at once both switch it to WAL, and `SQLite` refuses one of them without asking its busy
/// handler: that one begins anew.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    let began = Instant::now();
    loop {
        match open_once(path) {
            Err(StoreError::Busy { .. }) if began.elapsed() < BUSY_LIMIT => {
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
    connection.busy_handler(Some(patience()))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
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
pub(super) fn patience() -> impl FnMut(i32) -> bool + Send + 'static {
    let mut began = Instant::now();
    move |asked| {
        if asked == 0 {
            began = Instant::now();
        }
        if began.elapsed() >= BUSY_LIMIT {
            return false;
        }
        pause();
        true
    }
}

/// Waits for a moment before trying again.
pub(super) fn pause() {
    std::thread::sleep(SHORTEST_STEP + jitter());
}

/// The clock's last digits differ between processes, which is all that is asked of them.
fn jitter() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let digits = now.map_or(0, |since| since.subsec_nanos());
    Duration::from_micros(u64::from(digits % JITTER_MICROSECONDS))
}
