//! PostgreSQL: addresses, connections and their pools, transactions and migrations.

pub mod error;

pub mod address;
pub mod connection;
pub(crate) mod column_format;
pub(crate) mod metrics;
pub mod parameter;
pub mod pool;
pub mod transaction;
pub mod wal_position;

mod index_build;
pub(crate) mod indexes;
pub mod migrate;
pub mod migration_report;
pub(crate) mod kept_tables;
pub mod partitions;
pub(crate) mod removal;
pub(crate) mod snapshot_position;
mod schema_objects;
pub(crate) mod vacuum;
