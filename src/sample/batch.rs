//! Batches of generated rows.

use crate::sample::copy_value::{ColumnType, CopyValue};
use crate::sample::tables::TABLES;

/// A table that the sample fills.
#[derive(Debug)]
pub(in crate::sample) struct Table {
    /// The name in schema `public`.
    pub(in crate::sample) name: &'static str,
    pub(in crate::sample) columns: &'static [Column],
}

/// A column that the sample fills.
#[derive(Debug)]
pub(in crate::sample) struct Column {
    pub(in crate::sample) name: &'static str,
    pub(in crate::sample) data_type: ColumnType,
}

/// A row of one of [`TABLES`].
pub(in crate::sample) trait Row {
    /// The table's index in [`TABLES`].
    const TABLE: usize;
    const COLUMNS: &'static [Column];

    /// Appends the values of the columns.
    fn append_to(self, values: &mut Vec<CopyValue>);
}

/// Rows of every table.
#[derive(Debug)]
pub(in crate::sample) struct Batch {
    /// The values of the rows of each of [`TABLES`], row after row.
    tables: Vec<Vec<CopyValue>>,
    /// The number of entities (orders, customers …) that the rows describe, for the progress.
    pub(in crate::sample) entities: u64,
}

impl Batch {
    pub(in crate::sample) fn new() -> Self {
        Self { tables: TABLES.iter().map(|_| Vec::new()).collect(), entities: 0 }
    }

    pub(in crate::sample) fn push<R: Row>(&mut self, row: R) {
        row.append_to(&mut self.tables[R::TABLE]);
    }

    /// The tables with rows: index, table and the values of its rows.
    pub(in crate::sample) fn tables(&self) -> impl Iterator<Item = (usize, &'static Table, &[CopyValue])> {
        let filled = TABLES.iter().zip(&self.tables).enumerate().filter(|(_, (_, values))| !values.is_empty());
        filled.map(|(index, (table, values))| (index, table, values.as_slice()))
    }
}
