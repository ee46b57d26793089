//! The definition of a table of the sample: columns, and rows with their values.

use crate::sample::copy_value::{CopyType, CopyValue};

/// A table that the sample fills.
#[derive(Debug)]
pub(in crate::sample) struct SampleTable {
    /// The name in schema `public`.
    pub(in crate::sample) name: &'static str,
    pub(in crate::sample) columns: &'static [SampleColumn],
}

/// A column that the sample fills.
#[derive(Debug)]
pub(in crate::sample) struct SampleColumn {
    pub(in crate::sample) name: &'static str,
    pub(in crate::sample) data_type: CopyType,
}

/// A row of one of the sample's tables.
pub(in crate::sample) trait SampleRow {
    /// The table's index in `TABLES`.
    const TABLE: usize;
    const COLUMNS: &'static [SampleColumn];

    /// Appends the values of the columns.
    fn append_to(self, values: &mut Vec<CopyValue>);
}
