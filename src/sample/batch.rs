//! Batches of generated rows.

use crate::sample::copy_value::CopyValue;
use crate::sample::table_definition::{SampleRow, SampleTable};
use crate::sample::tables::TABLES;

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

    pub(in crate::sample) fn push<R: SampleRow>(&mut self, row: R) {
        row.append_to(&mut self.tables[R::TABLE]);
    }

    /// The tables with rows: index, table and the values of its rows.
    pub(in crate::sample) fn tables(&self) -> impl Iterator<Item = (usize, &'static SampleTable, &[CopyValue])> {
        let filled = TABLES.iter().zip(&self.tables).enumerate().filter(|(_, (_, values))| !values.is_empty());
        filled.map(|(index, (table, values))| (index, table, values.as_slice()))
    }
}
