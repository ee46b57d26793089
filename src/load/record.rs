//! Rows mapped to their table, and batches of them for one statement.

use crate::load::row::RowAction;

/// Separates the parts of a [`CheckedRow::key`]. No value contains a NUL.
pub(super) const KEY_SEPARATOR: char = '\0';

/// A row with known columns and checked values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CheckedRow {
    /// The table's index in [`TargetTables`](crate::load::tables::TargetTables).
    pub(super) table: usize,
    /// The action for the row.
    pub(super) action: RowAction,
    /// The written columns as indexes into the table's columns, ascending: the key and the row's fields.
    pub(super) columns: Vec<usize>,
    /// A value for each of `columns`, in PostgreSQL's text format.
    pub(super) values: Vec<Option<String>>,
    /// The primary key as one text. Equal keys have equal texts.
    pub(super) key: Box<str>,
    /// The row's line.
    pub(super) line: u64,
}

/// The key of the records that one statement writes. It determines the statement's SQL.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct StatementKey {
    /// The table's index.
    pub(super) table: usize,
    /// The statement's action.
    pub(super) action: RowAction,
    /// The written columns.
    pub(super) columns: Vec<usize>,
}

/// Records for one statement.
#[derive(Debug)]
pub(super) struct RecordBatch {
    pub(super) statement: StatementKey,
    /// The line and the values of each record.
    pub(super) records: Vec<(u64, Vec<Option<String>>)>,
}
