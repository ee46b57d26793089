//! The compared schemas, and the caller for whom they are compared.

use crate::catalog::Catalog;
use crate::limits::Limits;
use crate::schema_diff::fact_reader::facts;
use crate::schema_diff::facts::Facts;
use crate::schema_file::SchemaFile;

/// A schema file with its catalog and what it says.
#[derive(Debug)]
pub(crate) struct Schema {
    pub(super) catalog: Catalog,
    pub(super) facts: Facts,
}

impl Schema {
    /// A schema file and the catalog of the whole.
    pub(crate) fn new(file: &SchemaFile, catalog: Catalog) -> Self {
        Self { facts: facts(file, &catalog), catalog }
    }
}

/// Who sends the operations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DiffCaller {
    /// The limits of the caller's queries.
    pub(crate) limits: Limits,
    /// Credits that their bucket regains every second.
    pub(crate) restore_rate: u64,
}
