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
    /// A table lacks a column, has a column of a type that does not take a value, or cannot be written.
    #[error("the database failed at {place}, and nothing was added")]
    Rejected {
        /// The table, or what PostgreSQL says of the column and the value.
        place: String,
        /// PostgreSQL's error.
        source: tokio_postgres::Error,
    },
    /// The generating thread panicked.
    #[error("making up the rows was broken off, and nothing was added")]
    BrokenOff,
    /// The database failed.
    #[error("the database failed, and nothing was added")]
    Database(#[from] tokio_postgres::Error),
}
