//! PostgreSQL: connection pools, prepared statements, cancellation, migrations and the private cluster.

pub mod error;
pub mod options;

mod cancel;
pub(crate) mod column_format;
pub mod connect;
pub mod connection_string;
pub mod database_address;
mod libpq_files;
pub(crate) mod metrics;
pub mod parameter;
pub mod pool;
pub(crate) mod pooler;
pub(crate) mod pool_status;
pub mod own_connection;
pub mod read_connection;
pub(crate) mod role;
pub(crate) mod rows;
pub mod server_addresses;
pub mod session;
mod session_check;
pub mod shared_connections;
mod statement_texts;
mod target_session;
mod tls;
pub mod transaction;
pub mod wal_position;
pub mod writer_pool;

pub mod migrate;
pub mod migration_report;
pub(crate) mod parties;
mod schema_objects;

pub mod address;
pub mod cluster;
mod postmaster;
mod programs;
mod server;
mod server_user;
