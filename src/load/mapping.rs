//! A row of the file made into a record of a table: columns found, values checked.

use thiserror::Error;

use crate::load::read::{Action, Row};
use crate::load::tables::{Field, Table, Tables};
use crate::load::value::{self, BadValue};

/// A row that is ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The table's place in [`Tables`].
    pub table: usize,
    /// What is to be done with it.
    pub action: Action,
    /// The columns it writes, as places in the table, ascending: the key and what the row names.
    pub columns: Vec<usize>,
    /// A value for each of `columns`, as text that PostgreSQL reads.
    pub values: Vec<Option<String>>,
    /// The primary key as one text: equal for equal keys.
    pub key: Box<str>,
    /// The line of the row.
    pub line: u64,
}

/// Why a row is not loaded.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
pub enum BadRow {
    /// A part of the primary key is not there. OFBiz would take a number from its sequence where the key has one part;
    /// loaded twice, that makes two rows, so the file has to say which row it means.
    #[error("{column} is part of the key and is missing or empty")]
    NoKey {
        /// The key's column.
        column: String,
    },
    /// A value that its column cannot hold.
    #[error("{field}: {reason}")]
    Value {
        /// The field, as it is written in the file.
        field: String,
        /// What is wrong with its value.
        reason: BadValue,
    },
    /// An element where a field's text should be.
    #[error("{field} holds an element; a field holds text only (write `<` as `&lt;` or use CDATA)")]
    Nested {
        /// The field.
        field: String,
    },
    /// PostgreSQL would not have it: a row it refers to is missing, a column must not be null, and the like.
    #[error("{message}")]
    Refused {
        /// PostgreSQL's message and detail.
        message: String,
        /// Its SQLSTATE.
        code: String,
    },
}

/// A record, and the row's fields that its table does not have.
#[derive(Debug)]
pub struct Mapped {
    /// The record.
    pub record: Record,
    /// Names as they are written in the file.
    pub unknown: Vec<String>,
}

/// Finds the columns of `row` in the table at `at` and checks its values. With `keep_stamps`, stamps that the row names
/// are loaded; otherwise they are the loader's to fill.
pub fn record(tables: &Tables, at: usize, row: Row, keep_stamps: bool) -> Result<Mapped, BadRow> {
    let table = tables.get(at);
    let mut unknown = Vec::new();
    let mut cells: Vec<(usize, Option<String>)> = Vec::with_capacity(row.fields.len());
    for (field, text) in row.fields {
        let place = match table.field(&field) {
            Field::Column(place) => place,
            Field::Withheld => continue,
            Field::Unknown => {
                unknown.push(field);
                continue;
            }
        };
        let column = &table.columns[place];
        if column.stamp && !keep_stamps || row.action == Action::Delete && !table.key.contains(&place) {
            continue;
        }
        let value = match text {
            None => None,
            Some(text) => value::canonical(&column.kind, text).map_err(|reason| BadRow::Value { field, reason })?,
        };
        cells.push((place, value));
    }
    if row.action == Action::CreateReplace {
        for (place, column) in table.columns.iter().enumerate() {
            if !column.stamp && !cells.iter().any(|(named, _)| *named == place) {
                cells.push((place, None));
            }
        }
    }
    cells.sort_unstable_by_key(|(place, _)| *place);
    let key = key(table, &cells)?;
    let (columns, values) = cells.into_iter().unzip();
    Ok(Mapped { record: Record { table: at, action: row.action, columns, values, key, line: row.line }, unknown })
}

/// A NUL parts the values: none can hold one.
pub const KEY_SEPARATOR: char = '\0';

fn key(table: &Table, cells: &[(usize, Option<String>)]) -> Result<Box<str>, BadRow> {
    let mut key = String::new();
    for part in &table.key {
        match cells.iter().find(|(place, _)| place == part) {
            Some((_, Some(value))) => {
                key.push_str(value);
                key.push(KEY_SEPARATOR);
            }
            _ => return Err(BadRow::NoKey { column: table.columns[*part].name.clone() }),
        }
    }
    Ok(key.into_boxed_str())
}
