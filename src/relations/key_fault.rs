//! Why columns do not identify the rows of a table.

use thiserror::Error;

/// Why columns are no key of a table. Its `Display` follows the name of the table.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum KeyFault {
    /// No index guarantees that no two rows have the same values in them.
    #[error("it has no unique index or constraint on ({}) or on some of them", .columns.join(", "))]
    NotUnique {
        /// In the order of the key.
        columns: Vec<String>,
        /// How the table is partitioned, if it is.
        partition_key: Option<String>,
    },
    /// An index of a table does not have the rows of the tables that inherit from it.
    #[error("other tables inherit from it, so its key is not unique")]
    Inherited,
    /// A unique index on these columns compares them in other ways than statements do.
    #[error("its unique index on ({}) compares by another collation or operator class than the columns", .0.join(", "))]
    OtherComparison(Vec<String>),
    /// `UNIQUE` allows any number of rows with a null in these columns.
    #[error("({}) may be null, and a unique index allows any number of nulls", .0.join(", "))]
    Nullable(Vec<String>),
}
