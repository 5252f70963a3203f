//! Backup, restore and integrity checks of the database.
//!
//! A backup is made with `VACUUM INTO`: one read transaction, which in WAL mode neither waits for writers nor stops
//! them, and which reads every row. The backup interface of `SQLite` copies pages, damaged ones too, and begins anew
//! whenever another process commits.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use serde::Serialize;

use super::busy::{self, BUSY_TIMEOUT};
use super::file_names::beside;
use super::instances::LIVE;
use super::open;
use super::place::{self, Hold};
use super::{StoreError, schema};
use crate::{fault, file};

/// Tables that every version has.
const OURS: [&str; 4] = ["instances", "mcp_events", "messages", "tasks"];

/// A database that was copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Copied {
    pub path: PathBuf,
    pub bytes: u64,
    /// Of its schema.
    pub version: i64,
    /// By table.
    pub rows: BTreeMap<String, u64>,
}

/// What a database was replaced with, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Restored {
    #[serde(flatten)]
    pub database: Copied,
    /// Where the one that was there is now.
    pub set_aside: Option<PathBuf>,
    /// Living agents that it knew and this one does not.
    pub unknown_agents: Vec<String>,
}

/// Copies a database while others use it. It is not migrated: a backup can be made before an upgrade.
pub fn back_up(database: &Path, to: &Path, replace: bool) -> Result<Copied, StoreError> {
    if is_part_of(to, database) {
        return Err(StoreError::InUse {
            path: to.to_owned(),
        });
    }
    // `VACUUM` reads for long, and finds out only then.
    if to.is_dir() || (!replace && to.symlink_metadata().is_ok()) {
        return Err(StoreError::Exists {
            path: to.to_owned(),
        });
    }
    if let Some(folder) = to.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        file::make_private_folder(folder)
            .map_err(|source| StoreError::file("make", folder, source))?;
    }
    let source = {
        let _held = place::hold(database, Hold::Shared)?;
        open_present(database)?
    };
    let aside = beside(to, &format!(".{}.partial", std::process::id()));
    let copied = copy(&source, &aside).and_then(|version| describe(&aside, version));
    let published = copied.and_then(|copied| {
        let named = place::publish(&aside, to, replace)?;
        Ok(named.then_some(copied))
    });
    if published.is_err() {
        let _ = std::fs::remove_file(&aside);
    }
    let copied = published?.ok_or_else(|| StoreError::Exists {
        path: to.to_owned(),
    })?;
    Ok(Copied {
        path: to.to_owned(),
        ..copied
    })
}

/// Puts a backup, or a new database, in the place of the one that is there, and keeps that under another name.
///
/// At any moment there is a whole database of that name. Programs that have the old one open notice at their next use.
pub fn restore(database: &Path, from: Option<&Path>) -> Result<Restored, StoreError> {
    if let Some(folder) = database.parent() {
        file::make_private_folder(folder)
            .map_err(|source| StoreError::file("make", folder, source))?;
    }
    if from.is_some_and(|from| is_part_of(from, database)) {
        return Err(StoreError::InUse {
            path: database.to_owned(),
        });
    }
    let _held = place::hold(database, Hold::Alone)?;
    let staged = beside(database, "-restore");
    let described = match from {
        Some(from) => stage(from, &staged),
        None => place::make_aside(&staged).and_then(|()| describe(&staged, schema::CURRENT)),
    };
    let mut described = described.inspect_err(|_| {
        let _ = std::fs::remove_file(&staged);
    })?;
    database.clone_into(&mut described.path);
    let present = quiet(database)?;
    let unknown_agents = match &present {
        Some(present) => unknown(present, &staged)?,
        None => Vec::new(),
    };
    let there = database.symlink_metadata().is_ok() || place::has_log(database);
    let set_aside = if there {
        let stamp = stamp()?;
        Some(place::set_aside(database, &stamp)?)
    } else {
        None
    };
    place::publish(&staged, database, true)?;
    // Until here nobody could commit to it.
    drop(present);
    Ok(Restored {
        database: described,
        set_aside,
        unknown_agents,
    })
}

/// Returns the time now as part of a file's name.
pub fn stamp() -> Result<String, StoreError> {
    let clock = Connection::open_in_memory()?;
    Ok(
        clock.query_row("SELECT strftime('%Y%m%d-%H%M%S', 'now')", [], |row| {
            row.get(0)
        })?,
    )
}

/// Opens a database as it is: nothing is made, and nothing migrated.
fn open_present(path: &Path) -> Result<Connection, StoreError> {
    // SQLite would take an emptied one for new.
    if std::fs::metadata(path).is_ok_and(|found| found.len() == 0) {
        return Err(StoreError::Emptied {
            path: path.to_owned(),
        });
    }
    let mut connection = open::open_to_watch(path)?;
    connection.busy_handler(Some(open::busy_handler_until_timeout()))?;
    Ok(connection)
}

/// Copies into a private file of another name, and checks what is there now; returns the version of its schema.
fn copy(source: &Connection, aside: &Path) -> Result<i64, StoreError> {
    let version = ours(source)?;
    place::clear(aside)?;
    let name = aside.to_str().ok_or_else(|| {
        let source = std::io::Error::other("its name is not UTF-8");
        StoreError::file("write", aside, source)
    })?;
    fault::before("copy of a database")
        .map_err(|source| StoreError::file("write", aside, source))?;
    source.execute("VACUUM INTO ?1", [name])?;
    fault::after("copy of a database");
    let problems = problems(&Connection::open(aside)?, Depth::Whole)?;
    if problems.is_empty() {
        Ok(version)
    } else {
        Err(StoreError::Damaged { problems })
    }
}

/// Copies a backup to where it gets its name from, and takes out what was under way when it was made.
fn stage(from: &Path, staged: &Path) -> Result<Copied, StoreError> {
    let bad = |error: StoreError| match error {
        StoreError::Corrupt { .. }
        | StoreError::CannotOpen { .. }
        | StoreError::Damaged { .. }
        | StoreError::Emptied { .. }
        | StoreError::Foreign => StoreError::BadBackup {
            path: from.to_owned(),
            problem: error.to_string(),
        },
        other => other,
    };
    match std::fs::metadata(from) {
        Ok(found) if !found.is_file() => {
            return Err(StoreError::BadBackup {
                path: from.to_owned(),
                problem: "it is not a file".to_owned(),
            });
        }
        Ok(found) if found.len() == 0 => {
            return Err(bad(StoreError::Emptied {
                path: from.to_owned(),
            }));
        }
        // What else there is to say SQLite says.
        Ok(_) | Err(_) => {}
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let source = Connection::open_with_flags(from, flags).map_err(|error| bad(error.into()))?;
    let version = copy(&source, staged).map_err(bad)?;
    if version > schema::CURRENT {
        return Err(StoreError::TooNew {
            found: version,
            supported: schema::CURRENT,
        });
    }
    // A launch that was under way has ended since, one way or the other: it must not be taken back. What was owed then
    // may have arrived: an attempt on record makes whoever delivers look before it types, and where there is no
    // transcript to look at, nothing can tell.
    let connection = Connection::open(staged)?;
    schema::bring_up_to_date(&connection)?;
    connection.execute_batch(&format!(
        "UPDATE instances SET launch_step = 'ready', owner_pid = NULL, owner_started = NULL WHERE status IN {LIVE};
         UPDATE messages SET attempts = max(attempts, 1) WHERE state = 'owed';
         UPDATE messages SET state = 'unconfirmed' WHERE state IN ('owed', 'typed')
             AND instance_id IN (SELECT id FROM instances WHERE claude_session_id IS NULL);
         UPDATE instances SET status = 'running' WHERE status = 'feedback_received' AND claude_session_id IS NULL;"
    ))?;
    drop(connection);
    describe(staged, schema::CURRENT)
}

/// Returns the version of a database's schema, if it is one of ours.
fn ours(connection: &Connection) -> Result<i64, StoreError> {
    let version = schema::version(connection)?;
    let tables = schema::names(connection, "table")?;
    if version > 0
        && OURS
            .iter()
            .all(|table| tables.iter().any(|name| name == table))
    {
        Ok(version)
    } else {
        Err(StoreError::Foreign)
    }
}

fn describe(path: &Path, version: i64) -> Result<Copied, StoreError> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut rows = BTreeMap::new();
    for table in schema::names(&connection, "table")? {
        let sql = format!("SELECT count(*) FROM \"{table}\"");
        rows.insert(table, connection.query_row(&sql, [], |row| row.get(0))?);
    }
    let found = std::fs::metadata(path).map_err(|source| StoreError::file("read", path, source))?;
    Ok(Copied {
        path: path.to_owned(),
        bytes: found.len(),
        version,
        rows,
    })
}

/// Stops all writers, with everything in the database itself and nothing in its log. None: it can't be used.
fn quiet(database: &Path) -> Result<Option<Connection>, StoreError> {
    let began = Instant::now();
    loop {
        let attempt = open_present(database).and_then(|connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            connection.execute_batch("BEGIN IMMEDIATE")?;
            Ok(connection)
        });
        match attempt {
            Ok(connection) if !place::has_log(database) => return Ok(Some(connection)),
            // Somebody wrote in between, or reads still.
            Ok(_) | Err(StoreError::Busy { .. }) if began.elapsed() < BUSY_TIMEOUT => busy::pause(),
            Ok(_) => {
                return Err(rusqlite::Error::SqliteFailure(
                    rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY),
                    None,
                )
                .into());
            }
            Err(error @ StoreError::Busy { .. }) => return Err(error),
            // Damaged, missing, or not for us: all that is known of it are its files.
            Err(error) => {
                tracing::debug!(%error, "the database is set aside as it is");
                return Ok(None);
            }
        }
    }
}

/// Returns the living agents of one database that another does not know.
fn unknown(present: &Connection, staged: &Path) -> Result<Vec<String>, StoreError> {
    let ids = |connection: &Connection| -> Result<Vec<String>, StoreError> {
        let sql = format!("SELECT id FROM instances WHERE status IN {LIVE} ORDER BY id");
        let mut statement = connection.prepare(&sql)?;
        let ids = statement.query_map([], |row| row.get(0))?;
        Ok(ids.collect::<Result<_, _>>()?)
    };
    // What can't be read can't be told; it is kept.
    let Ok(mut living) = ids(present) else {
        return Ok(Vec::new());
    };
    let staged = Connection::open_with_flags(staged, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut statement = staged.prepare("SELECT count(*) FROM instances WHERE id = ?1")?;
    let mut failed = None;
    living.retain(
        |id| match statement.query_row([id], |row| row.get::<_, i64>(0)) {
            Ok(known) => known == 0,
            Err(error) => {
                failed = Some(error);
                true
            }
        },
    );
    failed.map_or(Ok(living), |error| Err(error.into()))
}

/// Tells whether a path is the database, or one of its companions.
fn is_part_of(path: &Path, database: &Path) -> bool {
    let id = |path: &Path| {
        let found = std::fs::metadata(path).ok()?;
        Some((found.dev(), found.ino()))
    };
    ["", "-wal", "-shm", "-lock", "-new", "-restore"]
        .iter()
        .any(|suffix| {
            let part = beside(database, suffix);
            part == path || (id(&part).is_some() && id(&part) == id(path))
        })
}

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The pages, without comparing indexes with tables.
    Pages,
    /// Indexes and references as well.
    Whole,
}

/// Looks for damage; an empty answer means that there is none.
pub(super) fn problems(connection: &Connection, depth: Depth) -> Result<Vec<String>, StoreError> {
    let lines = |sql: &str| -> Result<Vec<String>, StoreError> {
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
        let lines = rows.collect::<Result<Vec<_>, _>>();
        match lines {
            Ok(lines) => Ok(lines.into_iter().filter(|line| line != "ok").collect()),
            // What is too damaged to be checked is damaged.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
                Ok(vec![error.to_string()])
            }
            Err(error) => Err(error.into()),
        }
    };
    match depth {
        Depth::Pages => lines("PRAGMA quick_check(5)"),
        Depth::Whole => {
            let mut found = lines("PRAGMA integrity_check(5)")?;
            found.extend(lines(
                "SELECT printf('row %s of %s refers to a row of %s that is not there', rowid, \"table\", parent)
                 FROM pragma_foreign_key_check LIMIT 5",
            )?);
            Ok(found)
        }
    }
}
