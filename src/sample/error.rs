//! The errors of writing a sample.

use thiserror::Error;

/// Why no sample was written.
#[derive(Debug, Error)]
pub enum SampleError {
    /// The database lacks orderql's own tables.
    #[error(
        "the database lacks the tables of orders: `orderql migrate` adds them (without `--only service`, and without a schema \
         file of other tables)"
    )]
    NotMigrated,
    /// The database contains a sample already.
    #[error(
        "the database has a sample already, and nothing was added: two of them would have the same ids; for another, make \
         another database (`createdb`, `orderql migrate`, `orderql sample`)"
    )]
    Clash,
    /// A column does not exist or has another type than the sample writes.
    #[error("{table}.{column} is {found} in this database, and a sample writes {expected}: nothing was added")]
    Column {
        /// A table that the sample fills.
        table: &'static str,
        /// A column that the sample writes.
        column: &'static str,
        /// The column's type, or `missing`.
        found: String,
        /// The expected type.
        expected: &'static str,
    },
    /// The generating thread panicked.
    #[error("making up the rows was broken off, and nothing was added")]
    BrokenOff,
    /// The database failed.
    #[error("the database failed, and nothing was added")]
    Database(#[from] tokio_postgres::Error),
}
