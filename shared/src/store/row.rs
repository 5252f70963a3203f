//! Reading columns into our types. What the CHECKs allow always parses; anything else is corruption.

use std::error::Error;
use std::str::FromStr;

use rusqlite::Row;
use rusqlite::types::Type;

use super::StoreError;

/// Reads a text column as one of our types.
pub(super) fn parsed<T>(row: &Row<'_>, column: &str) -> rusqlite::Result<T>
where
    T: FromStr<Err: Error + Send + Sync + 'static>,
{
    let text: String = row.get(column)?;
    text.parse().map_err(|error| conversion(column, error))
}

/// Reads a text column that may be NULL.
pub(super) fn parsed_option<T>(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<T>>
where
    T: FromStr<Err: Error + Send + Sync + 'static>,
{
    let text: Option<String> = row.get(column)?;
    text.map(|text| text.parse().map_err(|error| conversion(column, error)))
        .transpose()
}

/// Reads a JSON column.
pub(super) fn json<T: serde::de::DeserializeOwned>(
    row: &Row<'_>,
    column: &str,
) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| conversion(column, error))
}

fn conversion(column: &str, error: impl Error + Send + Sync + 'static) -> rusqlite::Error {
    let explained = format!("column {column}: {error}");
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, explained.into())
}

/// Checks that a compare and set of one row found the status that it was decided on.
pub(super) fn one_moved(
    rows: usize,
    id: &str,
    expected: impl std::fmt::Display,
) -> Result<(), StoreError> {
    if rows == 1 {
        return Ok(());
    }
    Err(StoreError::StatusChanged {
        id: id.to_owned(),
        expected: expected.to_string(),
    })
}
