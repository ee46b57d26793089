//! PostgreSQL: the pool, prepared statements, snapshots, cancellation, migrations and the private cluster.

pub mod cancel;
pub mod cluster;
pub mod connect;
pub mod migrate;
pub mod parameter;
pub mod pool;
mod programs;
mod server;
pub mod snapshot;
pub mod writer;
mod schema_objects;
