//! PostgreSQL: connection pools, prepared statements, snapshots, cancellation, migrations and the private cluster.

pub mod error;
pub mod options;

mod cancel;
pub mod connect;
pub mod connection_string;
pub mod database_address;
mod libpq_files;
pub(crate) mod metrics;
pub mod parameter;
pub mod pool;
pub(crate) mod pooler;
pub mod portals;
pub(crate) mod pool_status;
pub(crate) mod role;
mod round_trip;
pub mod server_addresses;
pub mod session;
mod session_check;
pub mod snapshot;
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
