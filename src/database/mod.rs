//! PostgreSQL: the pool, prepared statements, snapshots, cancellation, migrations and the private cluster.

pub mod pool;
pub mod snapshot;
pub mod parameter;
pub mod cancel;
pub mod connect;
pub mod migrate;
mod standing;
pub mod cluster;
mod programs;
mod server;
