//! Row decoding: columns into our types. What a CHECK allows always parses; anything else is corruption.

use std::cell::Cell;
use std::error::Error;
use std::str::FromStr;

use rusqlite::Row;
use rusqlite::types::{FromSql, Type};

use super::StoreError;

/// A row whose columns are read by name, about in their order.
///
/// A row finds a name by comparing all names before it, which for the thirty columns of an instance takes longer than to read
/// them. Here the search begins behind the column that was read last.
pub(super) struct InOrder<'row, 'statement> {
    row: &'row Row<'statement>,
    next: Cell<usize>,
}

impl<'row, 'statement> InOrder<'row, 'statement> {
    pub(super) fn of(row: &'row Row<'statement>) -> Self {
        let next = Cell::new(0);
        Self { row, next }
    }

    pub(super) fn get<T: FromSql>(&self, column: &str) -> rusqlite::Result<T> {
        let statement = self.row.as_ref();
        let (count, next) = (statement.column_count(), self.next.get());
        for at in (next..count).chain(0..next) {
            if statement.column_name(at)? == column {
                self.next.set(at + 1);
                return self.row.get(at);
            }
        }
        Err(rusqlite::Error::InvalidColumnName(column.to_owned()))
    }

    pub(super) fn parsed<T>(&self, column: &str) -> rusqlite::Result<T>
    where
        T: FromStr<Err: Error + Send + Sync + 'static>,
    {
        let text: String = self.get(column)?;
        text.parse().map_err(|error| conversion(column, error))
    }

    pub(super) fn parsed_option<T>(&self, column: &str) -> rusqlite::Result<Option<T>>
    where
        T: FromStr<Err: Error + Send + Sync + 'static>,
    {
        let text: Option<String> = self.get(column)?;
        text.map(|text| text.parse().map_err(|error| conversion(column, error)))
            .transpose()
    }

    pub(super) fn json_option<T: serde::de::DeserializeOwned>(
        &self,
        column: &str,
    ) -> rusqlite::Result<Option<T>> {
        let text: Option<String> = self.get(column)?;
        text.map(|text| serde_json::from_str(&text).map_err(|error| conversion(column, error)))
            .transpose()
    }
}

/// Reads a text column as one of our types.
pub(super) fn parsed<T>(row: &Row<'_>, column: &str) -> rusqlite::Result<T>
where
    T: FromStr<Err: Error + Send + Sync + 'static>,
{
    InOrder::of(row).parsed(column)
}

/// Reads a text column that may be NULL.
pub(super) fn parsed_option<T>(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<T>>
where
    T: FromStr<Err: Error + Send + Sync + 'static>,
{
    InOrder::of(row).parsed_option(column)
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
