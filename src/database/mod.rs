//! PostgreSQL: addresses, connections and their pools, transactions.

pub(crate) mod error;

pub(crate) mod address;
pub mod connection;
pub(crate) mod collation_versions;
pub(crate) mod column_format;
pub(crate) mod metrics;
pub mod parameter;
pub mod pool;
pub(crate) mod transaction;
pub(crate) mod wal_position;

pub(crate) mod snapshot_position;
pub(crate) mod vacuum;
